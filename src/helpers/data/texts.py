"""The text store: any document of a collection by its id, without holding the collection in memory."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pandas as pd

from helpers.data.collection_base import Part, Text
from helpers.data.lines import is_blank
from helpers.data.runs import cut
from helpers.errors import BadInput
from helpers.steps import ledger, step


@step(version=1, form="folder")
def text_store(texts: Part, *, folder: Path) -> None:
    """Stream the texts of a collection into a keyed SQLite file.

    Raises:
        BadInput: if an id stands twice, naming it and its 1-based position; if there are no texts.
    """
    files = texts.sources()
    write_store(folder, texts.stream(), files[0] if len(files) == 1 else texts.collection.spec)


@step(version=1, form="folder")
def merged_store(stores: list[Path], *, folder: Path) -> None:
    """Several stores as one, in their order: what a pre-training reads; BadInput if two of them have a text of one id."""
    write_store(folder, (text for store in stores for text in Texts(store)))


@step(version=1, form="folder")
def candidate_store(store: Path, run: pd.DataFrame, candidates: int, *, folder: Path) -> None:
    """The text store of a run's first `candidates` texts of each query, each once, in the order of the run."""
    texts = Texts(store)
    write_store(folder, (texts[doc_id] for doc_id in dict.fromkeys(cut(run, candidates)["doc_id"])))


def write_store(folder: Path, texts: Iterable[Text], source: Path | str | None = None) -> None:
    """Write texts in their order; BadInput, with their source, for an id that stands twice, or where a source has no texts."""
    position, blank = 0, list[str]()
    with closing(sqlite3.connect(folder / "texts.sqlite")) as db, db:
        db.execute("CREATE TABLE texts (position INTEGER PRIMARY KEY, doc_id TEXT UNIQUE, title TEXT, body TEXT)")
        for position, text in enumerate(texts, start=1):
            try:
                db.execute("INSERT INTO texts VALUES (?, ?, ?, ?)", (position, *text))
            except sqlite3.IntegrityError:
                raise BadInput(f"the id {text.doc_id!r} stands twice", file=source, line=position,
                               mend="keep one text for each id") from None
            if is_blank(text.body) and is_blank(text.title):
                blank.append(text.doc_id)
        if source is not None and position == len(blank):
            raise BadInput("there are no texts", file=source, mend="put texts into it")
        if source is not None and blank:
            ledger.warn(f"{source}: {len(blank)} texts are empty, {blank[0]!r} among them, and never found")


class Texts:
    """Reader of a text store."""

    def __init__(self, folder: Path):
        self._db = sqlite3.connect(f"file:{folder / 'texts.sqlite'}?mode=ro", uri=True)

    def __len__(self) -> int:
        return self._db.execute("SELECT COUNT(*) FROM texts").fetchone()[0]

    def __iter__(self) -> Iterator[Text]:
        for row in self._db.execute("SELECT doc_id, title, body FROM texts ORDER BY position"):
            yield Text(*row)

    def __contains__(self, doc_id: str) -> bool:
        return self._db.execute("SELECT 1 FROM texts WHERE doc_id = ?", (doc_id,)).fetchone() is not None

    def __getitem__(self, doc_id: str) -> Text:
        return Text(*self._row("doc_id, title, body", doc_id))

    def ids(self, positions: Iterable[int]) -> list[str]:
        """The ids of the texts at 0-based positions, in their order."""
        query = "SELECT doc_id FROM texts WHERE position = ?"
        return [self._db.execute(query, (int(position) + 1,)).fetchone()[0] for position in positions]

    def position(self, doc_id: str) -> int:
        """The 0-based position of a text in the collection's order; KeyError if it is missing."""
        return self._row("position", doc_id)[0] - 1

    def _row(self, columns: str, doc_id: str) -> tuple:
        row = self._db.execute(f"SELECT {columns} FROM texts WHERE doc_id = ?", (doc_id,)).fetchone()
        if row is None:
            raise KeyError(f"no text {doc_id!r} in the collection")
        return row


def relevant_places(store: Path, queries: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int) -> dict[str, list[int]]:
    """The positions of each query's relevant passages in the text store; a query without any is missing."""
    texts = Texts(store)
    relevant = qrels[(qrels["relevance"] >= min_relevance) & qrels["query_id"].isin(set(queries["query_id"]))]
    positions: dict[str, list[int]] = {}
    for query, doc_id in relevant[["query_id", "doc_id"]].itertuples(index=False):
        if doc_id in texts:
            positions.setdefault(query, []).append(texts.position(doc_id))
    return positions
