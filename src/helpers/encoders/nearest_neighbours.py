"""Nearest neighbours, exact and approximate: FAISS's flat index, HNSW and IVF (Johnson et al. 2021).

| kind | how it searches | setting |
|---|---|---|
| `exact` | every vector (`IndexFlatIP`; David 2020, section 4.4) | |
| `HNSW` | along the links of a graph (Malkov & Yashunin 2020) | `efSearch`, how many vectors it keeps in view |
| `IVF` | in the clusters that are nearest to the query (Jégou et al. 2011) | `nprobe`, how many of them |

Time is the processor's, not the clock's: a search takes less than a millisecond, for which the clock would mostly tell what else
the machine was doing. On one thread, which waits for nothing, the two are the same on a quiet machine.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.runs import COLUMNS, ranked
from helpers.data.texts import Texts
from helpers.encoders.embeddings import PASSAGES, QUERIES
from helpers.encoders.enlargement import resized
from helpers.steps import step

EXACT, HNSW, IVF = "exact", "HNSW", "IVF"
DEPTH = 10  # neighbours asked for
NO_SETTING = 0


@step(version=1, form="table", network=True, timing=True)
def search_speed(passages: Path, query_vectors: Path, size: int, M: int, ef_search: list[int], nprobe: list[int], timed: int,
                 rounds: int, noise: float, seed: int, known: int | None = None) -> pd.DataFrame:
    """Recall and speed of every kind of index over a collection of one size, on one thread.

    Settings are timed in turns, round by round. All indexes are in memory at once: at 100,000 vectors of 384 dimensions 0.5 GB.

    Args:
        passages: the folder of `embeddings.passage_embeddings`.
        query_vectors: the folder of `embeddings.query_embeddings`.
        size: vectors searched, see `enlargement.resized`.
        M: of a vector in HNSW's graph (M).
        ef_search: settings of HNSW.
        nprobe: settings of IVF.
        timed: queries that are searched one by one in a round.
        rounds: how often, after one round that is not counted.
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
    with one_thread():
        built: dict[str, tuple[Any, float]] = {}
        for kind in (EXACT, HNSW, IVF):
            clock = time.thread_time()
            index = build(kind, collection, M, seed)
            built[kind] = index, time.thread_time() - clock
            if kind == EXACT:  # it holds the vectors: no second copy
                collection = faiss.rev_swig_ptr(index.get_xb(), collection.size).reshape(collection.shape)
        truth = neighbours(built[EXACT][0], EXACT, NO_SETTING, queries)[0]
        rows, speeds = [], times(built, settings(ef_search, nprobe), queries, timed, rounds)
        for kind, setting in settings(ef_search, nprobe):
            index, seconds = built[kind]
            found = recall(neighbours(index, kind, setting, queries)[0], truth)
            rows.append({"kind": kind, "setting": setting, "size": size, "real": real, "recall": float(found.mean()),
                         "recall_error": float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else 0.0,
                         **speeds[kind, setting], "build": seconds, "bytes": stored_bytes(index)})
    return pd.DataFrame(rows)


@step(version=1, form="table", network=True)
def ann_runs(passages: Path, query_vectors: Path, store: Path, queries: pd.DataFrame, M: int, ef_search: list[int],
                   nprobe: list[int], seed: int) -> pd.DataFrame:
    """The best ten passages of each query by every kind of index over the whole real collection.

    Returns:
        A run with the columns `kind` and `setting` before it, see `run_of`.
    """
    vectors, asked = np.load(passages / PASSAGES), np.load(query_vectors / QUERIES)
    ids = np.array([text.doc_id for text in Texts(store)], dtype=object)
    parts = []
    with one_thread():
        built = {kind: build(kind, vectors, M, seed) for kind in (EXACT, HNSW, IVF)}
        for kind, setting in settings(ef_search, nprobe):
            places, scores = neighbours(built[kind], kind, setting, asked)
            for query, where, values in zip(queries["query_id"], places, scores, strict=True):
                there = where >= 0  # fewer than ten in the clusters that were searched: the rest is -1
                parts.append(pd.DataFrame({"kind": kind, "setting": setting, "query_id": query, "doc_id": ids[where[there]],
                                           "score": values[there].astype(float)}))
    return pd.concat(parts, ignore_index=True)


