"""The text store: any document of a collection by its id, without holding the collection in memory; and stores of one split.

A collection such as the Almanac splits its queries by article. A model that meets the articles of dev or test as negatives, and
never as positives, learns which article a text is from. A store of one split's texts leaves nothing else to draw: its index, its
embeddings and its pseudo-queries are those of the split.
"""

import functools
import sqlite3
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pandas as pd

from helpers.data.collection_base import Collection, Part, Text
from helpers.data.lines import is_blank
from helpers.data.runs import cut
from helpers.errors import BadInput
from helpers.steps import ledger, step


@step(version=1, form="folder")
def text_store(texts: Part, *, folder: Path) -> None:
    """Stream the texts of a collection into a keyed SQLite file; see `write_store`."""
    files = texts.sources()
    write_store(folder, texts.load(), files[0] if len(files) == 1 else texts.collection.spec)


@step(version=1, form="folder")
def merged_store(stores: list[Path], *, folder: Path) -> None:
    """Several stores as one, in their order: what a pre-training reads; BadInput if two of them have a text of one id."""
    write_store(folder, (text for store in stores for text in Texts(store)))


@step(version=1, form="folder")
def candidate_store(store: Path, run: pd.DataFrame, candidates: int, *, folder: Path) -> None:
    """Keep the texts of a run's first candidates: `candidates` of each query, each once, in the order of the run."""
    texts = Texts(store)
    write_store(folder, (texts[doc_id] for doc_id in dict.fromkeys(cut(run, candidates)["doc_id"])))


def write_store(folder: Path, texts: Iterable[Text], source: Path | str | None = None) -> None:
    """Write texts in their order; BadInput, with their source, for an id that stands twice, with its 1-based position, or where a
    source has no texts."""
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


QUERY_SPLITS = ("train", "dev", "test")


def articles_of(qrels: pd.DataFrame, min_relevance: int) -> set[str]:
    """The articles of a split, by its judgments of documents: those that answer one of its queries."""
    return set(qrels.loc[qrels["relevance"] >= min_relevance, "doc_id"])


def article_of(doc_id: str, articles: Container[str]) -> str | None:
    """Which of the articles a text belongs to: itself, or the document whose passage it is (`food-007.3`); None for neither."""
    return next((name for name in (doc_id, doc_id.rpartition(".")[0]) if name in articles), None)


@step(version=1, form="folder")
def split_store(store: Path, qrels: pd.DataFrame, min_relevance: int, *, folder: Path) -> None:
    """The text store of a split's articles, or of their passages, in the order of the whole, by the split's judgments of
    documents; BadInput if none of the texts belongs to it."""
    articles = articles_of(qrels, min_relevance)
    kept = [text for text in Texts(store) if article_of(text.doc_id, articles)]
    if not kept:
        raise BadInput("no text belongs to the articles of this split",
                       mend="check that its judgments name documents of the collection")
    write_store(folder, kept)


@functools.lru_cache(maxsize=4)
def splits_of(collection: Collection) -> dict[str, str]:
    """The split of each article of a collection that is split by article; BadInput if one answers queries of two splits."""
    splits: dict[str, str] = {}
    for split in QUERY_SPLITS:
        for article in articles_of(collection.qrels("document", split), collection.relevant_from("document", split)):
            if splits.setdefault(article, split) != split:
                raise BadInput(f"article {article!r} answers queries of {splits[article]} and of {split}", file=collection.spec,
                               mend="compare splits of a collection that is split by article, such as the Almanac")
    return splits


def split_of(doc_id: str, splits: Mapping[str, str]) -> str:
    """The split of the article of a document or a passage, by `splits_of`; "" for an article of none."""
    return splits.get(article_of(doc_id, splits) or "", "")
