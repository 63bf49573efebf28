"""Measures: ir_measures only, per query, with the grade that counts as relevant written into the measure.

    per_query(run, qrels, ["RR@10", "R@20"], min_relevance=2)     # a column a measure, a row a query

`min_relevance` becomes ir_measures' `rel`: TREC DL's passage judgments count grades 2 and 3 as relevant in binary measures
(Craswell et al. 2020). nDCG takes the grades as they are; by the Almanac's own rule, which its collection declares, lower grades
gain nothing (`pools.gaining`).
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pandas as pd

from helpers.data.runs import cut, ranks
from helpers.evaluation.pools import gaining
from helpers.steps import step

if TYPE_CHECKING:
    from ir_measures import Measure  # at run time where measures are taken: a machine elsewhere computes scores without it


def parse(name: str, min_relevance: int = 1) -> "Measure":
    """The measure of a name such as `RR@10`, with `rel=min_relevance` if binary; ValueError for one that ir_measures lacks."""
    import ir_measures

    try:
        measure = ir_measures.parse_measure(name)
    except (NameError, ValueError) as error:
        raise ValueError(f"measure {name!r}: not one of ir_measures'") from error
    return measure(rel=min_relevance) if "rel" in measure.SUPPORTED_PARAMS and min_relevance != 1 else measure


def per_query(run: pd.DataFrame, qrels: pd.DataFrame, names: list[str], min_relevance: int = 1,
              queries: list[str] | None = None, every_grade: bool = True) -> pd.DataFrame:
    """The value of each measure for each query, a column a measure; ValueError if a query to report has no judgments at all.

    Args:
        run: a ranked run (`runs.ranked`): columns query_id, doc_id, score, best first.
        names: measures, as ir_measures writes them.
        queries: the queries to report, in this order; by default those of the judgments. One without any hit scores 0.
        every_grade: whether every grade gains in nDCG; if not, those from `min_relevance`, unless the judgments were pooled.
    """
    import ir_measures

    reported = list(dict.fromkeys(qrels["query_id"])) if queries is None else list(queries)
    if unjudged := set(reported) - set(qrels["query_id"]):
        raise ValueError(f"{len(unjudged)} queries have no judgments, {sorted(unjudged)[0]!r} among them")
    judged = qrels[qrels["query_id"].isin(set(reported))]
    judged = judged if every_grade else gaining(judged, min_relevance)
    measures = {name: parse(name, min_relevance) for name in names}
    seen = run if (depth := deepest(measures.values())) is None else cut(run, depth)
    # as 0: for a query that has only grades below 0, trec_eval writes outside its memory
    grades = by_document(judged.assign(relevance=judged["relevance"].clip(lower=0)), "relevance")
    # whatever a provider does with ties, these scores keep the run's own order
    places = by_document(seen.assign(score=-ranks(seen).astype(float)), "score")
    values = {(metric.measure, metric.query_id): metric.value
              for metric in ir_measures.iter_calc(set(measures.values()), grades, places)}
    return pd.DataFrame({name: [values.get((measure, query), 0.0) for query in reported] for name, measure in measures.items()},
                        index=pd.Index(reported, name="query_id"), columns=names, dtype=float)


def deepest(measures: "Iterable[Measure]") -> int | None:
    """How many documents of a query the measures look at; None for all of them."""
    cutoffs: list[Any] = [None if one.params.get("judged_only") else one.params.get("cutoff") for one in measures]
    return None if None in cutoffs else max(cutoffs, default=0)


def by_document(frame: pd.DataFrame, column: str) -> dict[str, dict[str, Any]]:
    """A column as ir_measures' providers want it, made once for all of them: by query, then by document."""
    values: dict[str, dict[str, Any]] = {}
    for query, document, value in zip(*(frame[name].tolist() for name in ("query_id", "doc_id", column)), strict=True):
        values.setdefault(query, {})[document] = value
    return values


def judged_queries(queries: pd.DataFrame, qrels: pd.DataFrame) -> list[str]:
    """The ids of the queries that have judgments, those that can be measured, in their order."""
    return queries.loc[queries["query_id"].isin(qrels["query_id"]), "query_id"].tolist()


def first_relevant_rank(run: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int, queries: list[str]) -> pd.Series:
    """For each query the rank of its best relevant document in the run; missing where there is none."""
    relevant = qrels.loc[qrels["relevance"] >= min_relevance, ["query_id", "doc_id"]]
    best = run.assign(rank=ranks(run)).merge(relevant, on=["query_id", "doc_id"]).groupby("query_id")["rank"].min()
    return best.reindex(queries)


@step(version=1, form="table")
def run_measures(run: pd.DataFrame, queries: pd.DataFrame, qrels: pd.DataFrame, measures: list,
                 min_relevance: int, every_grade: bool | None = None) -> pd.DataFrame:
    """The measures of a run for each judged query: column query_id, and a column a measure; `every_grade` is the collection's.

    A small table that stands for a run of a thousand passages a query, which is not kept with the book.
    """
    judged = judged_queries(queries, qrels)
    return per_query(run, qrels, measures, min_relevance, judged, bool(every_grade)).reset_index(names="query_id")
