"""From window scores to a document score (Dai & Callan 2019; Steensland 2021, sections 3.2.1 and 4.2)."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy import special

from helpers.data.runs import cut, ranked
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
    codes, windows = pd.factorize(window_scores["doc_id"])  # many queries have a window among their candidates: it is parsed once
    numbers = np.array([int(window.rpartition("#")[2]) for window in windows], dtype=int)
    documents_of = np.array([doc_of(window) for window in windows], dtype=object)
    queries = pd.factorize(window_scores["query_id"])[0]  # stay in their order
    ordered = window_scores.assign(doc_id=documents_of[codes]).iloc[np.lexsort((numbers[codes], queries))]
    return ranked(ordered.groupby(["query_id", "doc_id"], sort=False)["score"].agg(aggregation).reset_index())


def windows_of(window_scores: pd.DataFrame, run: pd.DataFrame | None, first: int | None) -> pd.DataFrame:
    """The scored windows of each query's first candidates in the run; all of them without a number."""
    if run is None or first is None:
        return window_scores
    kept = pd.MultiIndex.from_frame(cut(run, first)[["query_id", "doc_id"]])
    owners = pd.MultiIndex.from_arrays([window_scores["query_id"], window_scores["doc_id"].map(doc_of)])
    return window_scores[owners.isin(kept)].reset_index(drop=True)


@step(version=1, form="run")
def aggregated(window_scores: pd.DataFrame, how: str, run: pd.DataFrame | None = None, first: int | None = None) -> pd.DataFrame:
    """The run of documents from a run of windows, or from those of the first stage's `first` candidates."""
    return aggregate(windows_of(window_scores, run, first), how)


@step(version=1, form="run")
def by_probability(window_logits: pd.DataFrame, how: str) -> pd.DataFrame:
    """The same from the probabilities of logits; sections, `<document>.<number>#0`, count as windows of their documents."""
    names = window_logits["doc_id"].str.replace(r"\.(\d+)#0$", r"#\1", regex=True)
    return aggregate(window_logits.assign(doc_id=names, score=special.expit(window_logits["score"])), how)


@step(version=1, form="run")
def reranked(window_scores: pd.DataFrame, how: str, run: pd.DataFrame) -> pd.DataFrame:
    """Put a run's first documents in a model's order; those that were not scored follow in their old order."""
    best = aggregate(window_scores, how)
    scored = pd.MultiIndex.from_frame(best[["query_id", "doc_id"]])
    rest = run[~pd.MultiIndex.from_frame(run[["query_id", "doc_id"]]).isin(scored)]
    below = rest["query_id"].map(best.groupby("query_id")["score"].min()).astype(float).fillna(0.0)
    rest = rest.assign(score=below - 1 - rest.groupby("query_id").cumcount())
    order = {query: number for number, query in enumerate(run["query_id"].unique())}
    return ranked(pd.concat([best, rest]).sort_values("query_id", key=lambda ids: ids.map(order), kind="stable"))
