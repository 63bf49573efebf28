"""Judgments that were pooled: what a measure rests on where some texts were judged irrelevant, and most by nobody.

A text without a judgment counts as irrelevant, although nobody looked; a system that finds other texts than those in the pool is
punished for it (Buckley & Voorhees 2004). Three measures of ir_measures say how much:

| measure | what |
|---|---|
| `Judged@10` | the share of the first ten that were judged |
| `nDCG(judged_only=True)@10` | nDCG of the condensed list: texts without a judgment are taken out first (Sakai 2007) |
| `Bpref` | how rarely judged irrelevant texts stand above relevant ones; texts without a judgment do not count |
"""

import pandas as pd

SHARE, BPREF = "Judged@10", "Bpref"
ENOUGH = 0.95  # of the first ten: below, the condensed list is shown


def are_pooled(qrels: pd.DataFrame) -> bool:
    """Whether texts were judged irrelevant, too: relevant ones alone are named, not pooled."""
    return bool((qrels["relevance"] <= 0).any())


def are_graded(qrels: pd.DataFrame, every_grade: bool | None = True) -> bool:
    """Whether the judgments have grades that gain, as a TREC track's: reciprocal rank alone says too little of them."""
    return bool(every_grade or are_pooled(qrels)) and bool((qrels["relevance"] > 1).any())


def condensed(measure: str) -> str:
    """The same measure of the condensed list, as ir_measures writes it: `nDCG(judged_only=True)@10`."""
    name, _, cutoff = measure.partition("@")
    return f"{name}(judged_only=True)" + (f"@{cutoff}" if cutoff else "")


def gaining(qrels: pd.DataFrame, min_relevance: int) -> pd.DataFrame:
    """The judgments as graded measures see them by the Almanac's rule: where they were not pooled, only what is relevant gains.

    A lower grade that was only given to texts which somebody thought of, such as the sibling articles of the Almanac's ordinary
    queries, favours the systems that find just these. Of other collections every grade gains (`Collection.every_grade_gains`).
    """
    return qrels if are_pooled(qrels) else qrels[qrels["relevance"] >= min_relevance]


def with_judgments(measures: list[str], qrels: pd.DataFrame) -> list[str]:
    """The measures, and for pooled judgments what says how far they rest on them."""
    if not are_pooled(qrels):
        return measures
    return list(dict.fromkeys([*measures, SHARE, *(condensed(name) for name in measures if name.startswith("nDCG@")), BPREF]))
