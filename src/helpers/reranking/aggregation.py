"""From window scores to a document score (Dai & Callan 2019; Steensland 2021, sections 3.2.1 and 4.2)."""

import pandas as pd

from helpers.data.runs import ranked
from helpers.data.windows import doc_of
from helpers.steps import step

AGGREGATIONS = {"mean": "mean", "max": "max", "first": "first", "sum": "sum"}


def aggregate(window_scores: pd.DataFrame, how: str) -> pd.DataFrame:
    """The run of documents from a run of windows.

    Args:
        window_scores: columns query_id, doc_id (a window id), score (a probability).
        how: `mean` (BERT-Mean), `max` (BERT-MaxP), `first` (BERT-FirstP, the window at the start), `sum` (BERT-SumP).
    """
    if how not in AGGREGATIONS:
        raise ValueError(f"aggregation {how!r}: one of {', '.join(AGGREGATIONS)}")
    number = window_scores["doc_id"].str.rsplit("#", n=1).str[1].astype(int)
    ordered = window_scores.assign(_number=number).sort_values("_number", kind="stable")
    documents = ordered.assign(doc_id=ordered["doc_id"].map(doc_of)).groupby(["query_id", "doc_id"], sort=False)
    scores = documents["score"].agg(AGGREGATIONS[how]).reset_index()
    order = {query: number for number, query in enumerate(dict.fromkeys(window_scores["query_id"]))}
    return ranked(scores.sort_values("query_id", key=lambda ids: ids.map(order), kind="stable"))


@step(version=1, form="run", network=True)
def reranked(window_scores: pd.DataFrame, how: str, run: pd.DataFrame) -> pd.DataFrame:
    """The first stage's run, its best documents in the order of the model.

    Args:
        window_scores: the scored windows of each query's first documents.
        how: see `aggregate`.
        run: the first stage; its documents that were not scored follow the others in their old order.
    """
    best = aggregate(window_scores, how)
    scored = pd.MultiIndex.from_frame(best[["query_id", "doc_id"]])
    rest = run[~pd.MultiIndex.from_frame(run[["query_id", "doc_id"]]).isin(scored)]
    below = rest["query_id"].map(best.groupby("query_id")["score"].min()).astype(float).fillna(0.0)
    rest = rest.assign(score=below - 1 - rest.groupby("query_id").cumcount())
    order = {query: number for number, query in enumerate(dict.fromkeys(run["query_id"]))}
    return ranked(pd.concat([best, rest]).sort_values("query_id", key=lambda ids: ids.map(order), kind="stable"))
