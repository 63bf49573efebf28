"""The consistency factor: how much of a first stage's list the candidates of another one hold (Zhan et al. 2020, equation 5).

    C_f,n = mean over q of |D_f,q,n ∩ D_r,q| / |D_f,q,n|

D_f,q,n are the first n documents of stage f, D_r,q all candidates of the reference: those that a re-ranker was trained on, BM25's
first thousand in the study. 1 is no mismatch between what the re-ranker learned from and what it will read, 0 the largest.
"""

import pandas as pd

from helpers.data.runs import ranks
from helpers.steps import step

MEASURE = "consistency_factor"


@step(version=1, form="table")
def consistency(run: pd.DataFrame, reference: pd.DataFrame, depths: list[int]) -> pd.DataFrame:
    """The share of each query's first documents that the reference holds, anywhere in its list: columns query_id, depth,
    consistency_factor, depths in the given order. A shorter list counts with the documents that it has.

    A query without documents in the run has no factor (equation 5 would divide by zero) and no row; one without documents in the
    reference has 0.
    """
    inside = pd.MultiIndex.from_frame(run[["query_id", "doc_id"]]).isin(
        pd.MultiIndex.from_frame(reference[["query_id", "doc_id"]]))
    marked = pd.DataFrame({"query_id": run["query_id"], "rank": ranks(run), MEASURE: inside.astype(float)})
    parts = [marked[marked["rank"] <= depth].groupby("query_id", sort=False)[MEASURE].mean().reset_index().assign(depth=depth)
             for depth in depths]
    return pd.concat(parts, ignore_index=True).astype({"depth": int})[["query_id", "depth", MEASURE]]


def means(table: pd.DataFrame) -> pd.Series:
    """The factor by depth: the mean over the queries that have one."""
    return table.groupby("depth")[MEASURE].mean()


def consistency_at_depth(table: pd.DataFrame, depth: int) -> pd.DataFrame:
    """The factors at one depth, indexed by query_id: the values of an evaluation."""
    return table[table["depth"] == depth].set_index("query_id")[[MEASURE]]
