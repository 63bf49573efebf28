"""The latency of first stages: one query after the other, on one thread, and the room that an index takes.

One step times all stages, in turns: latencies from two machines could not be compared.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.costs.timing import clocked, in_turns
from helpers.data.tokens import query_ids
from helpers.encoders.embeddings import PASSAGES
from helpers.encoders.nearest_neighbours import EXACT, build, one_thread
from helpers.networks.encoder import QUERY, Encoder, wrapped
from helpers.retrieval import java
from helpers.retrieval.bm25 import searcher_of
from helpers.steps import step


@step(version=1, form="json", timing=True)
def latencies(lexical: dict[str, Any], dense: dict[str, Any], queries: pd.DataFrame, depth: int, timed: int,
              rounds: int) -> dict[str, Any]:
    """Time searches in Lucene indexes and in embeddings.

    For embeddings a query is tokenised and encoded, then compared with every passage.

    Args:
        lexical: for each stage of this kind `index` (a Lucene index folder), `k1` and `b`.
        dense: for each stage of this kind `passages` (the folder of `embeddings.passage_embeddings`), `query_length` and the
            arguments of `encoder.Encoder`: `backbone`, `model`, `pooling`, `normalise`, `token_types`.

    Returns:
        `queries`, how many were timed, and in `stages` for each of them `search` and, if it is dense, `encode`: milliseconds a
        query of each round.
    """
    texts = list(queries["text"].head(timed))
    work: dict[tuple[str, str], Callable[[], float]] = {
        (name, "search"): partial(java.call, lexical_search, stage["index"], texts, stage["k1"], stage["b"], depth)
        for name, stage in lexical.items()}
    for name, stage in dense.items():
        work |= {(name, part): run for part, run in dense_work(texts, depth, **stage).items()}
    stages: dict[str, dict[str, list[float]]] = {}
    for (name, part), values in in_turns(work, rounds).items():
        stages.setdefault(name, {})[part] = values
    return {"queries": len(texts), "stages": stages}


def milliseconds(function: Callable[[Any], Any], items: Sequence[Any]) -> float:
    """What the function takes for an item, one after the other."""
    return 1000 * clocked(lambda: [function(item) for item in items])[0] / max(1, len(items))


def lexical_search(index: Path, texts: list[str], k1: float, b: float, depth: int) -> float:
    """Milliseconds a query, in the process that has the JVM; opening the index does not count."""
    searcher = searcher_of(index, k1, b)
    return milliseconds(lambda text: searcher.search(text, k=depth), texts)


def dense_work(texts: list[str], depth: int, passages: Path, query_length: int, **encoder: Any) -> dict[str, Callable[[], float]]:
    """What encodes the queries, and what searches with their vectors on one thread: either gives milliseconds a query."""
    reader, vectors = Encoder(**encoder), np.load(passages / PASSAGES)
    index = build(EXACT, vectors, M=0, seed=0)

    def encode(text: str) -> np.ndarray:
        ids = query_ids(reader.tokenizer, [text], query_length)[0]
        return reader.vectors([wrapped(reader.tokenizer, ids, query_length)], QUERY)

    def search(queries: list[np.ndarray]) -> float:
        with one_thread():
            return milliseconds(lambda query: index.search(query, min(depth, len(vectors))), queries)

    return {"encode": partial(milliseconds, encode, texts), "search": partial(search, [encode(text) for text in texts])}


def per_query(stage: dict[str, list[float]]) -> np.ndarray:
    """Milliseconds a query of each round, encoding included."""
    return np.sum([*stage.values()], axis=0)


@step(version=1, form="json")
def folder_size(folder_of: Path) -> dict[str, int]:
    """The size of what a step keeps: `bytes` of all files."""
    return {"bytes": sum(file.stat().st_size for file in folder_of.rglob("*") if file.is_file() and file.name != "manifest.json")}
