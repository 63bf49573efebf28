"""Does a ranker know which articles it was trained on? The scores of texts that answer nothing, by the split of their article.

A candidate that is not judged for a query is about as irrelevant in a train article as in one of the split that holds neither
training texts nor the query's answer (dev articles for test queries, test articles for dev queries). A ranker that puts the one
above the other has learned identities; a ranker without training shows what the texts themselves make of it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

NEITHER = {"test": "dev", "dev": "test"}  # by the queries' split: the one with neither training texts nor answers


@dataclass(frozen=True)
class IdentityGap:
    """Scores of unjudged candidates; not a number where there are none of a kind."""

    seen: float  # the mean of those from train articles
    neither: float  # the mean of those from the split that holds neither training texts nor answers
    gap: float  # their difference within queries, in standard deviations of a query's unjudged candidates
    texts: tuple[int, int]  # how many of each there are


def identity_gap(scores: pd.DataFrame, qrels: pd.DataFrame, split_of: Callable[[str], str], queries_of: str) -> IdentityGap:
    """Compare a ranker's scores of unjudged candidates from the two kinds of article.

    Args:
        scores: columns query_id, doc_id, score: the candidates that were scored, all of them by the same ranker.
        qrels: the judgments; whatever was judged, at any grade, is left out.
        split_of: the split of a text's article; `queries_of` is that of the queries, test or dev.
    """
    judged = pd.MultiIndex.from_frame(qrels[["query_id", "doc_id"]])
    rows = scores[~pd.MultiIndex.from_frame(scores[["query_id", "doc_id"]]).isin(judged)]
    split = split_by_text(rows["doc_id"], split_of)
    centred = rows["score"] - rows.groupby("query_id")["score"].transform("mean")
    sides = [split == "train", split == NEITHER[queries_of]]
    spread = float((centred**2).mean()) ** 0.5
    means = [float(rows.loc[side, "score"].mean()) for side in sides]
    lead = float(centred[sides[0]].mean() - centred[sides[1]].mean())
    return IdentityGap(means[0], means[1], lead / spread if spread else 0.0, (int(sides[0].sum()), int(sides[1].sum())))


def without_rivals(run: pd.DataFrame, qrels: pd.DataFrame, split_of: Callable[[str], str], min_relevance: int) -> pd.DataFrame:
    """The run without texts of train articles that do not answer their query: none that is left was seen."""
    relevant = pd.MultiIndex.from_frame(qrels.loc[qrels["relevance"] >= min_relevance, ["query_id", "doc_id"]])
    answers = pd.MultiIndex.from_frame(run[["query_id", "doc_id"]]).isin(relevant)
    return run[answers | (split_by_text(run["doc_id"], split_of) != "train")].reset_index(drop=True)


def split_by_text(doc_ids: pd.Series, split_of: Callable[[str], str]) -> np.ndarray:
    """The split of each text's article; a text that many queries have is asked for once."""
    places, texts = pd.factorize(doc_ids)
    return np.array([split_of(text) for text in texts], dtype=object)[places]
