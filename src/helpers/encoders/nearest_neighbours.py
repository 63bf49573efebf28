"""Dense search: exact, approximate, with compressed vectors, and among more vectors than a collection has."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.runs import COLUMNS, ranked
from helpers.data.texts import Texts
from helpers.encoders.embeddings import PASSAGES, QUERIES
from helpers.errors import BadInput
from helpers.steps import step

# Exact search: every passage's inner product with every query (David 2020, section 3.4, by FAISS's `IndexFlatIP`). PyTorch is
# as fast, and a machine elsewhere has it.

BLOCK = 10_000  # passages searched at once: a shard of the collection, read from the file
ROUNDING = 1e-6  # inner products nearer than this, in units of the larger one, may change places by rounding
SPARE = 16


@step(version=1, form="run")
def exact_search(passages: Path, query_vectors: Path, store: Path, queries: pd.DataFrame, depth: int) -> pd.DataFrame:
    """Find the passages nearest to each query: `depth` by inner product, best first; of a smaller collection all are ranked."""
    texts = np.load(passages / PASSAGES, mmap_mode="r")
    ids = Texts(store)
    places, scores = search(texts, np.load(query_vectors / QUERIES), depth)
    rows = [(query, doc_id, float(score)) for query, hits, values in zip(queries["query_id"], places, scores, strict=True)
            for doc_id, score in zip(ids.ids(hits), values, strict=True)]
    return ranked(pd.DataFrame(rows, columns=COLUMNS), depth)


def search(passages: np.ndarray, queries: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """At least the best `depth` passages of each query, in no order, and whatever ties with the last of them.

    Ties are to be broken by id, not by the index's order: if those beyond the depth do not fall short of it, more are searched.

    Vectors are a row each, float32; the depth is 1 at least. Returns positions and inner products, both (queries, passages).
    """
    count = min(len(passages), depth + SPARE)
    while True:
        places = nearest(passages, queries, count)
        # not the index's own products: those of equal passages may differ by rounding, since they lie in different blocks
        scores = np.array([np.einsum("pd,d->p", passages[hits], query)
                           for hits, query in zip(places, queries, strict=True)], dtype=np.float32).reshape(places.shape)
        best = -np.sort(-scores, axis=1)
        last = best[:, min(depth, count) - 1]
        if count == len(passages) or bool((last - best[:, -1] > ROUNDING * np.maximum(1, np.abs(last))).all()):
            return places, scores
        count = min(len(passages), 4 * count)


def nearest(passages: np.ndarray, queries: np.ndarray, count: int) -> np.ndarray:
    """The positions of the `count` largest inner products, (queries, count), unordered: each block's best beside those before."""
    import torch

    asked = torch.tensor(queries)
    best, places = torch.empty(len(queries), 0), torch.empty(len(queries), 0, dtype=torch.int64)
    for start in range(0, len(passages), BLOCK):
        block = torch.tensor(passages[start:start + BLOCK])
        products, where = torch.topk(asked @ block.T, min(count, len(block)), sorted=False)
        best, places = torch.cat([best, products], 1), torch.cat([places, where + start], 1)
        best, kept = torch.topk(best, min(count, best.shape[1]), sorted=False)
        places = places.gather(1, kept)
    return places.numpy()


# Nearest neighbours, exact and approximate: FAISS's flat index, HNSW and IVF (Johnson et al. 2021).
#
# | kind | how it searches | setting |
# |---|---|---|
# | `exact` | every vector (`IndexFlatIP`; David 2020, section 4.4) | |
# | `HNSW` | along the links of a graph (Malkov & Yashunin 2020) | `efSearch`, how many vectors it keeps in view |
# | `IVF` | in the clusters that are nearest to the query (Jégou et al. 2011) | `nprobe`, how many of them |

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


def run_of(runs: pd.DataFrame, **chosen: Any) -> pd.DataFrame:
    """The ranked run of one kind and setting, or of one code."""
    return ranked(runs.loc[(runs[list(chosen)] == pd.Series(chosen)).all(axis=1), COLUMNS])


def settings(ef_search: Sequence[int], nprobe: Sequence[int]) -> list[tuple[str, int]]:
    """Every kind with each of its settings."""
    return [(EXACT, NO_SETTING), *((HNSW, n) for n in ef_search), *((IVF, n) for n in nprobe)]


def clusters(size: int) -> int:
    """IVF's for so many vectors: their square root."""
    return max(1, round(size ** 0.5))


def build(kind: str, vectors: np.ndarray, M: int, seed: int) -> Any:
    """An index of the inner product over vectors, (texts, dimensions)."""
    import faiss

    form = {EXACT: "Flat", HNSW: f"HNSW{M},Flat", IVF: f"IVF{clusters(len(vectors))},Flat"}[kind]
    index: Any = faiss.index_factory(vectors.shape[1], form, faiss.METRIC_INNER_PRODUCT)
    if kind == HNSW:
        index.hnsw.rng = faiss.RandomGenerator(seed)  # type: ignore[attr-defined]
    if kind == IVF:
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


