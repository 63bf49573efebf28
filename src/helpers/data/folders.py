"""Folders as collections: in MS MARCO's TSV format, in BEIR's form (Thakur et al. 2021), or of text files alone.

| MS MARCO's file (plain or .gz) | columns |
|---|---|
| `collection.tsv` | pid, text (passage ranking) |
| `docs.tsv`, `msmarco-docs.tsv` | docid, url, title, body (document ranking) |
| `queries.tsv`, `queries.<split>.tsv`, `msmarco-doc<split>-queries.tsv`, `msmarco-<split>-queries.tsv` | qid, text |
| `qrels.txt`, `.tsv`, `qrels.<split>.tsv`, `msmarco-doc<split>-qrels.tsv`, `2019qrels-pass.txt` | qid, 0, id, grade; or qid, id |

Files without a split in their name are the split `test`, and so are the queries and judgments of TREC's only year in a folder;
`dev.small` is `dev`, unless that has judgments of its own. Other files of MS MARCO may lie beside them. With both units in one
folder, `qrels.passages...` and `qrels.documents...` tell the judgments apart.

| BEIR's file (the first two plain or .gz) | content |
|---|---|
| `corpus.jsonl` | `{"_id": ..., "title": ..., "text": ...}` a line; the title may be missing |
| `queries.jsonl` | `{"_id": ..., "text": ...}` a line, of all splits |
| `qrels/<split>.tsv` | query-id, corpus-id, score, below a line that names them; the split's queries are those that it judges |

Text files, to pre-train on, have no queries and no judgments. A document is a `.txt` file in UTF-8; a passage is one of its
paragraphs, separated by empty lines. Folders within are read too.
"""

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from helpers.data import lines
from helpers.data.collection_base import Collection, Text
from helpers.data.elsewhere import Folder
from helpers.errors import BadInput, is_unicode
from helpers.steps import digests, recipe

Role = TypeVar("Role", bound=Hashable)
TEXTS = {"passage": ("collection.tsv",), "document": ("docs.tsv", "msmarco-docs.tsv")}
QUERIES = re.compile(r"(?:queries(?:\.(?P<a>[\w.]+?))?|msmarco-(?:doc)?(?P<b>\w+)-queries)\.tsv(?:\.gz)?")
QRELS = re.compile(r"(?:qrels(?:\.(?P<unit>passages|documents))?(?:\.(?P<a>[\w.]+?))?|msmarco-(?:doc)?(?P<b>\w+)-qrels"
                   r"|(?P<year>20\d\d)qrels-(?P<kind>pass|docs))\.(?:tsv|txt)(?:\.gz)?")
TREC = re.compile(r"test20\d\d")  # the split of a year's queries
UNITS = {"passages": "passage", "documents": "document", "pass": "passage", "docs": "document"}


class MsMarcoFolder(Folder):
    """Passages, documents or both from a folder; BadInput for one without texts, and, on reading, for any line out of form."""

    judged_by = "queries.tsv (qid, text) and qrels.tsv"

    def __init__(self, folder: str | Path):
        self.folder = Path(folder).expanduser().resolve()
        self.spec, self.name = str(folder), self.folder.name
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
                lines.check_plain(self.folder / name)
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
        files = defaultdict[Role, list[Path]](list)
        for role, name in named:
            files[role].append(self.folder / name)
        return {role: one_of(those) for role, those in files.items()}

    @classmethod
    def opens(cls, spec: str) -> bool:
        """Any folder that no other format knows: one without texts is told what is missing."""
        return bool(spec) and Path(spec).expanduser().is_dir()

    def texts(self, unit: str) -> Iterator[Text]:
        """Stream the texts. Repeated ids are found when the text store is built, which knows them all."""
        file, columns = self._texts[unit], 2 if unit == "passage" else 4
        for number, parts in lines.read_tsv(file, columns):
            title, body = ("", parts[1]) if unit == "passage" else (parts[2], parts[3])
            if unit == "passage" and lines.is_blank(body):  # MS MARCO's documents really have some without
                raise BadInput(f"passage {parts[0]!r} has no text", file=file, line=number,
                               mend="give it a text or remove the line")
            yield Text(parts[0], title, body)

    def queries(self, split: str) -> pd.DataFrame:
        """Columns query_id, text."""
        return lines.query_frame(self._queries[split], lines.read_tsv(self._queries[split], 2))

    def qrels(self, unit: str, split: str) -> pd.DataFrame:
        """Judgments of the split's queries; those of other queries, which the studies' data really has, are left out."""
        rows = list(lines.read_qrels(self._judgments(unit, split)))
        frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])
        mine = frame["query_id"].isin(set(self.queries(split)["query_id"]))
        if not mine.any():
            raise BadInput(f"no judgment is of a query of the split {split!r}", file=self._judgments(unit, split),
                           mend="check that queries and judgments belong together")
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

    def sources(self, kind: str, *names: str) -> list[Path]:
        """The file, that of the queries with the judgments."""
        if kind == "texts":
            return [self._texts[names[0]]]
        judgments = [self._judgments(*names)] if kind == "qrels" else []
        return [*judgments, self._queries[names[-1]]]


