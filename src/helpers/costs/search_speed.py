"""The speed of exact and approximate search for nearest neighbours, on one thread.

Time is the processor's, not the clock's: a search takes less than a millisecond, for which the clock would mostly tell what else
the machine was doing. On one thread, which waits for nothing, the two are the same on a quiet machine.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.costs.timing import clocked, interleave
from helpers.encoders.embeddings import PASSAGES, QUERIES
from helpers.encoders.enlargement import resized
from helpers.encoders.nearest_neighbours import DEPTH, EXACT, NO_SETTING, build, neighbours, one_thread, recall, settings, tune
from helpers.steps import step


@step(version=1, form="table", timing=True)
def search_speed(passages: Path, query_vectors: Path, size: int, M: int, ef_search: list[int], nprobe: list[int], timed: int,
                 rounds: int, noise: float, seed: int, known: int | None = None) -> pd.DataFrame:
    """Recall and speed of every kind of index over a collection of one size, on one thread.

    All indexes are in memory at once: at 100,000 vectors of 384 dimensions 0.5 GB.

    Args:
        size: vectors searched, see `enlargement.resized`.
        M: links of a vector in HNSW's graph.
        noise: of synthetic vectors.
        seed: of sample and noise, and of both indexes.
        known: how many of the real vectors are used at most; by default all.

    Returns:
        A row a kind and setting: `recall` of the exact best ten and its standard error over queries; queries a second, searched
        `alone` (one call each) and `together` (one call for all of them), as median and quartiles over rounds; `build` in
        seconds; `bytes` of the index; `size` and the `real` vectors of it.
    """
    import faiss

    vectors, queries = np.load(passages / PASSAGES, mmap_mode="r"), np.load(query_vectors / QUERIES)
    if known is not None:
        vectors = vectors[np.sort(np.random.default_rng(seed).permutation(len(vectors))[:known])]
    collection, real = resized(vectors, size, noise, seed), min(size, len(vectors))
    cases = settings(ef_search, nprobe)
    with one_thread():
        built, build_seconds = dict[str, Any](), dict[str, float]()
        for kind in dict.fromkeys(kind for kind, _ in cases):
            build_seconds[kind], built[kind] = clocked(partial(build, kind, collection, M, seed), time.thread_time)
            if kind == EXACT:  # it holds the vectors: no second copy
                collection = faiss.rev_swig_ptr(built[kind].get_xb(), collection.size).reshape(collection.shape)
        truth = neighbours(built[EXACT], EXACT, NO_SETTING, queries)[0]
        rows, speeds = [], rates(built, cases, queries, timed, rounds)
        for kind, setting in cases:
            share = recall(neighbours(built[kind], kind, setting, queries)[0], truth)
            rows.append({"kind": kind, "setting": setting, "size": size, "real": real, "recall": float(share.mean()),
                         "recall_error": float(share.std(ddof=1) / np.sqrt(len(share))) if len(share) > 1 else 0.0,
                         **speeds[kind, setting], "build": build_seconds[kind], "bytes": stored_bytes(built[kind])})
    return pd.DataFrame(rows)


def stored_bytes(index: Any) -> int:
    """What the index takes on disk, without writing it there."""
    import faiss

    sizes: list[int] = []
    writer = faiss.PyCallbackIOWriter(lambda block: sizes.append(len(block)))  # type: ignore[attr-defined]
    faiss.write_index(index, writer)
    del writer  # hands on what it still holds
    return sum(sizes)


def rates(built: dict[str, Any], cases: list[tuple[str, int]], queries: np.ndarray, alone: int,
          rounds: int) -> dict[tuple[str, int], dict[str, float]]:
    """Queries a second of each case, the first ones alone and all together: median and quartiles over the rounds."""
    parts = {"alone": [queries[n:n + 1] for n in range(min(alone, len(queries)))], "together": [queries]}

    def searching(kind: str, setting: int, how: str) -> Callable[[], None]:
        tune(built[kind], kind, setting)

        def work() -> None:
            for vectors in parts[how]:
                built[kind].search(vectors, DEPTH)

        return work

    times = interleave({(case, how): partial(searching, *case, how) for case in cases for how in parts}, rounds,
                       time.thread_time).seconds
    return {case: {f"{how}{suffix}": float(np.quantile(sum(map(len, parts[how])) / np.array(times[case, how]), share))
                   for how in parts for suffix, share in (("", 0.5), ("_low", 0.25), ("_high", 0.75))} for case in cases}
