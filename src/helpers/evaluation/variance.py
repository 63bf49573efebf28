"""How much of a result is the seed and how much the queries, and how many of each would settle a difference.

Values of several seeds on the same queries form a table without replicates: value = mean + seed + query + rest. The mean
squares of its two-way analysis of variance give the components (Searle, Casella & McCulloch 1992, section 4.2).
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special, stats

from helpers.evaluation.significance import POWER
from helpers.evaluation.verdicts import ALPHA

Z = float(special.ndtri(1 - ALPHA / 2) + special.ndtri(POWER))
TINY = 1e-12  # below it a mean of differences is rounding


@dataclass(frozen=True)
class Components:
    """Variances of one value, and what follows for a mean over queries."""

    seed: float  # between seeds, alike for all queries; 0 if the estimate is negative
    query: float  # between queries, alike for all seeds; 0 if the estimate is negative
    rest: float  # what seed and query do together
    seeds: int  # how many seeds were seen
    queries: int  # how many queries

    @property
    def seed_deviation(self) -> float:
        """Standard deviation over seeds of a mean over these queries: what another training would change."""
        return math.sqrt(self.seed + self.rest / self.queries)

    @property
    def query_deviation(self) -> float:
        """Standard deviation over samples of so many queries of one model's mean: what other queries would change."""
        return math.sqrt((self.query + self.rest) / self.queries)


    @property
    def p_of_seeds(self) -> float:
        """p of the F test that all seeds have one mean; an estimate below 0 stands for no difference."""
        if not self.rest:
            return float(not self.seed)
        freedom = self.seeds - 1, (self.seeds - 1) * (self.queries - 1)
        return float(stats.f.sf((self.queries * self.seed + self.rest) / self.rest, *freedom))


def components(values: pd.DataFrame) -> Components:
    """The variance components of a table: a row a query, a column a seed; ValueError for fewer than two rows or columns."""
    table = values.to_numpy(dtype=float)
    queries, seeds = table.shape
    if min(table.shape) < 2:
        raise ValueError(f"at least two queries and two seeds are wanted, got {queries} and {seeds}")
    by_query, by_seed, grand = table.mean(axis=1), table.mean(axis=0), table.mean()
    rest = ((table - by_query[:, None] - by_seed + grand) ** 2).sum() / ((queries - 1) * (seeds - 1))
    query = (by_query.var(ddof=1) * seeds - rest) / seeds
    seed = (by_seed.var(ddof=1) * queries - rest) / queries
    return Components(max(0.0, float(seed)), max(0.0, float(query)), float(rest), seeds, queries)


def queries_needed(differences: np.ndarray) -> int | None:
    """How many queries a two-sided paired test needs to see the mean of these differences; None if it is zero.

    The normal approximation: (z of level/2 + z of power)² x variance / mean².
    """
    mean, spread = float(np.mean(differences)), float(np.std(differences, ddof=1))
    return None if abs(mean) < TINY else max(2, math.ceil((Z * spread / mean) ** 2))


def seeds_needed(difference: float, deviation: float) -> int | None:
    """How many seeds each of two recipes needs to tell a difference of their means; None for a difference of zero. The deviation
    is that over seeds of one recipe's mean on fixed queries."""
    return None if abs(difference) < TINY else max(2, math.ceil(2 * (Z * deviation / difference) ** 2))
