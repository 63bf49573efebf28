"""Lines of a text file, plain or gzip, with errors that name the line; and lines of JSON."""

import gzip
import json
import math
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from helpers.errors import BadInput
from helpers.steps import digests, recipe

SIGNS = ("\\s\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800"
         "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff")  # blanks, control characters, what has no width
UNSEEN, SEEN = re.compile(f"[{SIGNS}]"), re.compile(f"[^{SIGNS}]")
LONGEST_ID = 32_766  # bytes, Lucene's limit
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
PACKED = {  # by the ending of the name: the first bytes, what it is, what to do
    ".gz": (b"\x1f\x8b", "packed by gzip", "let its name end in .gz"),
    ".bz2": (b"BZh", "packed by bzip2", "unpack it with `bunzip2`"),
    ".xz": (b"\xfd7zXZ", "packed by xz", "unpack it with `unxz`"),
    ".zst": (b"\x28\xb5\x2f\xfd", "packed by zstd", "unpack it with `unzstd`"),
    ".lz4": (b"\x04\x22\x4d\x18", "packed by lz4", "unpack it with `unlz4`"),
    ".z": (b"\x1f\x9d", "packed by compress", "unpack it with `uncompress`"),
    ".zip": (b"PK\x03\x04", "a zip archive", "unpack it with `unzip`"),
    ".7z": (b"7z\xbc\xaf", "a 7z archive", "unpack it with `7z x`"),
    ".parquet": (b"PAR1", "a Parquet file", "write it as text")}
CODES = [(mark, code, f"convert it: `iconv -f {code.lower()} -t utf-8`") for mark, code in (
    (b"\xff\xfe\0\0", "UTF-32"), (b"\0\0\xfe\xff", "UTF-32"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))]
UNMARKED = {(1, 3): "utf-16le", (0, 2): "utf-16be", (1, 2, 3): "utf-32le", (0, 1, 2): "utf-32be"}  # places of zeros in ASCII's
DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error)  # what unpacking raises


def text_lines(file: Path) -> Iterator[tuple[int, str]]:
    """Stream (1-based number, line) of a UTF-8 file, a byte-order mark removed.

    Raises:
        BadInput: for a missing file, bytes that are not UTF-8, a file of another kind, or a damaged gzip file.
    """
    if not file.is_file():  # a pipe would wait for ever
        raise BadInput("no such file" if not file.exists() else "no plain file", file=file, mend="check the path")
    number = 0
    try:
        with open_bytes(file) as stream:
            for number, raw in enumerate(stream, start=1):
                if number == 1:
                    check_kind(file, raw)
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        if re.match(b"\xed[\xa0-\xbf]", error.object[error.start:]):
            raise BadInput(f"byte {error.start + 1} of the line begins half of a surrogate pair", file=file, line=number,
                           mend="write the character itself, in UTF-8") from None
        raise BadInput(f"byte {error.start + 1} of the line is not UTF-8", file=file, line=number,
                       mend="convert the file, e.g. `iconv -f latin1 -t utf-8`") from None
    except DAMAGE as error:
        raise damaged(file, error, number + 1) from None


def check_kind(file: Path, start: bytes) -> None:
    """BadInput for a file whose first line is that of an archive, of UTF-16 or UTF-32, or of one without line feeds."""
    for sign, what, mend in (*PACKED.values(), *CODES):
        if start.startswith(sign):
            twice = file.suffix == ".gz" and mend.endswith(".gz")
            raise BadInput(f"the file is {what}{' twice' if twice else ''}", file=file, mend="unpack it once" if twice else mend)
    if start[257:262] == b"ustar":
        raise BadInput("the file is a tar archive", file=file, mend="unpack it with `tar -xf`")
    if code := UNMARKED.get(tuple(place for place, byte in enumerate(start[:4]) if not byte)):
        raise BadInput(f"the file is {code[:6].upper()} without its mark", file=file,
                       mend=f"convert it: `iconv -f {code} -t utf-8`")
    if not start.endswith(b"\n") and b"\r" in start.rstrip(b"\r"):
        raise BadInput("its lines end in carriage returns alone", file=file, mend="convert it: `tr '\\r' '\\n'`")


def check_plain(file: Path) -> None:
    """BadInput for a file whose name says that it is packed in a way that is not read."""
    if file.suffix != ".gz" and (kind := PACKED.get(file.suffix.lower())):
        raise BadInput(f"the file is {kind[1]}", file=file, mend=kind[2])


def is_blank(text: str) -> bool:
    """Whether there is nothing to see in a text: blanks, control characters and signs without width alone."""
    return not SEEN.search(text)


def check_ids(file: Path, line: int, *ids: str) -> None:
    """BadInput for an id that is another one in a run or among judgments, or looks like another one."""
    for one in filter(UNSEEN.search, ids):
        raise BadInput(f"the id {one!r} holds a blank or a control character, or an invisible one", file=file, line=line,
                       mend="take it out, wherever the id stands")
    if long := [one for one in ids if len(one) * 4 > LONGEST_ID and len(one.encode()) > LONGEST_ID]:
        raise BadInput(f"the id {long[0][:20]!r} … is longer than {LONGEST_ID:,} bytes", file=file, line=line,
                       mend="shorten it")


def number(text: str) -> float:
    """The number that a text is, in ASCII digits, as every tool reads it; NaN where it is none."""
    return float(text) if NUMBER.fullmatch(text) else math.nan


def damaged(file: Path, error: BaseException, line: int | None = None) -> BadInput:
    """What one of `DAMAGE` means for the reader."""
    return BadInput(f"the gzip file is damaged ({error})", file=file, line=line, mend="fetch it again")


def content_digest(file: Path, unit: str) -> str:
    """SHA-256 of a file's content, unpacked, so that packing it changes nothing, and of a unit's name."""
    try:
        return recipe.sha256(digests.sha256(file, open_bytes) + unit)
    except DAMAGE as error:
        raise damaged(file, error) from None


def json_lines(file: Path) -> Iterator[Any]:
    """Stream the values of a file with one in JSON a line."""
    with open_bytes(file) as stream:
        yield from map(json.loads, stream)


def open_bytes(file: Path) -> Any:
    """The file's bytes, unpacked if its name ends in .gz."""
    return gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb")
