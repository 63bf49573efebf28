"""Nearest neighbours, exact and approximate: FAISS's flat index, HNSW and IVF (Johnson et al. 2021).

| kind | how it searches | setting |
|---|---|---|
| `exact` | every vector (`IndexFlatIP`; David 2020, section 4.4) | |
| `HNSW` | along the links of a graph (Malkov & Yashunin 2020) | `efSearch`, how many vectors it keeps in view |
| `IVF` | in the clusters that are nearest to the query (Jégou et al. 2011) | `nprobe`, how many of them |
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.runs import COLUMNS, ranked
from helpers.data.texts import Texts
from helpers.encoders.embeddings import PASSAGES, QUERIES
from helpers.steps import step

EXACT, HNSW, IVF = "exact", "HNSW", "IVF"
DEPTH = 10  # neighbours of a query
NO_SETTING = 0


@step(version=1, form="table")
def ann_runs(passages: Path, query_vectors: Path, store: Path, queries: pd.DataFrame, M: int, ef_search: list[int],
             nprobe: list[int], seed: int) -> pd.DataFrame:
    """The best ten passages of each query by every kind of index over the whole real collection: a run with the columns `kind`
    and `setting` before it, see `run_of`."""
    vectors, query_matrix = np.load(passages / PASSAGES), np.load(query_vectors / QUERIES)
    ids = np.array([text.doc_id for text in Texts(store)], dtype=object)
    parts = []
    with one_thread():
        built = {kind: build(kind, vectors, M, seed) for kind in (EXACT, HNSW, IVF)}
        for kind, setting in settings(ef_search, nprobe):
            places, scores = neighbours(built[kind], kind, setting, query_matrix)
            parts.append(found(queries, ids, places, scores).assign(kind=kind, setting=setting))
    return pd.concat(parts, ignore_index=True)[["kind", "setting", *COLUMNS]]


def found(queries: pd.DataFrame, ids: np.ndarray, places: np.ndarray, scores: np.ndarray) -> pd.DataFrame:
    """The run of what a search returns, places and scores of (queries, depth); a place of -1 is none."""
    there = places >= 0  # fewer than ten in the clusters that were searched
    return pd.DataFrame({"query_id": np.repeat(queries["query_id"].to_numpy(), there.sum(axis=1)), "doc_id": ids[places[there]],
                         "score": scores[there].astype(float)})


def run_of(runs: pd.DataFrame, kind: str, setting: int) -> pd.DataFrame:
    """The ranked run of one kind and setting."""
    return ranked(runs.loc[(runs["kind"] == kind) & (runs["setting"] == setting), COLUMNS])


def settings(ef_search: Sequence[int], nprobe: Sequence[int]) -> list[tuple[str, int]]:
    """Every kind with each of its settings."""
    return [(EXACT, NO_SETTING), *((HNSW, n) for n in ef_search), *((IVF, n) for n in nprobe)]


def clusters(size: int) -> int:
    """IVF's for so many vectors: their square root."""
    return max(1, round(size ** 0.5))


def build(kind: str, vectors: np.ndarray, M: int, seed: int) -> Any:
    """An index of the inner product over vectors, (texts, dimensions)."""
    import faiss

    dimensions = vectors.shape[1]
    index: Any  # FAISS's types do not know its own attributes
    if kind == EXACT:
        index = faiss.IndexFlatIP(dimensions)
    elif kind == HNSW:
        index = faiss.IndexHNSWFlat(dimensions, M, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.rng = faiss.RandomGenerator(seed)  # type: ignore[attr-defined]
    else:
        index = faiss.index_factory(dimensions, f"IVF{clusters(len(vectors))},Flat", faiss.METRIC_INNER_PRODUCT)
        index.cp.seed, index.cp.min_points_per_centroid = seed, 1
        index.train(vectors)
    index.add(vectors)
    return index


def neighbours(index: Any, kind: str, setting: int, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions and inner products of the best ten, both (queries, 10); -1 where there are not so many."""
    tune(index, kind, setting)
    return index.search(queries, DEPTH)[::-1]


def tune(index: Any, kind: str, setting: int) -> None:
    """Give an index the setting that it searches with."""
    if kind == HNSW:
        index.hnsw.efSearch = setting
    elif kind == IVF:
        index.nprobe = setting


def recall(places: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The share of the true neighbours that a search returns, a query a value."""
    return np.array([len(set(row) & set(true) - {-1}) / len(set(true) - {-1})
                     for row, true in zip(places.tolist(), truth.tolist(), strict=True)])


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
