"""A folder in BEIR's form, as a collection of documents (Thakur et al. 2021).

| file (the first two plain or .gz) | content |
|---|---|
| `corpus.jsonl` | `{"_id": ..., "title": ..., "text": ...}` a line; the title may be missing |
| `queries.jsonl` | `{"_id": ..., "text": ...}` a line, of all splits |
| `qrels/<split>.tsv` | query-id, corpus-id, score, below a line that names them; the split's queries are those that it judges |
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data.collection_base import Text
from helpers.data.elsewhere import Folder
from helpers.data.lines import PACKED, check_ids, check_plain, content_digest, text_lines
from helpers.data.msmarco_folder import has_texts, query_frame, read_qrels
from helpers.errors import BadInput, is_unicode


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
            check_plain(file)
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
        frame = query_frame(file, ((number, (query.doc_id, query.body)) for number, query in read_records(file)))
        if missing := sorted(judged - set(frame["query_id"])):
            raise BadInput(f"query {missing[0]!r} is judged, but has no text", file=file, mend="add it, or remove its judgments")
        return frame[frame["query_id"].isin(judged)].reset_index(drop=True)

    def qrels(self, unit: str, split: str) -> pd.DataFrame:
        """Columns query_id, doc_id, relevance."""
        file = self._file(f"qrels/{split}.tsv")
        if not (rows := list(read_qrels(file, beir=True))):
            raise BadInput("no judgments in this file", file=file, mend="write `query_id doc_id grade` a line")
        return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])

    def text_digest(self, unit: str) -> str:
        """SHA-256 of the file's content, unpacked."""
        return content_digest(self._file("corpus.jsonl"), unit)

    def sources(self, kind: str, *names: str) -> list[Path]:
        """The file of the texts, or those of the queries and of the judgments that tell whose they are."""
        files = ["corpus.jsonl"] if kind == "texts" else ["queries.jsonl", f"qrels/{names[-1]}.tsv"]
        return [self._file(name) for name in files]

    def _file(self, name: str) -> Path:
        return plain_or_packed(self.folder / name)


def plain_or_packed(file: Path) -> Path:
    """The file, or the same with `.gz` where only that is there. BadInput for both, and for one that is packed in another way."""
    there = in_forms(file)
    if len(there) > 1:
        raise BadInput(f"{there[0].name} and {there[1].name} are two files for one thing", file=file.parent,
                       mend="keep one of them")
    for own in there:
        check_plain(own)
        if not own.is_file():
            raise BadInput("no plain file", file=own, mend="put a file there, not a folder, a pipe or a link to nothing")
    return there[0] if there else file


def in_forms(file: Path) -> list[Path]:
    """What there is of a file, as it is or packed."""
    return sorted(own for own in file.parent.glob(f"{file.name}*") if own.name == file.name or (
        own.stem == file.name and own.suffix.lower() in PACKED))


def read_records(file: Path) -> Iterator[tuple[int, Text]]:
    """Stream (line number, text) of a file in BEIR's JSON; BadInput for a line of another form."""
    for number, line in text_lines(file):
        if not line.strip():
            raise BadInput("the line is empty", file=file, line=number, mend="remove it")
        if what := problem(record := _value(line)):
            raise BadInput(f"not a text in BEIR's form: {what}", file=file, line=number,
                           mend='write {"_id": "…", "text": "…"} a line')
        check_ids(file, number, record["_id"])
        yield number, Text(record["_id"], record.get("title") or "", record["text"])


def _value(line: str) -> Any:
    try:
        return json.loads(line, object_pairs_hook=Pairs)
    except (ValueError, RecursionError):
        return None


class Pairs(dict):
    """An object of JSON that knows which of its names stands twice: the last would count, without a word."""

    def __init__(self, pairs: list[tuple[str, Any]]):
        super().__init__(pairs)
        self.twice = next((name for name, _ in pairs if sum(name == other for other, _ in pairs) > 1), "") if (
            len(pairs) > len(self)) else ""


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