# Vectors in fewer bytes: FAISS's codes (Johnson et al. 2021), and vectors cut short.
#
# | code | what is kept of a vector |
# |---|---|
# | `SQ8`, `SQ4` | 8 or 4 bits of each dimension (scalar quantisation) |
# | `PQ96` | one byte of each of 96 parts, the number of its nearest centroid (product quantisation, Jégou et al. 2011) |
# | `PCA192,SQ8` | the 192 principal components, in 8 bits each |
# | `first96,Flat` | the first 96 dimensions as they are, to length one again |
#
# Any other text is FAISS's own description of an index, for its `index_factory`.

WHOLE = "Flat"  # every dimension in 32 bits: exact search


@step(version=1, form="table")
def compressed_runs(passages: Path, query_vectors: Path, store: Path, queries: pd.DataFrame, codes: list[str],
                    seed: int) -> pd.DataFrame:
    """The best ten passages of each query by every code over the whole real collection: a run with `code`, see `run_of`."""
    vectors, query_matrix = np.load(passages / PASSAGES), np.load(query_vectors / QUERIES)
    ids = np.array([text.doc_id for text in Texts(store)], dtype=object)
    with one_thread():
        indexes = ((code, compressed(code, vectors, seed)) for code in codes)
        return pd.concat([found(queries, ids, *index.search(query_matrix, DEPTH)[::-1]).assign(code=code)
                          for code, index in indexes], ignore_index=True)


def compressed(code: str, vectors: np.ndarray, seed: int) -> Any:
    """An index of the inner product over vectors, (texts, dimensions), that keeps the code of each; it takes whole queries.
    BadInput if FAISS knows no such code, or it cannot be learned from so few or so short vectors."""
    import faiss

    dimensions, cut = vectors.shape[1], re.fullmatch(r"first(\d+),(.+)", code)
    kept = min(int(cut[1]), dimensions) if cut else dimensions
    try:
        index: Any = faiss.index_factory(kept, cut[2] if cut else code, faiss.METRIC_INNER_PRODUCT)
        inner: Any = faiss.downcast_index(index.index) if isinstance(index, faiss.IndexPreTransform) else index
        if isinstance(inner, faiss.IndexPQ):  # the order of the centroids' numbers, which only other searches use, is left out
            inner.do_polysemous_training = False  # type: ignore[attr-defined]
            inner.pq.cp.seed, inner.pq.cp.min_points_per_centroid = seed, 1
        if cut:
            index = faiss.IndexPreTransform(faiss.NormalizationTransform(kept, 2.0), index)
            index.prepend_transform(faiss.RemapDimensionsTransform(dimensions, kept, False))  # type: ignore[arg-type]
        index.train(vectors)
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[-1].split(": ", 1)[-1]  # without the place in FAISS's source
        raise BadInput(f"FAISS makes no code {code!r} of {len(vectors)} vectors of {dimensions} dimensions: {reason}",
                       mend="take other `codes`, such as SQ8") from error
    index.add(vectors)
    return index


# Collections of embeddings in any size: a sample of the real ones, or the real ones and synthetic neighbours of them.
#
# A synthetic vector is a copy of a real one with Gaussian noise, scaled to length 1 again. The noise is as long as the real
# vectors' median distance to their nearest neighbour, so that a copy lies about as far from its original as another text would.
# These are no embeddings of any text: they serve to measure search, not ranking.

ENLARGED_BLOCK = 10_000  # vectors made at once
PROBE = 2_000  # real vectors whose nearest neighbours are looked up


def resized(vectors: np.ndarray, size: int, noise: float, seed: int) -> np.ndarray:
    """A collection of the given size, (size, dimensions), float32: real vectors in random order, then synthetic ones if they do
    not suffice. With one seed, a smaller one is the beginning of a larger one.

    Args:
        vectors: the real embeddings, (texts, dimensions), each of length 1.
        noise: its length in median distances to the nearest neighbour.
    """
    if size < 1 or len(vectors) < 1:
        raise ValueError(f"{size} vectors out of {len(vectors)}: at least one of either is wanted")
    order = np.random.default_rng(seed).permutation(len(vectors))
    enlarged = np.empty((size, vectors.shape[1]), dtype=np.float32)
    enlarged[:len(vectors)] = vectors[order[:size]]
    if size <= len(vectors):
        return enlarged
    # all dimensions together are as long as the noise should be
    deviation = noise * neighbour_distance(vectors, seed) / np.sqrt(vectors.shape[1])
    rng = np.random.default_rng([seed, 1])
    for start in range(len(vectors), size, ENLARGED_BLOCK):
        originals = vectors[rng.integers(len(vectors), size=ENLARGED_BLOCK)]
        copies = originals + deviation * rng.standard_normal(originals.shape, dtype=np.float32)
        enlarged[start:start + ENLARGED_BLOCK] = (copies / np.linalg.norm(copies, axis=1, keepdims=True))[:size - start]
    return enlarged


def neighbour_distance(vectors: np.ndarray, seed: int) -> float:
    """The median Euclidean distance of a vector to the nearest other one, over a sample; 0 for a single vector."""
    import faiss

    if len(vectors) < 2:
        return 0.0
    rows = np.random.default_rng(seed).permutation(len(vectors))[:PROBE]
    squares, _ = faiss.knn(vectors[rows], vectors, 2)
    return float(np.median(np.sqrt(np.maximum(squares[:, 1], 0))))
