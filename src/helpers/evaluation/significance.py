"""Comparisons of two systems: differences with intervals, the studies' paired t-test, permutation tests, what could
be seen; and of all pairs of systems, for a matrix.

A difference of means has noise of two kinds. Other queries would change it: that is resampled. Another training of the same
recipe would change it, too: `TrainingNoise` says by how much, see `helpers.evaluation.hierarchical`.

The random draws for each number of queries and the results for the same arrays are kept: a table, a verdict and a sentence of a
page may rest on one comparison, and all comparisons see the same draws.
"""

import functools
import math
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special  # scipy.stats takes a third of a second, on every page

P = ParamSpec("P")
T = TypeVar("T")
SEED = 20210610
BLOCK = 2_000  # rows of a random array that are floating-point numbers at one time


@functools.lru_cache(maxsize=16)
def student(freedom: float, size: int, seed: int) -> np.ndarray:
    """Draws of Student's t, evenly spread over its distribution and in random order, (size,)."""
    return special.stdtrit(freedom, (np.random.default_rng([seed, 1]).permutation(size) + 0.5) / size)


@functools.lru_cache(maxsize=4)
def sample_counts(queries: int, resamples: int, seed: int) -> np.ndarray:
    """How often each bootstrap sample, of as many queries, has each query: (resamples, queries)."""
    rng, counts = np.random.default_rng(seed), np.empty((resamples, queries), np.uint8)
    for start in range(0, resamples, BLOCK):
        rows = min(BLOCK, resamples - start)
        drawn = rng.integers(queries, size=(rows, queries)) + queries * np.arange(rows)[:, None]
        counts[start:start + rows] = np.bincount(drawn.ravel(), minlength=rows * queries).reshape(rows, queries)
    return counts


@functools.lru_cache(maxsize=4)
def sign_choices(queries: int, permutations: int) -> np.ndarray:
    """Random signs, (permutations, queries)."""
    return np.random.default_rng(SEED).integers(0, 2, (permutations, queries), dtype=np.int8) * np.int8(2) - np.int8(1)


@functools.lru_cache(maxsize=4)
def first_groups(queries: int, first: int, permutations: int) -> np.ndarray:
    """Which queries a random division puts into the first group, of so many: ones and zeros, (permutations, queries)."""
    rows = np.broadcast_to((np.arange(queries) < first).astype(np.int8), (permutations, queries))
    return np.random.default_rng(SEED).permuted(rows, axis=1)


def remembered(function: Callable[P, T]) -> Callable[P, T]:
    """The same function, which computes its result once for the same arrays and settings; nobody may change that result."""
    kept: dict[bytes, T] = {}

    @functools.wraps(function)
    def once(*arguments: P.args, **settings: P.kwargs) -> T:
        key = pickle.dumps((arguments, settings))
        if key not in kept:
            kept[key] = function(*arguments, **settings)
        return kept[key]

    return once


RESAMPLES = 10_000
PERMUTATIONS = 20_000
EXACT = 16  # non-zero differences up to which every choice of signs is counted
TINY = 1e-12  # what is nearer than this is equal: the rest is rounding
POWER = 0.8


@dataclass(frozen=True)
class Interval:
    """A mean with its interval, of 95 % unless it says otherwise."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class TrainingNoise:
    """What other trainings of the same recipes would change in a difference of two means."""

    variance: float = 0.0  # of the difference, between trainings
    freedom: float = math.inf  # the degrees of freedom that it was estimated with; infinite if it is known
    assumption: str = ""  # in words, what was assumed of it; empty if everything was measured


QUIET = TrainingNoise()  # of two systems that nothing random was trained for


@dataclass(frozen=True)
class Paired:
    """A comparison of two systems on the same queries, or of two groups of queries."""

    difference: Interval  # of the means, with its 95 % interval
    narrow: Interval  # the same with the 90 % interval, which two one-sided tests at .05 each look at
    p_t: float  # of the paired t-test over queries, as the studies have it: it sees no noise of training
    p_permutation: float  # of the permutation test, with the noise of training
    queries: tuple[int, ...]  # how many pairs, or how many in either group
    error: float  # standard error of the difference, over queries and trainings
    unit: str = "queries"  # what the pairs are
    noise: TrainingNoise = QUIET  # of training, as it was taken into account

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the error, which queries and trainings share by their parts of its variance (Welch 1947)."""
        trainings = self.noise.variance / self.error**2 if self.error else 0.0
        return 1 / ((1 - trainings) ** 2 / (sum(self.queries) - len(self.queries)) + trainings**2 / self.noise.freedom)

    @property
    def detectable(self) -> float:
        """The minimum detectable effect: the true difference that is significant, at .05 and two-sided, with a power of 80 %.

        It is what a difference must exceed to be significant, half the width of the 95 % interval, and the .8 quantile of the
        error. With the queries' noise alone that is (z of .975 + z of .8) standard errors; with few trainings both are larger.
        """
        return (self.difference.high - self.difference.low) / 2 + float(special.stdtrit(self.freedom, POWER)) * self.error


