"""From window scores to a document score (Dai & Callan 2019; Steensland 2021, sections 3.2.1 and 4.2)."""

from collections.abc import Callable

import pandas as pd

from helpers.data.runs import ranked
from helpers.data.windows import doc_of
from helpers.registry import Registry
from helpers.steps import step

# what `groupby.agg` takes: pandas' own names, or a function of the scores of a document's windows, a Series in their order
AGGREGATIONS: Registry[str | Callable[[pd.Series], float]] = Registry("aggregation", {
    "mean": "mean",  # BERT-Mean
    "max": "max",  # BERT-MaxP
    "first": "first",  # BERT-FirstP: the window at the start
    "sum": "sum",  # BERT-SumP
})


def aggregate(window_scores: pd.DataFrame, how: str) -> pd.DataFrame:
    """The run of documents from a run of windows (doc_id is a window's id), by one of `AGGREGATIONS`."""
    aggregation = AGGREGATIONS[how]
    number = window_scores["doc_id"].str.rsplit("#", n=1).str[1].astype(int)
    ordered = window_scores.assign(_number=number).sort_values("_number", kind="stable")
    documents = ordered.assign(doc_id=ordered["doc_id"].map(doc_of)).groupby(["query_id", "doc_id"], sort=False)
    scores = documents["score"].agg(aggregation).reset_index()
    order = {query: number for number, query in enumerate(dict.fromkeys(window_scores["query_id"]))}
    return ranked(scores.sort_values("query_id", key=lambda ids: ids.map(order), kind="stable"))


@step(version=1, form="run")
def reranked(window_scores: pd.DataFrame, how: str, run: pd.DataFrame) -> pd.DataFrame:
    """The first stage's run, its best documents in the order of the model; those that were not scored follow in their old order.
    """
    best = aggregate(window_scores, how)
    scored = pd.MultiIndex.from_frame(best[["query_id", "doc_id"]])
    rest = run[~pd.MultiIndex.from_frame(run[["query_id", "doc_id"]]).isin(scored)]
    below = rest["query_id"].map(best.groupby("query_id")["score"].min()).astype(float).fillna(0.0)
    rest = rest.assign(score=below - 1 - rest.groupby("query_id").cumcount())
    order = {query: number for number, query in enumerate(dict.fromkeys(run["query_id"]))}
    return ranked(pd.concat([best, rest]).sort_values("query_id", key=lambda ids: ids.map(order), kind="stable"))
