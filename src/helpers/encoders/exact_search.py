"""Exact search: every passage's inner product with every query, through FAISS (David 2020, section 3.4)."""

from pathlib import Path

import numpy as np
import pandas as pd

from helpers.data.runs import COLUMNS, ranked
from helpers.data.texts import Texts
from helpers.encoders.embeddings import PASSAGES, QUERIES
from helpers.steps import step

BLOCK = 100_000  # passages searched at once: a shard of the collection, read from the file
ROUNDING = 1e-6  # inner products nearer than this, in units of the larger one, may change places by rounding
SPARE = 16


@step(version=1, form="run")
def exact_search(passages: Path, query_vectors: Path, store: Path, queries: pd.DataFrame, depth: int) -> pd.DataFrame:
    """The `depth` passages of the largest inner product with each query, best first; of a smaller collection all are ranked."""
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
    """The positions of the `count` largest inner products, (queries, count), by a flat search of each block."""
    import faiss

    best = faiss.ResultHeap(len(queries), count, keep_max=True)
    for start in range(0, len(passages), BLOCK):
        block = passages[start:start + BLOCK]
        similarities, where = faiss.knn(queries, block, min(count, len(block)), metric=faiss.METRIC_INNER_PRODUCT)
        best.add_result(similarities, where + start)
    best.finalize()
    return best.I
