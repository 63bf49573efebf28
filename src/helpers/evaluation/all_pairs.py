"""All pairs of systems on the same queries: the comparisons of a significance matrix, corrected together."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from helpers.evaluation.draws import SEED
from helpers.evaluation.significance import Interval, mean_interval, permutation_ps
from helpers.evaluation.verdicts import holm

TINY = 1e-9  # sums of differences that are nearer than this are equal


@dataclass(frozen=True)
class Pair:
    """The first system against the second, per query."""

    first: str  # its name
    second: str  # the other's
    difference: Interval  # of the means, with its 95 % interval
    d: float  # Cohen's d of paired values, see `cohens_d`
    p: float  # of the permutation test
    holm: float  # the same corrected for all pairs of the matrix


def all_pairs(values: pd.DataFrame, seed: int = SEED) -> list[Pair]:
    """Every pair of columns, the earlier against the later; ValueError for fewer than two systems or two queries.

    Args:
        values: a row a query, a column a system.
        seed: of bootstrap and permutations.
    """
    names = list(values.columns)
    if len(names) < 2 or len(values) < 2:
        raise ValueError(f"at least two systems and two queries are wanted, got {len(names)} and {len(values)}")
    moved = differences(values)
    p_values = permutation_ps(moved, seed)
    return [Pair(first, second, mean_interval(column, seed), cohens_d(column), float(p), corrected)
            for (first, second), column, p, corrected in
            zip(combinations(names, 2), moved.T, p_values, holm(list(p_values)), strict=True)]


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
