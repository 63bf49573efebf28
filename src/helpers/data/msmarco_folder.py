"""A folder in MS MARCO's TSV format, as a collection.

| file (plain or .gz) | columns |
|---|---|
| `collection.tsv` | pid, text (passage ranking) |
| `docs.tsv`, `msmarco-docs.tsv` | docid, url, title, body (document ranking) |
| `queries.tsv`, `queries.<split>.tsv`, `msmarco-doc<split>-queries.tsv`, `msmarco-<split>-queries.tsv` | qid, text |
| `qrels.txt`, `.tsv`, `qrels.<split>.tsv`, `msmarco-doc<split>-qrels.tsv`, `2019qrels-pass.txt` | qid, 0, id, grade; or qid, id |

Files without a split in their name are the split `test`, and so are the queries and judgments of TREC's only year in a folder;
`dev.small` is `dev`, unless that has judgments of its own. Other files of MS MARCO may lie beside them. With both units in one
folder, `qrels.passages...` and `qrels.documents...` tell the judgments apart.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pandas as pd

from helpers.data.collection_base import Text
from helpers.data.elsewhere import Folder
from helpers.data.lines import check_ids, check_plain, content_digest, is_blank, text_lines
from helpers.errors import BadInput

Role = TypeVar("Role", bound=Hashable)
HEADS = {"id", "_id", "pid", "qid", "did", "doc", "docid", "doc_id", "docno", "document_id", "corpus_id", "passage_id", "query",
         "query_id", "queryid", "topic", "topic_id"}  # in a first line these name a column
LARGEST_GRADE = 1_000_000
TEXTS = {"passage": ("collection.tsv",), "document": ("docs.tsv", "msmarco-docs.tsv")}
QUERIES = re.compile(r"(?:queries(?:\.(?P<a>[\w.]+?))?|msmarco-(?:doc)?(?P<b>\w+)-queries)\.tsv(?:\.gz)?")
QRELS = re.compile(r"(?:qrels(?:\.(?P<unit>passages|documents))?(?:\.(?P<a>[\w.]+?))?|msmarco-(?:doc)?(?P<b>\w+)-qrels"
                   r"|(?P<year>20\d\d)qrels-(?P<kind>pass|docs))\.(?:tsv|txt)(?:\.gz)?")
TREC = re.compile(r"test20\d\d")  # the split of a year's queries
UNITS = {"passages": "passage", "documents": "document", "pass": "passage", "docs": "document"}


class MsMarcoFolder(Folder):
    """Passages, documents or both from a folder.

    Raises:
        BadInput: for a folder without texts, and, on reading, for any line out of form.
    """

    judged_by = "queries.tsv (qid, text) and qrels.tsv"

    def __init__(self, folder: str | Path):
        self.folder = Path(folder).expanduser().resolve()
        self.spec, self.name = str(folder), self.folder.name
        self.warnings: Counter[str] = Counter()  # what the studies' data really has, counted instead of refused
        files = sorted(f.name for f in self.folder.iterdir())
        self._texts = self._by_role((unit, name) for unit, names in TEXTS.items()
                                    for name in files if name.removesuffix(".gz") in names)
        self._queries = self._by_role((_split(m), m[0]) for m in map(QUERIES.fullmatch, files) if m)
        self._qrels = self._by_role(((UNITS.get(m["unit"] or m["kind"], ""), _split(m)), m[0])
                                    for m in map(QRELS.fullmatch, files) if m)
        self._name_as_elsewhere()
        for there, named in ((self._texts, lambda stem: stem in sum(TEXTS.values(), ())), (self._queries, QUERIES.fullmatch),
                             (self._qrels, QRELS.fullmatch)):
            for name in () if there else (name for name in files if named(Path(name).stem)):
                check_plain(self.folder / name)
        if not self._texts:
            raise BadInput("no texts in this folder", file=self.folder,
                           mend="add collection.tsv (pid, text) or docs.tsv (docid, url, title, body), plain or .gz")
        self.units, self.splits = tuple(sorted(self._texts)), tuple(self._queries)

    def _name_as_elsewhere(self) -> None:
        """Let the splits that chapters ask for, `dev` and `test`, be the official ones."""
        years = [split for split in self._queries if TREC.fullmatch(split)]
        known = {split for _, split in self._qrels} | ({"test"} & set(self._queries))
        for short, official in {"dev": "dev.small", "test": years[0] if len(years) == 1 else ""}.items():
            if official in self._queries and short not in known:
                self._queries[short] = self._queries.pop(official)
                self._qrels = {(unit, short if split == official else split): file for (unit, split), file in self._qrels.items()}

    def _by_role(self, named: Iterable[tuple[Role, str]]) -> dict[Role, Path]:
        """The file of each role; BadInput for two of one role, and for what is no plain file."""
        files: dict[Role, Path] = {}
        for role, name in named:
            if role in files:
                raise BadInput(f"{files[role].name} and {name} are two files for one thing", file=self.folder,
                               mend="keep one of them")
            files[role] = self.folder / name
            if not files[role].is_file():
                raise BadInput("no plain file", file=files[role],
                               mend="put a file there, not a folder, a pipe or a link to nothing")
        return files

    @classmethod
    def opens(cls, spec: str) -> bool:
        """Any folder that no other format knows: one without texts is told what is missing."""
        return bool(spec) and Path(spec).expanduser().is_dir()

    def texts(self, unit: str) -> Iterator[Text]:
        """Stream the texts. Repeated ids are found when the text store is built, which knows them all."""
        file, columns = self._texts[unit], 2 if unit == "passage" else 4
        self.warnings["documents without a body"] = 0
        for number, parts in read_tsv(file, columns):
            title, body = ("", parts[1]) if unit == "passage" else (parts[2], parts[3])
            if is_blank(body):
                if unit == "passage":
                    raise BadInput(f"passage {parts[0]!r} has no text", file=file, line=number,
                                   mend="give it a text or remove the line")
                self.warnings["documents without a body"] += 1  # MS MARCO's documents really have some
            yield Text(parts[0], title, body)

    def queries(self, split: str) -> pd.DataFrame:
        """Columns query_id, text."""
        return query_frame(self._queries[split], read_tsv(self._queries[split], 2))

    def qrels(self, unit: str, split: str) -> pd.DataFrame:
        """Judgments of the split's queries; those of other queries are counted in `warnings`."""
        rows = list(read_qrels(self._judgments(unit, split)))
        frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])
        mine = frame["query_id"].isin(set(self.queries(split)["query_id"]))
        if not mine.any():
            raise BadInput(f"no judgment is of a query of the split {split!r}", file=self._judgments(unit, split),
                           mend="check that queries and judgments belong together")
        self.warnings["judgments of queries outside the split"] = int((~mine).sum())
        return frame[mine].reset_index(drop=True)

    def is_judged(self, unit: str, split: str) -> bool:
        """Whether there is a file of judgments: for a leaderboard's queries there is none."""
        return bool(self._qrels.keys() & {(unit, split), ("", split)})

    def rule(self, unit: str, split: str) -> int:
        """2 for the passages of TREC's Deep Learning track, by the official name of their judgments (Craswell et al. 2020)."""
        official = QRELS.fullmatch(self._judgments(unit, split).name)
        return 2 if official and official["kind"] == "pass" else super().rule(unit, split)

    def _judgments(self, unit: str, split: str) -> Path:
        if not self.is_judged(unit, split):
            judged = [own for own in self.splits if self.is_judged(unit, own)]
            raise BadInput(f"no judgments for the split {split!r}", file=self.folder,
                           mend=f"add qrels.{split}.tsv (TREC form, or query and id)" + (
                               f", or choose from {', '.join(judged)}" if judged else ""))
        return self._qrels.get((unit, split)) or self._qrels["", split]

    def text_digest(self, unit: str) -> str:
        """SHA-256 of the file's content, unpacked, so that packing it changes nothing."""
        return content_digest(self._texts[unit], unit)

    def sources(self, kind: str, *names: str) -> list[Path]:
        """The file, that of the queries with the judgments."""
        if kind == "texts":
            return [self._texts[names[0]]]
        judgments = [self._judgments(*names)] if kind == "qrels" else []
        return [*judgments, self._queries[names[-1]]]


def has_texts(folder: Path) -> bool:
    """Whether a folder holds texts in this format."""
    return any(f.name.removesuffix(".gz") in names for f in folder.iterdir() for names in TEXTS.values())


def read_tsv(file: Path, columns: int) -> Iterator[tuple[int, list[str]]]:
    """Stream (line number, columns) of a tab-separated file, plain or gzip; quotes mean nothing in it.

    Raises:
        BadInput: for a missing file, bytes that are not UTF-8, a wrong number of columns, a header, or an id that is empty or
            holds a blank.
    """
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


def _split(match: re.Match[str]) -> str:
    year = match.groupdict().get("year")
    return f"test{year}" if year else match["a"] or match["b"] or "test"
