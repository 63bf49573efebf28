"""duoBERT: from the probabilities that one document is more relevant than another to a score of each.

Nogueira et al. (2019, arXiv:1910.14424; with T5, Pradeep et al. 2021, arXiv:2101.05667); Steensland (2021, section 3.1.2).
A list of k documents asks for k (k - 1) inferences, one for each ordered pair.
"""

import functools
from collections.abc import Callable, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from helpers.data.runs import cut
from helpers.data.windows import WindowTokens, pair_ids, query_ids
from helpers.networks.backbone import Backbone
from helpers.networks.inference import load_scorer, probabilities
from helpers.registry import Registry
from helpers.steps import step

BETTER = 0.5  # a probability above it counts as a won comparison
DIGITS = 5  # of a kept probability
TIE = 1e-7  # what a rank before counts: it decides between equal scores alone


def won(wins: np.ndarray) -> float:
    """How many comparisons a document won."""
    return float((wins > BETTER).sum())


# what each makes of the probabilities of a document against the others that it was compared with
DUOS: Registry[Callable[[np.ndarray], float]] = Registry("aggregation of pairs", {
    "sum": np.sum, "binary": won, "min": np.min, "max": np.max, "sample": np.sum,  # the last over the `compared` alone
})


@step(version=1, form="table")
def duo_groups(groups: pd.DataFrame, temperature: float | None = None) -> pd.DataFrame:
    """Groups of a relevant text and others (`groups.labelled_groups`) as pairs of texts: for each query first the relevant one
    before each other (label 1), then after it (label 0). With a temperature come last the others before each other, for which the
    teacher says how likely the first is the more relevant one: a sigmoid of the difference of its scores over the temperature.
    Columns query_id, window_id, other_id, label, and teacher: this probability, 1 or 0 beside a relevant text; without a
    temperature 0."""
    rows: list[tuple[str, str, str, int, float]] = []
    for query, own in groups.groupby("query_id", sort=False):
        relevant, *others = own["window_id"]
        rows += [(str(query), relevant, other, 1, 1.0 if temperature else 0.0) for other in others]
        rows += [(str(query), other, relevant, 0, 0.0) for other in others]
        if temperature:
            scores = dict(zip(own["window_id"], own["teacher"], strict=True))
            rows += [(str(query), one, other, 0, float(expit((scores[one] - scores[other]) / temperature)))
                     for one, other in permutations(others, 2)]
    return pd.DataFrame(rows, columns=["query_id", "window_id", "other_id", "label", "teacher"])


@step(version=1, form="table", network=True)
def pair_probabilities(model: Path, run: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path, first: int,
                       max_length: int, query_length: int) -> pd.DataFrame:
    """The probability that one text is more relevant than another, for all ordered pairs of a query's `first` texts in the run:
    columns query_id, doc_id, other_id, probability. A text is read by its first window."""
    tokenizer, reader = Backbone("", str(model)).word_pieces(), WindowTokens(tokens, store)
    texts = dict(zip(queries["query_id"], query_ids(tokenizer, list(queries["text"]), query_length), strict=True))
    pairs = [(query, *pair) for query, own in cut(run, first).groupby("query_id", sort=False)
             for pair in permutations(own["doc_id"], 2)]
    inputs = (pair_ids(tokenizer, texts[query], max_length, *(reader[f"{doc_id}#0"] for doc_id in pair))
              for query, *pair in pairs)
    found = probabilities(load_scorer(model), inputs, progress="pairs scored").astype(float).round(DIGITS)
    return pd.DataFrame(pairs, columns=["query_id", "doc_id", "other_id"]).assign(probability=found)


@functools.lru_cache
def compared(documents: int, how: str, sample: int, seed: int = 1) -> list[tuple[int, int]]:
    """The ordered pairs (i, j) of so many documents that are asked for: all, or with `sample` each document against so many
    others, drawn without replacement."""
    random = np.random.default_rng(seed)
    others = [[j for j in range(documents) if j != i] for i in range(documents)]
    if how == "sample":
        others = [sorted(random.permutation(row)[:sample].tolist()) for row in others]
    return [(i, j) for i, row in enumerate(others) for j in row]


def duo_scores(probabilities: np.ndarray, how: str) -> list[float]:
    """The score of each document from `probabilities` (k, k): in row i, column j that i is more relevant than j; NaN where the
    pair was not compared. A document that was compared with none scores 0; BadInput for an unknown name."""
    wins = [row[~np.isnan(row)] for row in probabilities]
    return [float(DUOS[how](row)) if len(row) else 0.0 for row in wins]


def order_by(scores: Sequence[float] | np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """The places of a ranking of so many documents, its first ones by these scores, a tie in the order that it had, the others as
    before; and the scores in that order, those of the others below all."""
    order = np.concatenate([np.argsort(-np.asarray(scores), kind="stable"), np.arange(len(scores), length)])
    below = min([0.0, *scores]) - 1.0 - np.arange(length - len(scores))
    return order, np.concatenate([scores, below])[order]


def comparisons(pairs: pd.DataFrame, run: pd.DataFrame, first: int) -> dict[Any, np.ndarray]:
    """By query, the `pair_probabilities` of its first documents in the run, as `duo_scores` reads them; NaN for others."""
    places = {query: {doc_id: place for place, doc_id in enumerate(own.head(first))}
              for query, own in run.groupby("query_id", sort=False)["doc_id"]}
    found = {query: np.full((len(own), len(own)), np.nan) for query, own in places.items()}
    columns = (pairs[name].tolist() for name in ("query_id", "doc_id", "other_id", "probability"))
    for query, one, other, value in zip(*columns, strict=True):
        own = places[query]
        if one in own and other in own:
            found[query][own[one], own[other]] = value
    return found


@step(version=1, form="run")
def in_pairs(pairs: pd.DataFrame, run: pd.DataFrame, how: str, first: int, sample: int) -> pd.DataFrame:
    """A run whose `first` documents of each query are ordered by how they compare; ValueError for a pair that is wanted and was
    not compared.

    Args:
        pairs: the `pair_probabilities` of so many documents of the run, or of more.
        how: one of `DUOS`.
        sample: how many others each is compared with, for `sample` alone.
    """
    rows, values, found = [], [], comparisons(pairs, run, first)
    for query, own in run.groupby("query_id", sort=False).indices.items():
        size = len(own[:first])
        one, other = np.array(compared(size, how, sample), dtype=int).reshape(-1, 2).T
        wins = np.full((size, size), np.nan)
        wins[one, other] = found[query][one, other]
        if np.isnan(wins[one, other]).any():
            raise ValueError(f"query {query!r}: not all of these pairs were compared")
        order, scores = order_by(np.array(duo_scores(wins, how)) - TIE * np.arange(size), len(own))
        rows.append(own[order])
        values.append(scores)
    return run.iloc[np.concatenate(rows)].assign(score=np.concatenate(values)).reset_index(drop=True)