@remembered
def mean_interval(values: ArrayLike) -> Interval:
    """Mean and 95 % interval by bootstrap over queries (percentile; Efron & Tibshirani 1993, chapter 13); ValueError for none."""
    data = np.asarray(values, dtype=float)
    if data.size == 0:
        raise ValueError("no values to average")
    return mean_intervals(data[:, None])[0]


def mean_intervals(values: np.ndarray) -> list[Interval]:
    """`mean_interval` of every column of a table, (queries, columns); all see the same samples."""
    means = values.mean(axis=0)
    flat = np.ptp(values, axis=0) == 0
    lows, highs = np.quantile(resampled_means(values), [0.025, 0.975], axis=0)
    lows, highs = np.where(flat, means, np.minimum(lows, means)), np.where(flat, means, np.maximum(highs, means))
    return [Interval(*own) for own in zip(means.tolist(), lows.tolist(), highs.tolist(), strict=True)]


@remembered
def paired(values: ArrayLike, baseline: ArrayLike, noise: TrainingNoise = QUIET) -> Paired:
    """Compare two systems on the same queries, in the same order; of several seeds each query has the mean.

    The t-test is Steensland's (section 4.3.2) and two-sided. Intervals are percentiles of a hierarchical bootstrap: each resample
    draws what the trainings change, then queries with replacement. The permutation test flips the signs of the differences, which
    assumes nothing about their distribution (Smucker et al. 2007), and adds to each the trainings' noise: p is the share of a
    world without a difference that lies as far from zero. Without noise of training it is the plain sign-flip test, exact for at
    most 16 differences. Equal systems have p = 1. ValueError for different numbers of queries, or fewer than two.
    """
    ours, theirs = np.asarray(values, dtype=float), np.asarray(baseline, dtype=float)
    if ours.shape != theirs.shape or ours.size < 2:
        raise ValueError(f"paired values wanted, at least two: got {ours.size} and {theirs.size}")
    moved = ours - theirs
    mean, flat = float(moved.mean()), bool(np.ptp(moved) < TINY)
    whole, narrow = intervals(mean, bootstrap_draws(moved[:, None], noise)[:, 0])
    error = math.sqrt(float(moved.var(ddof=1)) / moved.size + noise.variance)
    t = mean / math.sqrt(float(moved.var(ddof=1)) / moved.size) if not flat else 0.0 if abs(mean) < TINY else math.inf
    p_t = 2 * float(special.stdtr(moved.size - 1, -abs(t)))
    return Paired(whole, narrow, p_t, float(permutation_ps(moved[:, None], noise)[0]), (ours.size,), error, noise=noise)


def bootstrap_draws(moved: np.ndarray, noise: TrainingNoise | Sequence[TrainingNoise] = QUIET) -> np.ndarray:
    """How far the mean of each column of differences, (queries, pairs), lies from its own in samples of a hierarchical bootstrap,
    (resamples, pairs); the noise of training is one for all pairs, or one for each.

    Queries' part is widened by n / (n - 1), since a sample scatters too little.
    """
    centred, queries = moved - moved.mean(axis=0), len(moved)
    return math.sqrt(queries / (queries - 1)) * resampled_means(centred) + training_draws(noise, moved.shape[1], RESAMPLES)


def intervals(mean: float, draws: np.ndarray) -> tuple[Interval, Interval]:
    """The 95 % and the 90 % interval of a mean whose draws scatter round zero."""
    low, low90, high90, high = (mean + np.quantile(draws, [0.025, 0.05, 0.95, 0.975])).tolist()
    return Interval(mean, min(low, mean), max(high, mean)), Interval(mean, min(low90, mean), max(high90, mean))


def permutation_ps(moved: np.ndarray, noise: TrainingNoise | Sequence[TrainingNoise] = QUIET) -> np.ndarray:
    """The two-sided sign-flip test of every column of differences, (queries, pairs), at once: all see the same signs. The noise
    of training is one for all pairs, or one for each.

    It is exact for a pair of at most 16 differences that are not zero, if there is no noise of training.
    """
    noises = [noise] * moved.shape[1] if isinstance(noise, TrainingNoise) else list(noise)
    observed, p = np.abs(moved.mean(axis=0)) - TINY, np.ones(moved.shape[1])
    few = [n for n, own in enumerate(noises) if own.variance == 0 and np.count_nonzero(moved[:, n]) <= EXACT]
    for n in few:
        kept = moved[moved[:, n] != 0, n]  # a zero has no sign to flip
        choices = 1 - 2.0 * ((np.arange(2**kept.size)[:, None] >> np.arange(kept.size)) & 1)
        p[n] = (np.abs(choices @ kept) / len(moved) >= observed[n]).mean()
    many = np.setdiff1d(np.arange(moved.shape[1]), few)
    if many.size:
        signs = sign_choices(len(moved), PERMUTATIONS)
        trainings = training_draws([noises[n] for n in many], many.size, PERMUTATIONS)
        reached = np.ones(many.size)  # the choice that was seen reaches itself
        for start in range(0, PERMUTATIONS, BLOCK):
            flipped = signs[start:start + BLOCK].astype(np.float64) @ moved[:, many] / len(moved)
            reached += (np.abs(flipped + trainings[start:start + BLOCK]) >= observed[many]).sum(axis=0)
        p[many] = reached / (PERMUTATIONS + 1)
    return p