def run_of(runs: pd.DataFrame, kind: str, setting: int) -> pd.DataFrame:
    """The ranked run of one kind and setting."""
    return ranked(runs.loc[(runs["kind"] == kind) & (runs["setting"] == setting), COLUMNS])


def settings(ef_search: Sequence[int], nprobe: Sequence[int]) -> list[tuple[str, int]]:
    """Every kind with each of its settings."""
    return [(EXACT, NO_SETTING), *((HNSW, n) for n in ef_search), *((IVF, n) for n in nprobe)]


def build(kind: str, vectors: np.ndarray, M: int, seed: int) -> Any:
    """An index of the inner product over vectors, (texts, dimensions); IVF has the square root of their number as clusters.

    Raises:
        ValueError: for another kind.
    """
    import faiss

    dimensions = vectors.shape[1]
    index: Any  # FAISS's types do not know its own attributes
    if kind == EXACT:
        index = faiss.IndexFlatIP(dimensions)
    elif kind == HNSW:
        index = faiss.IndexHNSWFlat(dimensions, M, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.rng = faiss.RandomGenerator(seed)  # type: ignore[attr-defined]
    elif kind == IVF:
        index = faiss.index_factory(dimensions, f"IVF{max(1, round(len(vectors) ** 0.5))},Flat", faiss.METRIC_INNER_PRODUCT)
        index.cp.seed, index.cp.min_points_per_centroid = seed, 1
        index.train(vectors)
    else:
        raise ValueError(f"index {kind!r}: one of {EXACT}, {HNSW}, {IVF}")
    index.add(vectors)
    return index


def neighbours(index: Any, kind: str, setting: int, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions and inner products of the best ten, both (queries, 10); -1 where there are not so many."""
    tune(index, kind, setting)
    scores, places = index.search(queries, DEPTH)
    return places, scores


def tune(index: Any, kind: str, setting: int) -> None:
    """Give an index the setting that it searches with."""
    if kind == HNSW:
        index.hnsw.efSearch = setting
    elif kind == IVF:
        index.nprobe = setting


def recall(places: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The share of the true neighbours that were found, a query a value."""
    return np.array([len(set(found) & set(wanted) - {-1}) / len(set(wanted) - {-1})
                     for found, wanted in zip(places.tolist(), truth.tolist(), strict=True)])


def times(built: dict[str, tuple[Any, float]], cases: list[tuple[str, int]], queries: np.ndarray, timed: int,
          rounds: int) -> dict[tuple[str, int], dict[str, float]]:
    """Queries a second of each case, the first `timed` alone and all together: median and quartiles over the rounds."""
    alone = min(timed, len(queries))
    measured: dict[tuple[str, int], dict[str, list[float]]] = {case: {"alone": [], "together": []} for case in cases}
    for _ in range(rounds + 1):
        for kind, setting in cases:
            index = built[kind][0]
            tune(index, kind, setting)
            clock = time.thread_time()
            for number in range(alone):
                index.search(queries[number:number + 1], DEPTH)
            middle = time.thread_time()
            index.search(queries, DEPTH)
            measured[kind, setting]["alone"].append(alone / (middle - clock))
            measured[kind, setting]["together"].append(len(queries) / (time.thread_time() - middle))
    return {case: {f"{how}{part}": float(np.quantile(values[1:], share)) for how, values in found.items()
                   for part, share in (("", 0.5), ("_low", 0.25), ("_high", 0.75))} for case, found in measured.items()}


def stored_bytes(index: Any) -> int:
    """What the index takes on disk, without writing it there."""
    import faiss

    sizes: list[int] = []
    writer = faiss.PyCallbackIOWriter(lambda block: sizes.append(len(block)))  # type: ignore[attr-defined]
    faiss.write_index(index, writer)
    del writer  # hands on what it still holds
    return sum(sizes)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let FAISS search with one thread for a while."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