def has_texts(folder: Path) -> bool:
    """Whether a folder holds texts in this format."""
    return any(f.name.removesuffix(".gz") in names for f in folder.iterdir() for names in TEXTS.values())


def _split(match: re.Match[str]) -> str:
    year = match.groupdict().get("year")
    return f"test{year}" if year else match["a"] or match["b"] or "test"


class BeirFolder(Folder):
    """Documents from a folder; BadInput, on reading, for any line out of form."""

    units = ("document",)
    judged_by = "queries.jsonl and qrels/<split>.tsv, such as qrels/test.tsv"

    def __init__(self, folder: str | Path):
        self.folder = Path(folder).expanduser().resolve()
        self.spec, self.name = str(folder), self.folder.name
        self.splits = tuple(sorted({file.name.partition(".tsv")[0] for end in ("", ".gz")
                                    for file in self.folder.glob(f"qrels/*.tsv{end}")}))
        for file in () if self.splits else self.folder.glob("qrels/*.tsv.*"):
            lines.check_plain(file)
        if has_texts(self.folder):
            raise BadInput("corpus.jsonl and texts in MS MARCO's form are two collections in one folder", file=self.folder,
                           mend="keep one of them")

    @classmethod
    def opens(cls, spec: str) -> bool:
        """A folder with corpus.jsonl, be it a file that can be read or not."""
        folder = Path(spec).expanduser()
        return bool(spec) and folder.is_dir() and bool(in_forms(folder / "corpus.jsonl"))

    def texts(self, unit: str) -> Iterator[Text]:
        """Stream the documents, some of them without title or text. Repeated ids are found when the text store is built."""
        return (text for _, text in read_records(self._file("corpus.jsonl")))

    def queries(self, split: str) -> pd.DataFrame:
        """Columns query_id, text: the queries that the split judges."""
        file, judged = self._file("queries.jsonl"), set(self.qrels("document", split)["query_id"])
        frame = lines.query_frame(file, ((number, (query.doc_id, query.body)) for number, query in read_records(file)))
        if missing := sorted(judged - set(frame["query_id"])):
            raise BadInput(f"query {missing[0]!r} is judged, but has no text", file=file, mend="add it, or remove its judgments")
        return frame[frame["query_id"].isin(judged)].reset_index(drop=True)

    def qrels(self, unit: str, split: str) -> pd.DataFrame:
        """Columns query_id, doc_id, relevance."""
        file = self._file(f"qrels/{split}.tsv")
        if not (rows := list(lines.read_qrels(file, beir=True))):
            raise BadInput("no judgments in this file", file=file, mend="write `query_id doc_id grade` a line")
        return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])

    def sources(self, kind: str, *names: str) -> list[Path]:
        """The file of the texts, or those of the queries and of the judgments that tell whose they are."""
        files = ["corpus.jsonl"] if kind == "texts" else ["queries.jsonl", f"qrels/{names[-1]}.tsv"]
        return [self._file(name) for name in files]

    def _file(self, name: str) -> Path:
        return one_of(in_forms(self.folder / name) or [self.folder / name])


