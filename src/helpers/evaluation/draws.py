"""What comparisons have in common, kept once: the random draws for each number of queries, and the results for the same arrays.

A table, a verdict and a sentence of a page may rest on one comparison, and all comparisons see the same draws.
"""

import functools
from collections.abc import Callable, Hashable
from typing import Any, ParamSpec, TypeVar

import numpy as np
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
def sample_counts(queries: int, resamples: int, seed: int, size: int | None = None) -> np.ndarray:
    """How often each bootstrap sample has each query, (resamples, queries); samples are of as many queries, or of `size`."""
    rng, counts = np.random.default_rng(seed), np.empty((resamples, queries), np.uint16 if size else np.uint8)
    for start in range(0, resamples, BLOCK):
        rows = min(BLOCK, resamples - start)
        drawn = rng.integers(queries, size=(rows, size or queries)) + queries * np.arange(rows)[:, None]
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
    kept: dict[Hashable, T] = {}

    @functools.wraps(function)
    def once(*arguments: P.args, **settings: P.kwargs) -> T:
        key = (*map(_content, arguments), *sorted(settings.items()))
        if key not in kept:
            kept[key] = function(*arguments, **settings)
        return kept[key]

    return once


def _content(argument: Any) -> Hashable:
    array = np.asarray(argument)
    return (array.shape, array.dtype.str, array.tobytes()) if array.ndim else argument
