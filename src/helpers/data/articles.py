"""The articles of a split, and their texts alone: what a training may see.

A collection such as the Almanac splits its queries by article. A model that meets the articles of dev or test as negatives, and
never as positives, learns which article a text is from. A store of one split's texts leaves nothing else to draw: its index, its
embeddings and its pseudo-queries are those of the split.
"""

import functools
from collections.abc import Container, Mapping
from pathlib import Path

import pandas as pd

from helpers.data.collection_base import Collection
from helpers.data.texts import Texts, write_store
from helpers.errors import BadInput
from helpers.steps import step

QUERY_SPLITS = ("train", "dev", "test")


def articles_of(qrels: pd.DataFrame, min_relevance: int) -> set[str]:
    """The articles of a split: those that answer one of its queries.

    Args:
        qrels: the split's judgments of documents.
        min_relevance: the lowest grade that counts as an answer.
    """
    return set(qrels.loc[qrels["relevance"] >= min_relevance, "doc_id"])


def article_of(doc_id: str, articles: Container[str]) -> str | None:
    """Which of the articles a text belongs to: itself, or the document whose passage it is (`food-007.3`); None for neither."""
    return next((name for name in (doc_id, doc_id.rpartition(".")[0]) if name in articles), None)


@step(version=1, form="folder")
def split_store(store: Path, qrels: pd.DataFrame, min_relevance: int, *, folder: Path) -> None:
    """The text store of a split's articles, in the order of the whole.

    Args:
        store: the text store of documents or of their passages.
        qrels: the split's judgments of documents.
        min_relevance: see `articles_of`.

    Raises:
        BadInput: if none of the texts belongs to the split.
    """
    articles = articles_of(qrels, min_relevance)
    kept = [text for text in Texts(store) if article_of(text.doc_id, articles)]
    if not kept:
        raise BadInput("no text belongs to the articles of this split",
                       mend="check that its judgments name documents of the collection")
    write_store(folder, kept)


@functools.lru_cache(maxsize=4)
def splits_of(collection: Collection) -> dict[str, str]:
    """The split of each article of a collection that is split by article.

    Raises:
        BadInput: if it is not: an article answers queries of two splits.
    """
    splits: dict[str, str] = {}
    for split in QUERY_SPLITS:
        for article in articles_of(collection.qrels("document", split), collection.relevant_from("document", split)):
            if splits.setdefault(article, split) != split:
                raise BadInput(f"article {article!r} answers queries of {splits[article]} and of {split}", file=collection.spec,
                               mend="compare splits of a collection that is split by article, such as the Almanac")
    return splits


def split_of(doc_id: str, splits: Mapping[str, str]) -> str:
    """The split of a text's article, "" for an article of none.

    Args:
        doc_id: of a document or a passage.
        splits: by article, see `splits_of`.
    """
    return splits.get(article_of(doc_id, splits) or "", "")