def one_of(files: list[Path]) -> Path:
    """The file for one thing; BadInput where there are two, or it is no plain file, or packed in a way that is not read."""
    if len(files) > 1:
        raise BadInput(f"{files[0].name} and {files[1].name} are two files for one thing", file=files[0].parent,
                       mend="keep one of them")
    lines.check_plain(files[0])
    if os.path.lexists(files[0]) and not files[0].is_file():
        raise BadInput("no plain file", file=files[0], mend="put a file there, not a folder, a pipe or a link to nothing")
    return files[0]


def in_forms(file: Path) -> list[Path]:
    """What there is of a file, as it is or packed."""
    return sorted(own for own in file.parent.glob(f"{file.name}*") if own.name == file.name or (
        own.stem == file.name and own.suffix.lower() in lines.PACKED))


def read_records(file: Path) -> Iterator[tuple[int, Text]]:
    """Stream (line number, text) of a file in BEIR's JSON; BadInput for a line of another form."""
    for number, line in lines.text_lines(file):
        if not line.strip():
            raise BadInput("the line is empty", file=file, line=number, mend="remove it")
        try:
            record = json.loads(line, object_pairs_hook=Pairs)
        except (ValueError, RecursionError):
            record = None
        if what := problem(record):
            raise BadInput(f"not a text in BEIR's form: {what}", file=file, line=number,
                           mend='write {"_id": "…", "text": "…"} a line')
        lines.check_ids(file, number, record["_id"])
        yield number, Text(record["_id"], record.get("title") or "", record["text"])


class Pairs(dict):
    """An object of JSON that knows which of its names stands twice: the last would count, without a word."""

    def __init__(self, pairs: list[tuple[str, Any]]):
        super().__init__(pairs)
        self.twice = next((name for name, count in Counter(name for name, _ in pairs).items() if count > 1), "")


def problem(record: Any) -> str:
    """What a value of a line lacks of a text in BEIR's form; empty if it is one."""
    if not isinstance(record, dict):
        return "no object in JSON"
    if twice := getattr(record, "twice", ""):
        return f"the field `{twice}` stands twice"
    for name in ("_id", "title", "text"):
        value = record.get(name, None if name != "title" else "")
        if name not in record and name != "title":
            return f"the field `{name}` is missing"
        if not isinstance(value, str) and not (name == "title" and value is None):
            return f"the field `{name}` is {json.dumps(value)[:40]}, which is no text"
        if value and not is_unicode(value):
            return f"the field `{name}` holds half of a surrogate pair"
    return "" if record["_id"].strip() else "the field `_id` is empty"


PARAGRAPHS = re.compile(r"\n\s*\n")


class TextFolder(Collection):
    """The texts of a folder, in the order of their names."""

    units = ("document", "passage")

    def __init__(self, folder: str | Path):
        self.folder = Path(folder).expanduser().resolve()
        self.spec, self.name = str(folder), self.folder.name

    @classmethod
    def opens(cls, spec: str) -> bool:
        """A folder with text files that has no texts in MS MARCO's format."""
        folder = Path(spec).expanduser()
        return bool(spec) and folder.is_dir() and not has_texts(folder) and next(folder.rglob("*.txt"), None) is not None

    def texts(self, unit: str) -> Iterator[Text]:
        """Stream the files, or their paragraphs: `novel.txt` and `novel.txt.0`; BadInput for a file that is not UTF-8."""
        for file in self.sources():
            name = file.relative_to(self.folder).as_posix()
            body = "".join(line for _, line in lines.text_lines(file)).replace("\r\n", "\n")
            if unit == "document":
                yield Text(name, "", body)
                continue
            paragraphs = (part.strip() for part in PARAGRAPHS.split(body))
            yield from (Text(f"{name}.{number}", "", part) for number, part in enumerate(filter(None, paragraphs)))

    def text_digest(self, unit: str) -> str:
        """Of names and contents; the unit is part of it."""
        content = [[file.relative_to(self.folder).as_posix(), digests.sha256(file)] for file in self.sources()]
        return recipe.sha256(recipe.canonical([content, unit]))

    def sources(self, kind: str = "", *names: str) -> list[Path]:
        """All files, of either unit."""
        files = sorted(file for file in self.folder.rglob("*.txt") if file.is_file())
        if odd := [file for file in files if not is_unicode(str(file))]:
            raise BadInput("the name of this file is not UTF-8", file=odd[0], mend="rename it")
        return files
