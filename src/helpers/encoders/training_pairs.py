"""Training pairs of a bi-encoder: (query, window, label), drawn from BM25's candidates (Steensland 2021, 4.1.2)."""

from pathlib import Path

import numpy as np
import pandas as pd

from helpers.data.runs import cut
from helpers.data.tokens import WindowTokens
from helpers.data.windows import doc_of
from helpers.steps import step


@step(version=1, form="table")
def training_pairs(run: pd.DataFrame, qrels: pd.DataFrame, store: Path, tokens: Path, candidates: int, min_relevance: int,
                   positives: int, negatives: int, seed: int) -> pd.DataFrame:
    """Draw labelled windows from the candidates of each query: columns query_id, window_id, label (0 or 1), grouped by query.

    As in the thesis, the candidates are the query's top documents by BM25, and a window is labelled 1 if its document is
    relevant, else 0. The thesis keeps every window; here some of each kind can be drawn instead. A query whose candidates hold no
    relevant document gives no pairs when pairs are drawn, and only negatives when all are kept.

    Args:
        run: the BM25 run of the training queries, of which the first `candidates` count (40 in the thesis).
        positives: windows drawn from the relevant candidates of a query, 0 for all.
        negatives: windows drawn from its other candidates, 0 for all.
        seed: of the draws; each query has a stream of its own, so that adding queries changes no other draw.
    """
    reader = WindowTokens(tokens, store)
    relevant = set(map(tuple, qrels.loc[qrels["relevance"] >= min_relevance, ["query_id", "doc_id"]].to_numpy()))
    rows: list[tuple[str, str, int]] = []
    for number, (query, group) in enumerate(cut(run, candidates).groupby("query_id", sort=False)):
        random = np.random.default_rng([seed, number])
        sides: tuple[list[str], list[str]] = ([], [])
        for doc_id in group["doc_id"]:
            sides[(query, doc_id) in relevant].extend(reader.windows_of(doc_id))
        if positives and not sides[1]:
            continue
        rows.extend((str(query), window, 1) for window in draw(sides[1], positives, random))
        rows.extend((str(query), window, 0) for window in draw(sides[0], negatives, random))
    return pd.DataFrame(rows, columns=["query_id", "window_id", "label"])


@step(version=1, form="table")
def denoised_pairs(scores: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int, negatives: int, seed: int) -> pd.DataFrame:
    """A relevant window of each query and negatives that a cross-encoder scores lower: columns query_id, window_id, label and
    teacher (its score), grouped by query.

    A candidate that it scores as high as the relevant window, or higher, may answer the query although nobody judged it, and is
    no negative (Qu et al. 2021, RocketQA). Their rule is a probability below .1; the level of a logit that was learned from a
    list is free, and only comparisons have a meaning. A query without a relevant window or without negatives gives no pairs.

    Args:
        scores: windows of the candidates, relevant ones among them, with their scores: a run.
        negatives: windows drawn from the lower ones, 0 for all.
        seed: of the draws; each query has a stream of its own.
    """
    relevant = set(map(tuple, qrels.loc[qrels["relevance"] >= min_relevance, ["query_id", "doc_id"]].to_numpy()))
    rows: list[tuple[str, str, int, float]] = []
    for number, (query, group) in enumerate(scores.groupby("query_id", sort=False)):
        random, teacher = np.random.default_rng([seed, number]), dict(zip(group["doc_id"], group["score"], strict=True))
        sides: tuple[list[str], list[str]] = ([], [])
        for window in teacher:
            sides[(query, doc_of(window)) in relevant].append(window)
        for positive in draw(sides[1], 1, random):
            lower = [window for window in sides[0] if teacher[window] < teacher[positive]]
            rows += [(str(query), window, int(window == positive), teacher[window])
                     for window in ([positive, *draw(lower, negatives, random)] if lower else [])]
    return pd.DataFrame(rows, columns=["query_id", "window_id", "label", "teacher"])


def draw(items: list[str], count: int, random: np.random.Generator) -> list[str]:
    """`count` of the items without replacement, in their order; all of them for 0 or if there are fewer."""
    if count == 0 or count >= len(items):
        return items
    return [items[i] for i in sorted(random.choice(len(items), size=count, replace=False))]
