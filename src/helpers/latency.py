"""The latency of a first stage: one query after the other, on one thread, and the room that its index takes.

A round ranks all timed queries; one round that is not counted warms caches and the JVM up.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers import java
from helpers.backbone import Backbone
from helpers.bm25 import searcher_of
from helpers.embeddings import PASSAGES
from helpers.encoder import QUERY, Encoder, wrapped
from helpers.steps import step
from helpers.tokens import query_ids


@step(version=1, form="json")
def lexical_latency(index: Path, queries: pd.DataFrame, k1: float, b: float, depth: int, timed: int,
                    rounds: int) -> dict[str, Any]:
    """Time a search in a Lucene index.

    Args:
        index: a Lucene index folder.
        queries: columns query_id, text.
        k1: BM25's.
        b: BM25's.
        depth: texts retrieved for each query.
        timed: how many of the queries.
        rounds: how often.

    Returns:
        `queries`, how many were timed, and `search`, milliseconds a query of each round.
    """
    asked = list(queries["text"].head(timed))
    return {"queries": len(asked), "search": java.call(timed_searches, index, asked, k1, b, depth, rounds)}


def timed_searches(index: Path, texts: list[str], k1: float, b: float, depth: int, rounds: int) -> list[float]:
    """Milliseconds a query of each round, in the process that has the JVM."""
    searcher = searcher_of(index, k1, b)
    return timed_rounds(lambda text: searcher.search(text, k=depth), texts, rounds)


@step(version=1, form="json", network=True)
def dense_latency(passages: Path, queries: pd.DataFrame, backbone: Backbone, pooling: str, normalise: bool, segments: bool,
                  query_length: int, depth: int, timed: int, rounds: int, model: Path | None = None) -> dict[str, Any]:
    """Time an exact search over embeddings: a query is tokenised and encoded, then compared with every passage.

    Args:
        passages: the folder of `embeddings.passage_embeddings`.
        queries: columns query_id, text.
        backbone: the pre-trained encoder.
        pooling: see `helpers.pooling`.
        normalise: whether vectors have length 1.
        segments: whether passages have another token type than queries.
        query_length: tokens of a query.
        depth: passages retrieved for each query.
        timed: how many of the queries.
        rounds: how often.
        model: a folder of fine-tuned weights; None for the backbone as it is.

    Returns:
        `queries`, how many were timed, and `encode` and `search`, milliseconds a query of each round.
    """
    import faiss

    encoder, asked = Encoder(backbone, model, pooling, normalise, segments), list(queries["text"].head(timed))
    vectors = np.ascontiguousarray(np.load(passages / PASSAGES))
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)

    def encode(text: str) -> np.ndarray:
        ids = query_ids(encoder.tokenizer, [text], query_length)[0]
        return encoder.vectors([wrapped(encoder.tokenizer, ids, query_length)], QUERY)

    encoded = [encode(text) for text in asked]
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        searching = timed_rounds(lambda vector: index.search(vector, min(depth, len(vectors))), encoded, rounds)
    finally:
        faiss.omp_set_num_threads(before)
    return {"queries": len(asked), "encode": timed_rounds(encode, asked, rounds), "search": searching}


def timed_rounds(function: Callable[[Any], Any], items: Sequence[Any], rounds: int) -> list[float]:
    """Milliseconds an item of each round, after one round that does not count."""
    found = []
    for _ in range(rounds + 1):
        clock = time.perf_counter()
        for item in items:
            function(item)
        found.append(1000 * (time.perf_counter() - clock) / max(1, len(items)))
    return found[1:]


def per_query(found: dict[str, Any]) -> np.ndarray:
    """Milliseconds a query of each round, encoding included."""
    return np.array(found["search"]) + np.array(found.get("encode", [0.0] * len(found["search"])))


@step(version=1, form="json")
def folder_size(folder_of: Path) -> dict[str, int]:
    """The size of what a step keeps: `bytes` of all files."""
    return {"bytes": sum(file.stat().st_size for file in folder_of.rglob("*") if file.is_file() and file.name != "manifest.json")}
