"""BM25 through Lucene: the search (equation 2.2 of Steensland 2021, up to Lucene's constant factor), the choice of k1 and b."""

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.runs import COLUMNS, ranked, told_apart
from helpers.data.windows import doc_of
from helpers.evaluation import measures
from helpers.retrieval import java
from helpers.steps import step

K1, B = 1.2, 0.75  # Steensland 2021, section 4.2; the chapters on BM25 itself have them as parameters
THREADS = 2
AT_ONCE = 2_000  # queries whose hits Java holds
MOST_TERMS = 2**20


@step(version=1, form="run")
def bm25_run(index: Path, queries: pd.DataFrame, k1: float, b: float, depth: int) -> pd.DataFrame:
    """Rank the texts of an index for every query; one without hits keeps none."""
    return java.call(search, index, queries, k1, b, depth)


@step(version=1, form="run")
def max_passage(run: pd.DataFrame, depth: int) -> pd.DataFrame:
    """The run of documents that a run of windows implies: a document scores as its best window."""
    documents = run.assign(doc_id=run["doc_id"].map(doc_of))
    return ranked(documents.groupby(["query_id", "doc_id"], sort=False)["score"].max().reset_index(), depth)


def search(index: Path, queries: pd.DataFrame, k1: float, b: float, depth: int,
           rm3: dict[str, Any] | None = None) -> pd.DataFrame:
    """Search all queries in the process that has the JVM; with Pyserini's settings of RM3, by its feedback."""
    searcher = searcher_of(index, k1, b)
    if rm3:
        searcher.set_rm3(**rm3)
    rows: list[tuple[str, str, float]] = []
    for start in range(0, len(queries), AT_ONCE):
        part = queries.iloc[start:start + AT_ONCE]
        hits = hits_of(searcher, part, depth, threads=1 if rm3 else THREADS)
        rows += [(query, *hit) for query in part["query_id"]
                 for hit in in_their_order([(hit["docid"], hit["score"]) for hit in hits[query]])]
    return ranked(pd.DataFrame(rows, columns=COLUMNS), depth)


def in_their_order(hits: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """A query's hits as (doc_id, score), with scores that tell ties apart: Anserini takes a millionth off for each, which float32
    does not hold in the scores of long queries."""
    placed = sorted(((name, np.float32(score)) for name, score in hits), key=lambda hit: hit[1], reverse=True)
    scores = told_apart(np.array([score for _, score in placed]))
    return list(zip((name for name, _ in placed), scores.astype(float).tolist(), strict=True))


def hits_of(searcher: Any, queries: pd.DataFrame, depth: int, threads: int) -> dict[str, list[dict[str, Any]]]:
    """The hits of each query, with `docid` and `score`: in one text, since a call for each of them takes ten times as long."""
    from jnius import autoclass

    texts, names = autoclass("java.util.ArrayList")(), autoclass("java.util.ArrayList")()
    for text, name in zip(queries["text"], queries["query_id"], strict=True):
        texts.add(text)
        names.add(name)
    return json.loads(_json_writer().writeValueAsString(searcher.object.batch_search(texts, names, depth, threads)))


@functools.cache
def _json_writer() -> Any:
    """Java's writer of JSON, which leaves out the hits' documents."""
    from jnius import autoclass

    document = autoclass("java.lang.Class").forName("org.apache.lucene.document.Document")
    writer = autoclass("com.fasterxml.jackson.databind.ObjectMapper")()
    writer.configOverride(document).setIsIgnoredType(autoclass("java.lang.Boolean")(True))
    return writer


def searcher_of(index: Path, k1: float, b: float) -> Any:
    """Pyserini's searcher with these settings, in the process that has the JVM; a query may have any number of terms."""
    if not (k1 >= 0 and 0 <= b <= 1):
        raise ValueError(f"k1={k1}, b={b}: k1 must be at least 0 and b between 0 and 1")
    from jnius import autoclass
    from pyserini.search.lucene import LuceneSearcher

    autoclass("org.apache.lucene.search.IndexSearcher").setMaxClauseCount(MOST_TERMS)  # Lucene's own limit is 1,024
    searcher = LuceneSearcher(str(index))
    searcher.set_bm25(k1, b)
    return searcher


# BM25 for a service: the index stays open in the process that has the JVM, so that a query does not pay for opening it.

kept_searcher = functools.lru_cache(maxsize=4)(searcher_of)


def search_each(index: Path, texts: Sequence[str], k1: float, b: float, depth: int) -> list[list[tuple[str, float]]]:
    """The hits of each text as (doc_id, score), ties in the order of runs; the ranking of `bm25.search`."""
    searcher: Any = kept_searcher(index, k1, b)
    return [in_their_order([(hit.docid, hit.score) for hit in searcher.search(text, k=depth)]) for text in texts]


@step(version=1, form="table")
def bm25_grid(index: Path, queries: pd.DataFrame, qrels: pd.DataFrame, k1s: list, bs: list, measure: str, min_relevance: int,
              depth: int) -> pd.DataFrame:
    """The mean of a measure over queries of a development split for each pair of k1 and b: columns k1, b, the measure's name."""
    judged = measures.judged_queries(queries, qrels)
    rows = []
    for k1 in k1s:
        for b in bs:
            run = java.call(search, index, queries, k1, b, depth)
            values = measures.per_query(run, qrels, [measure], min_relevance, judged)
            rows.append((float(k1), float(b), float(values[measure].mean())))
    return pd.DataFrame(rows, columns=["k1", "b", measure])


def best(grid: pd.DataFrame, measure: str) -> tuple[float, float]:
    """The k1 and b of the highest value; among equals the smallest k1, then the smallest b."""
    row = grid.sort_values([measure, "k1", "b"], ascending=[False, True, True]).iloc[0]
    return float(row["k1"]), float(row["b"])
