"""Tuning BM25's k1 and b on a development split."""

from pathlib import Path

import pandas as pd

from helpers.evaluation import measures
from helpers.retrieval import java
from helpers.retrieval.bm25 import search
from helpers.steps import step


@step(version=1, form="table")
def bm25_grid(index: Path, queries: pd.DataFrame, qrels: pd.DataFrame, k1s: list, bs: list, measure: str, min_relevance: int,
              depth: int) -> pd.DataFrame:
    """The mean of a measure for each pair of k1 and b: columns k1, b, and the measure's name."""
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
