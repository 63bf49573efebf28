"""Fusion of two first stages: RepBERT's alternating merge, reciprocal rank fusion, and a weighted sum of scores."""

from functools import partial, reduce

import pandas as pd

from helpers.data.runs import COLUMNS, cut, ranked, ranks
from helpers.evaluation import measures
from helpers.steps import step

WEIGHTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]  # of the first run, that are tried on development queries
RRF_K = 60  # Cormack et al. 2009
SMALLEST_RANGE = 1e-9  # of scores that are scaled: equal scores become 0
FIRST, SECOND, UNCUT = "first, second", "second, first", "first, second, uncut"  # the methods of `fusions`
RRF, SUM = "reciprocal ranks", "weighted sum"


def alternating(first: pd.DataFrame, second: pd.DataFrame, depth: int) -> pd.DataFrame:
    """Take documents from two runs in turns, drop those that came before, and cut (Zhan et al. 2020, equation 6): a, c, d with
    b, a, c gives a, b, c, d.

    The order of the two matters: the first run begins. Lists may be shorter than `depth`; a query that only one run has keeps
    that run's list. Without a cut (a depth of both lists together) every document of either run is there. The scores are the
    negated ranks: they carry the order and nothing else.
    """
    runs = [run.assign(_turn=2 * ranks(run) + side) for side, run in enumerate((first, second))]
    both = pd.concat(runs, ignore_index=True)
    both["_query"] = pd.factorize(both["query_id"])[0]
    merged = cut(both.sort_values(["_query", "_turn"], kind="stable").drop_duplicates(["query_id", "doc_id"]), depth)
    return merged.assign(score=-ranks(merged).astype(float))[COLUMNS]


@step(version=1, form="run")
def candidate_pool(runs: list) -> pd.DataFrame:
    """Every document of any of the runs, merged in turns: what a re-ranker reads once for all of them."""
    return reduce(partial(alternating, depth=sum(map(len, runs))), runs)


def reciprocal_rank(first: pd.DataFrame, second: pd.DataFrame, depth: int) -> pd.DataFrame:
    """Order by the sum of 1 / (60 + rank) over the two runs (Cormack et al. 2009); a run that lacks a document adds nothing."""
    return _summed([run.assign(share=1 / (RRF_K + ranks(run))) for run in (first, second)], depth)


def weighted_sum(first: pd.DataFrame, second: pd.DataFrame, weight: float, depth: int) -> pd.DataFrame:
    """Order by `weight` x first + (1 - `weight`) x second, the scores of each run scaled to 0 .. 1 within a query.

    A document that a run lacks counts there like its last one: 0. ValueError unless the weight lies between 0 and 1.
    """
    if not 0 <= weight <= 1:
        raise ValueError(f"weight {weight} of the first run: between 0 and 1")
    runs = []
    for run, own in ((first, weight), (second, 1 - weight)):
        scores = run.groupby("query_id", sort=False)["score"]
        low, high = scores.transform("min"), scores.transform("max")
        runs.append(run.assign(share=own * ((run["score"] - low) / (high - low).clip(lower=SMALLEST_RANGE))))
    return _summed(runs, depth)


def z_scored_sum(first: pd.DataFrame, second: pd.DataFrame, weight: float) -> pd.DataFrame:
    """Order by `weight` x first + (1 - `weight`) x second, standardised within a query; of the documents that both runs have."""
    runs = []
    for run in (first, second):
        scores = run.groupby("query_id", sort=False)["score"]
        runs.append(run.assign(score=(run["score"] - scores.transform("mean")) / scores.transform("std", ddof=0).replace(0, 1)))
    both = runs[0].merge(runs[1], on=["query_id", "doc_id"], suffixes=("", "_second"))
    return ranked(both.assign(score=weight * both["score"] + (1 - weight) * both["score_second"])[COLUMNS])


@step(version=1, form="run")
def z_scored(first: pd.DataFrame, second: pd.DataFrame, candidates: int, weight: float) -> pd.DataFrame:
    """Add the scores of two models: `z_scored_sum` of the first candidates of two runs."""
    return z_scored_sum(cut(first, candidates), cut(second, candidates), weight)


def _summed(runs: list[pd.DataFrame], depth: int) -> pd.DataFrame:
    """Order by the sum of the column `share` over both runs; a query that only one run has keeps its list."""
    both = pd.concat(runs, ignore_index=True)
    shared = both["query_id"].isin(runs[0]["query_id"]) & both["query_id"].isin(runs[1]["query_id"])
    both["score"] = both["share"].where(shared, both["score"])
    return ranked(both.groupby(["query_id", "doc_id"], sort=False)["score"].sum().reset_index(), depth)


@step(version=1, form="table")
def fusions(first: pd.DataFrame, second: pd.DataFrame, queries: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int,
            names: list[str], weight: float, depth: int, every_grade: bool | None = None) -> pd.DataFrame:
    """What two runs, cut at `depth`, give together for each judged query: the merge in both orders, reciprocal rank fusion and
    the weighted sum.

    The columns are method (`FIRST`, `SECOND`, `UNCUT`, `RRF`, `SUM`), query_id, and one for each measure. The values are those of
    the fused runs, which are cheap to make again and would take ten times the room.
    """
    runs = {FIRST: alternating(first, second, depth), SECOND: alternating(second, first, depth),
            UNCUT: alternating(first, second, 2 * depth),
            RRF: reciprocal_rank(first, second, depth), SUM: weighted_sum(first, second, weight, depth)}
    judged = measures.judged_queries(queries, qrels)
    parts = [measures.per_query(run, qrels, names, min_relevance, judged, bool(every_grade)).reset_index().assign(method=method)
             for method, run in runs.items()]
    return pd.concat(parts, ignore_index=True)[["method", "query_id", *names]]


@step(version=1, form="table")
def fusion_weight_grid(first: pd.DataFrame, second: pd.DataFrame, queries: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int,
                measure: str, weights: list[float], depth: int, every_grade: bool | None = None) -> pd.DataFrame:
    """The mean of a measure for each weight of the first run in the weighted sum: columns weight and the measure's name.

    Meant for development queries: the weight that is best on the test queries would flatter the sum.
    """
    judged = measures.judged_queries(queries, qrels)
    runs = (weighted_sum(first, second, weight, depth) for weight in weights)
    means = [measures.per_query(run, qrels, [measure], min_relevance, judged, bool(every_grade))[measure].mean() for run in runs]
    return pd.DataFrame({"weight": [float(weight) for weight in weights], measure: means})


def best_weight(table: pd.DataFrame, measure: str) -> float:
    """The weight of the highest mean; among equals the one closest to one half, then the smaller."""
    order = table.assign(_off=(table["weight"] - 0.5).abs()).sort_values([measure, "_off", "weight"],
                                                                         ascending=[False, True, True])
    return float(order["weight"].iloc[0])


# The consistency factor: how much of a first stage's list the candidates of another one hold (Zhan et al. 2020, equation 5).
#
#     C_f,n = mean over q of |D_f,q,n ∩ D_r,q| / |D_f,q,n|
#
# D_f,q,n are the first n documents of stage f, D_r,q all candidates of the reference: those that a re-ranker was trained on, in
# the study BM25's first thousand. 1 is no mismatch between what the re-ranker learned from and what it will read, 0 the largest.

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
