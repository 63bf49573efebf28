"""From window scores to a document score (Dai & Callan 2019; Steensland 2021, sections 3.2.1 and 4.2)."""

import pandas as pd

from helpers.runs import ranked
from helpers.windows import doc_of

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
