"""The random draws of intervals and tests, made once for each number of queries: all comparisons see the same ones."""

import functools

import numpy as np
from scipy import stats

SEED = 20210610
BLOCK = 2_000  # rows of a random array that are floating-point numbers at one time


@functools.lru_cache(maxsize=16)
def student(freedom: float, size: int, seed: int) -> np.ndarray:
    """Draws of Student's t, evenly spread over its distribution and in random order, (size,)."""
    return stats.t.ppf((np.random.default_rng([seed, 1]).permutation(size) + 0.5) / size, freedom)


@functools.lru_cache(maxsize=4)
def sample_counts(queries: int, resamples: int, seed: int) -> np.ndarray:
    """How often each bootstrap sample has each query, (resamples, queries)."""
    rng, counts = np.random.default_rng(seed), np.empty((resamples, queries), dtype=np.uint8)
    for start in range(0, resamples, BLOCK):
        rows = min(BLOCK, resamples - start)
        drawn = rng.integers(queries, size=(rows, queries)) + queries * np.arange(rows)[:, None]
        counts[start:start + rows] = np.bincount(drawn.ravel(), minlength=rows * queries).reshape(rows, queries)
    return counts


@functools.lru_cache(maxsize=4)
def sign_choices(queries: int, permutations: int, seed: int) -> np.ndarray:
    """Random signs, (permutations, queries)."""
    return np.random.default_rng(seed).integers(0, 2, (permutations, queries), dtype=np.int8) * np.int8(2) - np.int8(1)
