"""Where in a document its answer lies: the windows that hold a judged passage, and the place where it begins.

Is it early, as Alarfaj (2022, chapter 6) suspects?
"""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from helpers.data.collection_base import Text
from helpers.data.texts import Texts
from helpers.data.windows import windows
from helpers.steps import step

SHARE = 0.5  # a window holds a passage if it has at least this share of its words


@step(version=1, form="table")
def answer_windows(documents: Path, passages: Path, document_qrels: pd.DataFrame, passage_qrels: pd.DataFrame, min_relevance: int,
                   words: int, overlap: int) -> pd.DataFrame:
    """The windows of relevant documents that hold a relevant passage.

    Args:
        passages: the text store of the passages, which are parts of the documents' bodies.
        document_qrels: judgments of documents.
        passage_qrels: judgments of passages, of the same queries.

    Returns:
        Columns query_id, window_id; a passage that stands in no relevant document of its query gives no row.
    """
    texts, parts = Texts(documents), Texts(passages)
    rows = [(query, window) for query, document, passage in relevant_pairs(document_qrels, passage_qrels, min_relevance)
            for window in holding(texts[document], parts[passage].body, words, overlap)]
    return pd.DataFrame(rows, columns=["query_id", "window_id"]).drop_duplicates(ignore_index=True)


@step(version=1, form="table")
def answer_positions(documents: Path, passages: Path, document_qrels: pd.DataFrame, passage_qrels: pd.DataFrame,
                     min_relevance: int) -> pd.DataFrame:
    """The place of the first relevant passage in each relevant document; arguments as of `answer_windows`.

    Returns:
        Columns query_id, doc_id, begins (words of title and body before it), length (its words), words (the document's, title
        included). A passage that stands in no relevant document of its query gives no row.
    """
    texts, parts = Texts(documents), Texts(passages)
    rows: list[tuple[str, str, int, int, int]] = []
    for query, doc_id, passage in relevant_pairs(document_qrels, passage_qrels, min_relevance):
        title, body, piece = texts[doc_id].title.split(), texts[doc_id].body.split(), parts[passage].body.split()
        start = find(body, piece)
        if start is not None:
            rows.append((query, doc_id, len(title) + start, len(piece), len(title) + len(body)))
    places = pd.DataFrame(rows, columns=["query_id", "doc_id", "begins", "length", "words"])
    return places.sort_values("begins", kind="stable").drop_duplicates(["query_id", "doc_id"]).sort_index(ignore_index=True)


def relevant_pairs(document_qrels: pd.DataFrame, passage_qrels: pd.DataFrame,
                   min_relevance: int) -> Iterator[tuple[str, str, str]]:
    """Every query with each of its relevant documents and each of its relevant passages, whether that stands in it or not."""
    passages, documents = (qrels.loc[qrels["relevance"] >= min_relevance, ["query_id", "doc_id"]]
                           for qrels in (passage_qrels, document_qrels))
    pairs = passages.merge(documents, on="query_id", suffixes=("_passage", "_document"))
    return zip(pairs["query_id"], pairs["doc_id_document"], pairs["doc_id_passage"], strict=True)


def holding(document: Text, passage: str, words: int, overlap: int) -> list[str]:
    """The ids of the document's windows that hold at least half of a passage of its body; none if it is not in there."""
    title, piece = document.title.split(), passage.split()
    span = find(document.body.split(), piece)
    if span is None:
        return []
    window_ids, start = [], 0
    for window in windows(document, words, overlap):
        shown = window.text.split()
        size = len(shown) - (len(title) if shown[:len(title)] == title else 0)  # a long title is left out of all windows
        shared = min(start + size, span + len(piece)) - max(start, span)
        if shared >= SHARE * len(piece):
            window_ids.append(window.window_id)
        start += size - overlap
    return window_ids


def find(body: list[str], piece: list[str]) -> int | None:
    """Where a sequence of words begins in a body, None if it is empty or not there."""
    starts = range(len(body) - len(piece) + 1) if piece else ()
    return next((start for start in starts if body[start:start + len(piece)] == piece), None)
