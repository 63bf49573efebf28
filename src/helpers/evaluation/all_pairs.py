"""All pairs of systems on the same queries: the comparisons of a significance matrix, by the book's rule and by David's.

His is a paired t-test over the means of ten sub-samples of the queries (2020, section 4.4). The queries are divided at random
into ten disjoint groups, each system is averaged over each group, and the ten pairs of means are compared. On average their
standard error is that of a test over the single queries; what is lost are degrees of freedom. Which queries fall together is
chance, so that another division gives another p.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import special
from scipy.optimize import brentq

from helpers.evaluation.significance import SEED, mean_intervals, permutation_ps, sample_counts
from helpers.evaluation.verdicts import ALPHA

GROUPS = 10
SAMPLES = 1_000  # of each size
TINY = 1e-9  # sums of differences that are nearer than this are equal


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
    if spread > TINY:
        return mean / spread
    return 0.0 if abs(mean) < TINY else math.copysign(math.inf, mean)


def divide(queries: int, groups: int = GROUPS, seed: int = SEED) -> np.ndarray:
    """The group of each query, at random; sizes differ by one at most. ValueError for one group, or one without queries."""
    if not 2 <= groups <= queries:
        raise ValueError(f"{queries} queries cannot be divided into {groups} groups: at least two, and a query in each")
    return np.random.default_rng(seed).permutation(np.arange(queries) % groups)


def group_means(moved: np.ndarray, group_of: np.ndarray) -> np.ndarray:
    """The mean of each group's rows: (queries, pairs) to (groups, pairs)."""
    members = (np.arange(group_of.max() + 1)[:, None] == group_of).astype(float)
    return members @ moved / members.sum(axis=1, keepdims=True)


def sub_sample_ps(moved: np.ndarray, groups: int = GROUPS, seed: int = SEED) -> np.ndarray:
    """The p of David's test for each pair of systems, two-sided and uncorrected as in the study, of differences (queries, pairs).

    It is 1 for equal systems, 0 for a difference that is the same in all groups; the seed is that of the division.
    """
    means = group_means(moved, divide(len(moved), groups, seed))
    spread = means.std(axis=0, ddof=1)
    alike = spread < 1e-12  # rounding: t would be a division by zero
    t = means.mean(axis=0) / np.where(alike, 1.0, spread / np.sqrt(groups))
    p = 2 * special.stdtr(groups - 1, -np.abs(t))
    return np.where(alike, (np.abs(means.mean(axis=0)) < 1e-12).astype(float), p)


def significant_share(moved: np.ndarray, groups: int = GROUPS, divisions: int = 200) -> np.ndarray:
    """Of so many random divisions the share that calls each pair significant: (pairs,)."""
    return np.mean([sub_sample_ps(moved, groups, SEED + n) < ALPHA for n in range(divisions)], axis=0)


def share_by_size(moved: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """The share of samples of so many queries, drawn with replacement, that a paired t-test calls significant: (sizes, pairs)."""
    shares = []
    for size in sizes:
        counts = sample_counts(len(moved), SAMPLES, SEED, size).astype(np.float64)
        means = counts @ moved / size
        variances = np.maximum(counts @ moved**2 / size - means**2, 0) * size / (size - 1)
        shares.append((np.abs(means) > critical(size) * np.sqrt(variances / size) + TINY).mean(axis=0))
    return np.array(shares)


def critical(values: int) -> float:
    """What |t| must exceed in a two-sided test of so many paired values."""
    return float(special.stdtrit(values - 1, 1 - ALPHA / 2))


def power(values: int, shift: float) -> float:
    """The chance that a paired t-test of so many values finds a difference of `shift` standard errors, on its own side."""
    return float(1 - special.nctdtr(values - 1, shift, critical(values)))


def shift_of(values: int, goal: float) -> float:
    """The difference, in standard errors, that so many paired values detect with that power."""
    return float(brentq(lambda shift: power(values, shift) - goal, 0.0, 10.0))
