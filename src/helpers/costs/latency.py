"""The latency of first stages: one query after the other, on one thread, and the room that an index takes.

Stages are timed in turns, round by round, so that a busy moment of the machine meets them all; one round that is not counted
warms caches and the JVM up. One step times all of them: latencies from two machines could not be compared.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.tokens import query_ids
from helpers.encoders.embeddings import PASSAGES
from helpers.networks.encoder import QUERY, Encoder, wrapped
from helpers.retrieval import java
from helpers.retrieval.bm25 import searcher_of
from helpers.steps import step


@step(version=1, form="json", network=True, timing=True)
def latencies(lexical: dict[str, Any], dense: dict[str, Any], queries: pd.DataFrame, depth: int, timed: int,
              rounds: int) -> dict[str, Any]:
    """Time searches in Lucene indexes and in embeddings.

    For embeddings a query is tokenised and encoded, then compared with every passage.

    Args:
        lexical: for each stage of this kind `index` (a Lucene index folder), `k1` and `b`.
        dense: for each stage of this kind `passages` (the folder of `embeddings.passage_embeddings`), `query_length` and the
            arguments of `encoder.Encoder`: `backbone`, `model`, `pooling`, `normalise`, `token_types`.
        queries: columns query_id, text.
        depth: texts retrieved for each query.
        timed: how many of the queries.
        rounds: how often.

    Returns:
        `queries`, how many were timed, and in `stages` for each of them `search` and, if it is dense, `encode`: milliseconds a
        query of each round.
    """
    asked = list(queries["text"].head(timed))
    ready = {name: Dense(**given) for name, given in dense.items()}
    found: dict[str, dict[str, list[float]]] = {name: {"search": []} for name in lexical}
    found |= {name: {"encode": [], "search": []} for name in dense}
    for _ in range(rounds + 1):
        for name, given in lexical.items():
            found[name]["search"].append(java.call(timed_searches, given["index"], asked, given["k1"], given["b"], depth))
        for name, stage in ready.items():
            vectors = stage.timed_encoding(asked)
            found[name]["encode"].append(vectors[1])
            found[name]["search"].append(stage.timed_search(vectors[0], depth))
    return {"queries": len(asked), "stages": {name: {part: spent[1:] for part, spent in parts.items()}
                                              for name, parts in found.items()}}


def timed_searches(index: Path, texts: list[str], k1: float, b: float, depth: int) -> float:
    """Milliseconds a query, in the process that has the JVM; opening the index does not count."""
    searcher = searcher_of(index, k1, b)
    return clocked(lambda text: searcher.search(text, k=depth), texts)[1]


class Dense:
    """An encoder and its embeddings, ready to search; arguments as in `latencies`."""

    def __init__(self, passages: Path, query_length: int, **encoder: Any):
        import faiss

        self._encoder, self._length, vectors = Encoder(**encoder), query_length, np.load(passages / PASSAGES)
        self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(np.ascontiguousarray(vectors))

    def timed_encoding(self, texts: list[str]) -> tuple[list[np.ndarray], float]:
        """The vectors of the queries, and milliseconds a query."""
        return clocked(self._encode, texts)

    def timed_search(self, vectors: list[np.ndarray], depth: int) -> float:
        """Milliseconds a query, on one thread."""
        import faiss

        before = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            return clocked(lambda vector: self._index.search(vector, min(depth, self._index.ntotal)), vectors)[1]
        finally:
            faiss.omp_set_num_threads(before)

    def _encode(self, text: str) -> np.ndarray:
        ids = query_ids(self._encoder.tokenizer, [text], self._length)[0]
        return self._encoder.vectors([wrapped(self._encoder.tokenizer, ids, self._length)], QUERY)


def clocked(function: Callable[[Any], Any], items: Sequence[Any]) -> tuple[list[Any], float]:
    """What the function gives for each item, and milliseconds an item."""
    clock = time.perf_counter()
    values = [function(item) for item in items]
    return values, 1000 * (time.perf_counter() - clock) / max(1, len(items))


def per_query(found: dict[str, list[float]]) -> np.ndarray:
    """Milliseconds a query of each round, encoding included."""
    return np.array(found["search"]) + np.array(found.get("encode", [0.0] * len(found["search"])))


@step(version=1, form="json")
def folder_size(folder_of: Path) -> dict[str, int]:
    """The size of what a step keeps: `bytes` of all files."""
    return {"bytes": sum(file.stat().st_size for file in folder_of.rglob("*") if file.is_file() and file.name != "manifest.json")}
