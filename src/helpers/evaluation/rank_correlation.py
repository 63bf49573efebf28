"""Spearman's rank correlation of several systems with the truth over the same pairs, with intervals and paired tests."""

from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from helpers.evaluation.significance import SEED
from helpers.steps import step

RESAMPLES = 1_000  # each ranks all pairs anew
EXCHANGES = 10_000  # a multiple of BATCH
BATCH = 1_000  # rows of a random array at once


@step(version=1, form="json")
def rank_correlations(predicted: dict, truth: pd.DataFrame) -> dict[str, Any]:
    """Spearman's rho of several systems over the same pairs, and their paired comparisons.

    ValueError if the systems have different numbers of seeds, or a seed's frames do not cover all pairs once.

    Args:
        predicted: for each system its seeds; of each seed, one or more frames (the folds of a cross-validation) with columns
            pair_id, predicted, which together cover all pairs.
        truth: columns pair_id, score.

    Returns:
        `pairs`; `systems`: for each its mean rho over `seeds`, with the 95 % interval `low`, `high`; `against`: for each two
        systems `difference`, `low`, `high`, `p_t`, `p_permutation` (see `compared`).
    """
    known = truth.set_index("pair_id")["score"]
    columns = {name: [covering(frames, known.index) for frames in seeds] for name, seeds in predicted.items()}
    if len({len(seeds) for seeds in columns.values()}) > 1:
        raise ValueError("all systems need the same number of seeds")
    true = known.to_numpy(dtype=float)
    draws = np.random.default_rng(SEED).integers(len(true), size=(RESAMPLES, len(true)))
    samples = {name: resampled(seeds, true, draws) for name, seeds in columns.items()}
    result: dict[str, Any] = {"pairs": len(true), "systems": {}, "against": {}}
    for name, seeds in columns.items():
        rhos = [rho(column, true) for column in seeds]
        low, high = np.quantile(samples[name], [0.025, 0.975])
        result["systems"][name] = {"mean": float(np.mean(rhos)), "low": float(low), "high": float(high), "seeds": rhos}
    for first, second in permutations(columns, 2):
        result["against"].setdefault(first, {})[second] = compared(columns[first], columns[second], true,
                                                                   samples[first] - samples[second])
    return result


def covering(frames: list[pd.DataFrame], pairs: pd.Index) -> np.ndarray:
    """The predictions of the frames in the order of the pairs, (pairs,)."""
    joined = pd.concat(frames).set_index("pair_id")["predicted"]
    if joined.index.has_duplicates or set(joined.index) != set(pairs):
        raise ValueError("the predictions of a seed must cover every pair once")
    return joined.loc[pairs].to_numpy(dtype=float)


def rho(predicted: np.ndarray, truth: np.ndarray) -> float:
    """Spearman's rho; 0 where all predictions are equal."""
    return float(correlation(stats.rankdata(predicted)[None], stats.rankdata(truth)[None])[0])


def correlation(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Pearson's correlation of each row of one array with the same row of the other, or with its only one; 0 where one of them is
    constant."""
    first, second = (rows - rows.mean(axis=1, keepdims=True) for rows in (first, second))
    size = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    return np.divide((first * second).sum(axis=1), size, out=np.zeros(len(size)), where=size > 0)


def resampled(seeds: list[np.ndarray], truth: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """The mean rho over seeds of each bootstrap sample of pairs, (samples,)."""
    true = stats.rankdata(truth[draws], axis=1)
    return np.mean([correlation(stats.rankdata(column[draws], axis=1), true) for column in seeds], axis=0)


def compared(first: list[np.ndarray], second: list[np.ndarray], truth: np.ndarray, differences: np.ndarray) -> dict[str, float]:
    """Two systems on the same pairs.

    The interval is the bootstrap's; `p_t` is that of the difference over the bootstrap's standard error, two-sided, and stands
    where other tables have the paired t-test; `p_permutation` is that of `permutation_p`.
    """
    difference = float(np.mean([rho(a, truth) - rho(b, truth) for a, b in zip(first, second, strict=True)]))
    spread = float(np.std(differences, ddof=1))
    low, high = np.quantile(differences, [0.025, 0.975])
    return {"difference": difference, "low": float(low), "high": float(high),
            "p_t": float(2 * stats.norm.sf(abs(difference) / spread)) if spread else 1.0,
            "p_permutation": permutation_p(first, second, truth)}


def permutation_p(first: list[np.ndarray], second: list[np.ndarray], truth: np.ndarray) -> float:
    """Two-sided p of the permutation test that exchanges the two systems' ranks of a pair, in all seeds together.

    If both are equally good, it makes no difference whose rank a pair has.
    """
    ranks = [(stats.rankdata(a), stats.rankdata(b)) for a, b in zip(first, second, strict=True)]
    true, generator = stats.rankdata(truth)[None], np.random.default_rng(SEED)

    def difference(flipped: np.ndarray) -> np.ndarray:
        return np.mean([correlation(np.where(flipped, b, a), true) - correlation(np.where(flipped, a, b), true)
                        for a, b in ranks], axis=0)

    observed, beyond = abs(difference(np.zeros(true.shape, bool))[0]), 0
    for _ in range(EXCHANGES // BATCH):
        flipped = generator.random((BATCH, len(truth))) < 0.5
        beyond += int((np.abs(difference(flipped)) >= observed - 1e-12).sum())
    return (beyond + 1) / (EXCHANGES + 1)
