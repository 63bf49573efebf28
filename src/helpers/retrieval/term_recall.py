"""Which words of a passage its queries use, the query-term recall that DeepCT learns (Dai & Callan 2019, arXiv:1910.10687), and
how much of a query its relevant passage repeats, which is what exact match has to go by.

    recall(word, passage) = queries of the passage that contain the word / queries of the passage

Words are told apart as in the index: Lucene's analyser (Porter stems, no stop words) decides whether a query contains one.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from helpers.data.collection_base import Text
from helpers.data.texts import Texts
from helpers.retrieval import java
from helpers.retrieval.lucene import analysed
from helpers.steps import step

WORD = re.compile(r"\w+(?:['’.,]\w+)*")  # `3.5`, `oven's` and `U.S` are one word, as they are for Lucene


def content(text: Text) -> str:
    """What the index holds of a text: the title in front of the body."""
    return f"{text.title}\n{text.body}"


def words_of(content: str) -> list[tuple[str, int, int]]:
    """Every word, in lower case, with its first character's place and the place after its last."""
    return [(match[0].lower(), match.start(), match.end()) for match in WORD.finditer(content)]


def first_pieces(text: str, offsets: list[tuple[int, int]]) -> Iterator[tuple[str, int]]:
    """The words of a text in order, each with the number of its first piece; words beyond the last piece are left out.

    The offsets are each piece's first character's place and the place after its last; special tokens have none (0, 0).
    """
    piece = 0
    for word, start, end in words_of(text):
        while piece < len(offsets) and offsets[piece][1] <= start:
            piece += 1
        if piece < len(offsets) and offsets[piece][0] < end:
            yield word, piece


@step(version=1, form="table")
def term_recall(queries: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int, store: Path) -> pd.DataFrame:
    """The query-term recall of every word of every passage that is relevant to one of the queries: columns doc_id, word (in lower
    case, each once a passage), recall (0 for stop words), queries (how many the passage has).

    Most passages have one query, here as in MS MARCO: the recall of a word is then 1 or 0.
    """
    query_texts, texts = dict(zip(queries["query_id"], queries["text"], strict=True)), Texts(store)
    relevant = qrels[(qrels["relevance"] >= min_relevance) & qrels["query_id"].isin(list(query_texts))]
    passages = {str(doc_id): [query_texts[query] for query in group]
                for doc_id, group in relevant.groupby("doc_id", sort=False)["query_id"] if str(doc_id) in texts}
    words = {doc_id: list(dict.fromkeys(word for word, _, _ in words_of(content(texts[doc_id])))) for doc_id in passages}
    terms = {text: set(own) for text, own in java.call(
        analysed, sorted({word for own in words.values() for word in own} | set(query_texts.values()))).items()}
    rows = [(doc_id, word, share(terms[word], [terms[query] for query in asking]), len(asking))
            for doc_id, asking in passages.items() for word in words[doc_id]]
    return pd.DataFrame(rows, columns=["doc_id", "word", "recall", "queries"]).astype({"recall": float, "queries": int})


def share(terms: set[str], queries: list[set[str]]) -> float:
    """The share of the queries that hold any of a word's terms."""
    return sum(bool(terms & query) for query in queries) / len(queries)


@step(version=1, form="table")
def term_overlap(store: Path, queries: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int) -> pd.DataFrame:
    """For each query the share of its terms, stop words left out and stemmed, that its most similar relevant passage holds:
    columns query_id, share (0 to 1), terms. A query of stop words alone, or without relevant passage, is left out."""
    query_texts, texts = dict(zip(queries["query_id"], queries["text"], strict=True)), Texts(store)
    relevant = qrels[(qrels["relevance"] >= min_relevance) & qrels["query_id"].isin(list(query_texts))]
    passages = {str(query): [content(texts[doc_id]) for doc_id in group if doc_id in texts]
                for query, group in relevant.groupby("query_id", sort=False)["doc_id"]}
    terms = {text: set(own) for text, own in java.call(
        analysed, [*(query_texts[query] for query in passages), *(text for own in passages.values() for text in own)]).items()}
    rows = [(query, max(len(mine & terms[text]) for text in own) / len(mine), len(mine))
            for query, own in passages.items() if own and (mine := terms[query_texts[query]])]
    return pd.DataFrame(rows, columns=["query_id", "share", "terms"])
