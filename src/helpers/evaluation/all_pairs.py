"""All pairs of systems on the same queries: the comparisons of a significance matrix."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from helpers.evaluation.significance import mean_intervals, permutation_ps

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
