"""Intervals and tests over queries: bootstrap, the studies' paired t-test, seeded permutation tests."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

RESAMPLES = 10_000
PERMUTATIONS = 100_000
SEED = 20210610


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Paired:
    """A paired comparison: the mean difference with its interval, and two p-values."""

    difference: Interval
    p_t: float
    p_permutation: float
    queries: int
    unit: str = "queries"  # what the pairs are


@dataclass(frozen=True)
class Unpaired:
    """A comparison of two groups of queries: the difference of their means with its interval, p, and the groups' sizes."""

    difference: Interval
    p_permutation: float
    sizes: tuple[int, int]
    unit: str = "queries"  # what the groups consist of

    @property
    def queries(self) -> str:
        """The sizes in words, `202 against 184`."""
        return "{} against {}".format(*self.sizes)


def mean_interval(values: ArrayLike, seed: int = SEED) -> Interval:
    """The mean and its 95 % interval by bootstrap over queries (percentile; Efron & Tibshirani 1993, chapter 13).

    Raises:
        ValueError: for no values.
    """
    data = np.asarray(values, dtype=float)
    if data.size == 0:
        raise ValueError("no values to average")
    mean = float(data.mean())
    if data.size == 1 or np.ptp(data) == 0:
        return Interval(mean, mean, mean)
    found = stats.bootstrap((data,), np.mean, n_resamples=RESAMPLES, method="percentile",
                            rng=np.random.default_rng(seed), vectorized=True).confidence_interval
    return Interval(mean, float(found.low), float(found.high))


def paired(values: ArrayLike, baseline: ArrayLike, seed: int = SEED) -> Paired:
    """Compare two systems on the same queries, in the same order.

    The t-test is Steensland's (section 4.3.2) and two-sided; the permutation test flips the signs of the differences
    100,000 times and assumes nothing about their distribution (Smucker et al. 2007). Equal systems have p = 1.

    Raises:
        ValueError: if the two have different numbers of queries, or fewer than two.
    """
    ours, theirs = np.asarray(values, dtype=float), np.asarray(baseline, dtype=float)
    if ours.shape != theirs.shape or ours.size < 2:
        raise ValueError(f"paired values wanted, at least two: got {ours.size} and {theirs.size}")
    differences = ours - theirs
    interval = mean_interval(differences, seed)
    if np.ptp(differences) == 0:
        return Paired(interval, 1.0 if differences[0] == 0 else 0.0, permutation_p(differences, seed), ours.size)
    p_t = float(stats.ttest_rel(ours, theirs).pvalue)
    return Paired(interval, p_t, permutation_p(differences, seed), ours.size)


def permutation_p(differences: np.ndarray, seed: int = SEED) -> float:
    """Two-sided p of the sign-flip permutation test, exact if there are at most 16 non-zero differences."""
    moved = differences[differences != 0]  # a zero has no sign to flip
    if moved.size < 2:
        return 1.0  # either sign of a single difference is as extreme
    return float(stats.permutation_test(
        (moved,), np.mean, permutation_type="samples", n_resamples=PERMUTATIONS, vectorized=True, batch=5_000,
        rng=np.random.default_rng(seed)).pvalue)


def unpaired(values: ArrayLike, others: ArrayLike, seed: int = SEED) -> Unpaired:
    """Compare two groups of queries, such as the questions for a location and those for an entity.

    The interval is a bootstrap's that resamples each group by itself; the permutation test, two-sided, draws anew which query
    belongs to which group (Efron & Tibshirani 1993, sections 8.3 and 15.2).

    Raises:
        ValueError: for fewer than two queries in a group.
    """
    first, second = np.asarray(values, dtype=float), np.asarray(others, dtype=float)
    if min(first.size, second.size) < 2:
        raise ValueError(f"two groups of at least two values wanted: got {first.size} and {second.size}")
    mean, sizes = float(first.mean() - second.mean()), (first.size, second.size)
    if np.ptp(first) == 0 and np.ptp(second) == 0:
        interval = Interval(mean, mean, mean)
    else:
        found = stats.bootstrap((first, second), _difference, n_resamples=RESAMPLES, method="percentile", vectorized=True,
                                rng=np.random.default_rng(seed)).confidence_interval
        interval = Interval(mean, float(found.low), float(found.high))
    p = stats.permutation_test((first, second), _difference, permutation_type="independent", n_resamples=PERMUTATIONS,
                               vectorized=True, batch=5_000, rng=np.random.default_rng(seed)).pvalue
    return Unpaired(interval, float(p), sizes)


def _difference(first: np.ndarray, second: np.ndarray, axis: int = -1) -> np.ndarray:
    return first.mean(axis=axis) - second.mean(axis=axis)
