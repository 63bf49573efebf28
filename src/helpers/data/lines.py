"""Lines of a text file, plain or gzip, with errors that name the line: as they are, of JSON, in columns, of judgments."""

import gzip
import json
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.errors import BadInput

SIGNS = ("\\s\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800"
         "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff")  # blanks, control characters, what has no width
UNSEEN, SEEN = re.compile(f"[{SIGNS}]"), re.compile(f"[^{SIGNS}]")
LONGEST_ID = 32_766  # bytes, Lucene's limit
LARGEST_GRADE = 1_000_000
HEADS = {"id", "_id", "pid", "qid", "did", "doc", "docid", "doc_id", "docno", "document_id", "corpus_id", "passage_id", "query",
         "query_id", "queryid", "topic", "topic_id"}  # in a first line these name a column
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
    """Stream (1-based number, line) of a UTF-8 file, plain or gzip, a byte-order mark removed; BadInput for a missing file, bytes
    that are not UTF-8, a file of another kind, or a damaged gzip file."""
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


def json_lines(file: Path) -> Iterator[Any]:
    """Stream the values of a file with one in JSON a line."""
    with open_bytes(file) as stream:
        yield from map(json.loads, stream)


def open_bytes(file: Path) -> Any:
    """The file's bytes, unpacked if its name ends in .gz."""
    return gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb")


def read_tsv(file: Path, columns: int) -> Iterator[tuple[int, list[str]]]:
    """Stream (line number, columns) of a tab-separated file; quotes mean nothing in it. BadInput for what `text_lines` refuses, a
    wrong number of columns, a header, or an id that is empty or holds a blank."""
    for number, line in text_lines(file):
        parts = line.rstrip("\r\n").split("\t")
        if parts == [""]:
            raise BadInput("the line is empty", file=file, line=number, mend="remove it")
        if len(parts) != columns:
            raise BadInput(f"{len(parts)} columns where {columns} are wanted", file=file, line=number,
                           mend="separate the columns by one tab each, and keep tabs out of the texts")
        if not parts[0].strip():
            raise BadInput("the id is empty", file=file, line=number, mend="give the line an id")
        check_ids(file, number, parts[0])
        _check_no_header(file, number, parts[0])
        yield number, parts


def query_frame(file: Path, rows: Iterable[tuple[int, Sequence[str]]]) -> pd.DataFrame:
    """Columns query_id, text of a file's rows by line number; BadInput for a query that stands twice or has no text."""
    seen: dict[str, str] = {}
    for number, (query_id, text) in rows:
        if query_id in seen:
            raise BadInput(f"query {query_id!r} stands twice", file=file, line=number, mend="keep one of them")
        if is_blank(text):
            raise BadInput(f"query {query_id!r} has no text", file=file, line=number, mend="give it a text or remove the line")
        seen[query_id] = text
    return pd.DataFrame(list(seen.items()), columns=["query_id", "text"])


def read_qrels(file: Path, beir: bool = False) -> Iterator[tuple[str, str, int]]:
    """Stream (query_id, doc_id, relevance) of a judgment file in TREC form or in two columns (each of grade 1), or in
    BEIR's form, three columns below their names."""
    seen: set[tuple[str, str]] = set()
    columns = 0
    for number, line in text_lines(file):
        parts = line.split()
        if not parts:
            raise BadInput("the line is empty", file=file, line=number, mend="remove it")
        if beir and number == 1 and len(parts) == 3 and is_head(parts[0]):
            continue
        _check_no_header(file, number, parts[0])
        columns = columns or len(parts)
        if len(parts) != columns:
            raise BadInput(f"{len(parts)} columns where the first line has {columns}", file=file, line=number,
                           mend="write all lines alike; the format has no comments")
        if columns not in ((3,) if beir else (2, 4)):
            raise BadInput(f"{len(parts)} columns where judgments have {'3 (BEIR)' if beir else '4 (TREC) or 2'}", file=file,
                           line=number, mend="write `query_id doc_id grade`" if beir else
                           "write `query_id 0 doc_id grade` or `query_id doc_id`")
        query_id, (doc_id, grade) = parts[0], (parts[1], "1") if len(parts) == 2 else parts[-2:]
        if not re.fullmatch(r"-?\d+", grade, re.ASCII):
            raise BadInput(f"grade {grade!r} is not a whole number", file=file, line=number,
                           mend="put the grade into the last column")
        if abs(int(grade)) > LARGEST_GRADE:
            raise BadInput(f"grade {grade} is beyond {LARGEST_GRADE:,}", file=file, line=number,
                           mend="judge in small whole numbers: trec_eval keeps a counter for every grade below the largest")
        check_ids(file, number, query_id, doc_id)
        if (query_id, doc_id) in seen:
            raise BadInput(f"{doc_id!r} is judged twice for query {query_id!r}", file=file, line=number,
                           mend="keep one judgment for each query and id")
        seen.add((query_id, doc_id))
        yield query_id, doc_id, int(grade)


def is_head(first: str) -> bool:
    """Whether the first column of a first line is the name of a column."""
    return first.strip("#\"'").lower().replace("-", "_") in HEADS


def _check_no_header(file: Path, number: int, first: str) -> None:
    if number == 1 and is_head(first):
        raise BadInput("the first line names the columns", file=file, line=1, mend="remove it: the format has no header")