@remembered
def unpaired(values: ArrayLike, others: ArrayLike) -> Paired:
    """Compare two groups of queries, such as the questions for a location and those for an entity.

    The intervals are a bootstrap's that resamples each group by itself; the permutation test, two-sided, draws anew which query
    belongs to which group (Efron & Tibshirani 1993, sections 8.3 and 15.2). ValueError for fewer than two queries in a group.
    """
    first, second = np.asarray(values, dtype=float), np.asarray(others, dtype=float)
    if min(first.size, second.size) < 2:
        raise ValueError(f"two groups of at least two values wanted: got {first.size} and {second.size}")
    mean = float(first.mean() - second.mean())
    draws = resampled_means(first) - resampled_means(second, SEED + 1) - mean
    if np.ptp(first) == 0 and np.ptp(second) == 0:
        draws = np.zeros(RESAMPLES)
    error = math.sqrt(float(first.var(ddof=1)) / first.size + float(second.var(ddof=1)) / second.size)
    return Paired(*intervals(mean, draws), math.nan, divided_p(first, second), (first.size, second.size), error)


def divided_p(first: np.ndarray, second: np.ndarray) -> float:
    """Two-sided p of the permutation test that draws anew which query belongs to which of two groups, twice that of the smaller
    tail; exact for few queries."""
    values = np.concatenate([first, second])
    count = math.comb(values.size, first.size)
    groups = (first_groups(values.size, first.size, PERMUTATIONS) if count > PERMUTATIONS else
              np.array([np.isin(np.arange(values.size), chosen) for chosen in combinations(range(values.size), first.size)]))
    sums = np.concatenate([groups[start:start + BLOCK].astype(np.float64) @ values for start in range(0, len(groups), BLOCK)])
    differences = sums / first.size - (values.sum() - sums) / second.size
    seen, drawn = first.mean() - second.mean(), int(count > PERMUTATIONS)  # the division that was seen is one of them
    tail = min((differences >= seen - TINY).sum(), (differences <= seen + TINY).sum())
    return min(1.0, 2 * float(tail + drawn) / (len(groups) + drawn))


def resampled_means(values: np.ndarray, seed: int = SEED) -> np.ndarray:
    """The means of bootstrap samples of values, (resamples,), or of each column of a table of them."""
    counts = sample_counts(len(values), RESAMPLES, seed)
    return np.concatenate([counts[start:start + BLOCK].astype(np.float64) @ values / len(values)
                           for start in range(0, RESAMPLES, BLOCK)])


def training_draws(noise: TrainingNoise | Sequence[TrainingNoise], pairs: int, size: int, seed: int = SEED) -> np.ndarray:
    """What trainings drawn anew change in a difference, (size, pairs): Student's t with the noise's degrees of freedom.

    Trainings are too few to be resampled: two have three samples, and the mean of a sample scatters too little by half.
    """
    noises = [noise] * pairs if isinstance(noise, TrainingNoise) else noise
    return np.stack([np.sqrt(own.variance) * student(own.freedom, size, seed) if own.variance else np.zeros(size)
                     for own in noises], axis=1)


ROUNDING = 1e-9  # sums of differences that are nearer than this are equal


def all_pairs(values: pd.DataFrame) -> pd.DataFrame:
    """Every pair of systems, the earlier compared with the later; ValueError for fewer than two systems or two queries.

    The values have a row a query, a column a system. A row a pair comes back: first, second; difference, the 95 % interval of
    that of the means; d, see `cohens_d`; p, of the permutation test; holm, the same corrected for all pairs.
    """
    names = list(values.columns)
    if len(names) < 2 or len(values) < 2:
        raise ValueError(f"at least two systems and two queries are wanted, got {len(names)} and {len(values)}")
    moved = differences(values)
    p_values = permutation_ps(moved)
    columns: dict[str, Any] = {"difference": mean_intervals(moved), "d": [cohens_d(pair) for pair in moved.T],
                               "p": p_values, "holm": holm(list(p_values))}
    return pd.DataFrame(combinations(names, 2), columns=["first", "second"]).assign(**columns)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979): adjusted p-values in the given order."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, (len(p) - np.arange(len(p))) * p[order]))
    return adjusted.tolist()


def differences(values: pd.DataFrame) -> np.ndarray:
    """The differences of every pair of columns, a row a query, the pairs in the order of `itertools.combinations`."""
    table = values.to_numpy(dtype=float)
    return np.column_stack([table[:, a] - table[:, b] for a, b in combinations(range(table.shape[1]), 2)])


def cohens_d(moved: np.ndarray) -> float:
    """The mean of paired differences in units of their standard deviation (Cohen 1988, section 2.3.5); 0 for equal systems."""
    mean, spread = float(moved.mean()), float(moved.std(ddof=1))
    if spread > ROUNDING:
        return mean / spread
    return 0.0 if abs(mean) < ROUNDING else math.copysign(math.inf, mean)
