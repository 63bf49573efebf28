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

UNSEEN = re.compile("[\\s\x00-\x1f\x7f-\x9f\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
KINDS = {b"\x1f\x8b": ("packed by gzip", "let its name end in .gz"), b"BZh": ("packed by bzip2", "unpack it with `bunzip2`"),
         b"\xfd7zXZ": ("packed by xz", "unpack it with `unxz`"), b"PK\x03\x04": ("a zip archive", "unpack it with `unzip`"),
         b"\x28\xb5\x2f\xfd": ("packed by zstd", "unpack it with `unzstd`"),
         **dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), ("UTF-16", "convert it: `iconv -f utf-16 -t utf-8`"))}
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
        raise BadInput(f"byte {error.start + 1} of the line is not UTF-8", file=file, line=number,
                       mend="convert the file, e.g. `iconv -f latin1 -t utf-8`") from None
    except DAMAGE as error:
        raise damaged(file, error, number + 1) from None


def check_kind(file: Path, start: bytes) -> None:
    """BadInput for a file whose first bytes are those of an archive or of UTF-16."""
    for sign, (what, mend) in KINDS.items():
        if start.startswith(sign):
            raise BadInput(f"the file is {what}", file=file, mend=mend)
    if b"\0" in start[:2]:
        raise BadInput("the file is UTF-16 without its mark", file=file,
                       mend=f"convert it: `iconv -f utf-16{'be' if start[:1] == bytes(1) else 'le'} -t utf-8`")


def is_blank(text: str) -> bool:
    """Whether there is nothing to see in a text: blanks, control characters and signs without width alone."""
    return not UNSEEN.sub("", text)


def check_ids(file: Path, line: int, *ids: str) -> None:
    """BadInput for an id that is another one in a run or among judgments, or looks like another one."""
    for one in filter(UNSEEN.search, ids):
        raise BadInput(f"the id {one!r} holds a blank or a control character, or one that nobody sees", file=file, line=line,
                       mend="take it out, wherever the id stands")


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
