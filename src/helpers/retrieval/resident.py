"""BM25 for a service: the index stays open in the process that has the JVM, so that a query does not pay for opening it."""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from helpers.retrieval.bm25 import searcher_of

kept = functools.lru_cache(maxsize=4)(searcher_of)


def search_each(index: Path, texts: Sequence[str], k1: float, b: float, depth: int) -> list[list[tuple[str, float]]]:
    """The hits of each text as (doc_id, score), ties in the order of runs; the ranking of `bm25.search`."""
    searcher: Any = kept(index, k1, b)
    return [sorted(((hit.docid, float(hit.score)) for hit in searcher.search(text, k=depth)), key=lambda hit: (hit[1], hit[0]),
                   reverse=True) for text in texts]
