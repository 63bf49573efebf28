"""Does a ranker know which articles it was trained on? The scores of texts that answer nothing, by the split of their article.

A candidate that is not judged for a query is about as irrelevant in a train article as in one of the split that holds neither
training texts nor the query's answer (dev articles for test queries, test articles for dev queries). A ranker that puts the one
above the other has learned identities; a ranker without training shows what the texts themselves make of it. Topics
are judged in articles of all splits.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers.evaluation.significance import RESAMPLES, SEED, Interval, sample_counts

# by the queries' split: those with neither training texts nor answers; topics are answered by articles of all
NEITHER = {"test": ("dev",), "dev": ("test",), "topics": ("dev", "test")}


@dataclass(frozen=True)
class IdentityGap:
    """Scores of unjudged candidates; not a number where there are none of a kind."""

    seen: float  # the mean of those from train articles
    neither: float  # the mean of those from the split that holds neither training texts nor answers
    gap: float  # their difference within queries, in standard deviations of a query's unjudged candidates


def identity_gap(parts: pd.DataFrame) -> IdentityGap:
    """Compare a ranker's scores of unjudged candidates from the two kinds of article; `parts` are those of `by_query`."""
    sums = parts.sum()
    seen, neither = (sums[f"{name}_score"] / sums[name] if sums[name] else np.nan for name in ("seen", "neither"))
    return IdentityGap(seen, neither, float(gaps(parts, np.ones((1, len(parts))))[0]))


def gap_excess(ours: pd.DataFrame, theirs: pd.DataFrame) -> Interval:
    """How much wider the gap of a ranker is than that of another one, which nothing was trained for, on the same queries: in
    standard deviations, with the 95 % interval of a bootstrap over queries. Both are those of `by_query`."""
    shared = ours.index.intersection(theirs.index)
    counts = np.vstack([np.ones(len(shared)), sample_counts(len(shared), RESAMPLES, SEED)])
    mean, *drawn = gaps(ours.loc[shared], counts) - gaps(theirs.loc[shared], counts)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(mean), float(low), float(high))


def by_query(scores: pd.DataFrame, qrels: pd.DataFrame, split_of: Callable[[str], str], queries_of: str) -> pd.DataFrame:
    """The sums that a gap is made of, a row a query: of unjudged candidates of either kind their number, their scores, and these
    less the query's mean; and of all unjudged candidates the number and the squares.

    Args:
        scores: columns query_id, doc_id, score: the candidates that were scored, all of them by the same ranker.
        qrels: the judgments; whatever was judged, at any grade, is left out.
        split_of: the split of a text's article; `queries_of` is that of the queries, test or dev.
    """
    judged = pd.MultiIndex.from_frame(qrels[["query_id", "doc_id"]])
    rows = scores[~pd.MultiIndex.from_frame(scores[["query_id", "doc_id"]]).isin(judged)]
    split = rows["doc_id"].map(split_of)
    centred = rows["score"] - rows.groupby("query_id")["score"].transform("mean")
    columns = {"all": np.ones(len(rows)), "squares": centred**2}
    for name, side in (("seen", split == "train"), ("neither", split.isin(NEITHER[queries_of]))):
        columns |= {name: side.astype(float), f"{name}_score": rows["score"].where(side, 0.0),
                    f"{name}_lead": centred.where(side, 0.0)}
    return pd.DataFrame(columns, index=rows.index).groupby(rows["query_id"], sort=False).sum()


def gaps(parts: pd.DataFrame, counts: np.ndarray) -> np.ndarray:
    """The gap in samples that have each query so many times, (samples, queries) to (samples,)."""
    sums = {name: counts @ parts[name].to_numpy() for name in parts}
    with np.errstate(invalid="ignore", divide="ignore"):
        lead = sums["seen_lead"] / sums["seen"] - sums["neither_lead"] / sums["neither"]
        spread = np.sqrt(sums["squares"] / sums["all"])
        return np.where(spread > 0, lead / spread, 0.0)


def without_rivals(run: pd.DataFrame, qrels: pd.DataFrame, split_of: Callable[[str], str], min_relevance: int) -> pd.DataFrame:
    """The run without texts of train articles that do not answer their query: none that is left was seen."""
    relevant = pd.MultiIndex.from_frame(qrels.loc[qrels["relevance"] >= min_relevance, ["query_id", "doc_id"]])
    answers = pd.MultiIndex.from_frame(run[["query_id", "doc_id"]]).isin(relevant)
    return run[answers | (run["doc_id"].map(split_of) != "train")].reset_index(drop=True)
