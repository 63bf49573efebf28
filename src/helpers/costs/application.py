"""The stages of the search application, timed: one query after the other, as they are asked."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.costs.latency import lexical_search, milliseconds
from helpers.costs.timing import in_turns
from helpers.data.runs import cut
from helpers.data.tokens import WindowTokens, pair_ids, query_ids
from helpers.networks.scoring import load_scorer, logits
from helpers.retrieval import java
from helpers.retrieval.bm25 import search
from helpers.retrieval.or_phase import counted
from helpers.steps import step

OR, BM25 = "OR", "BM25"


@step(version=1, form="json", timing=True)
def stage_times(model: Path, index: Path, queries: pd.DataFrame, store: Path, tokens: Path, k1: float, b: float, depths: list,
                max_length: int, query_length: int, timed: int, rounds: int) -> dict[str, Any]:
    """Time the OR of the query's terms alone, BM25's ranking of what it returns, and the model on the first R documents.

    Args:
        depths: values of R.
        timed: queries, the first ones.

    Returns:
        `queries`, how many; `windows`, how many the model read at each R; `stages`: milliseconds a query of each round, under
        `OR`, `BM25` and each R as a text.
    """
    from transformers import AutoTokenizer

    first, texts = queries.head(timed), list(queries["text"].head(timed))
    run = java.call(search, index, first, k1, b, max(depths))
    scorer, reader, tokenizer = load_scorer(model), WindowTokens(tokens, store), AutoTokenizer.from_pretrained(model)
    windows = {(query, depth): [window for doc_id in cut(own, depth)["doc_id"] for window in reader.windows_of(doc_id)]
               for query, own in run.groupby("query_id") for depth in depths}

    def rerank(depth: int, query: tuple[str, str]) -> None:
        ids = query_ids(tokenizer, [query[1]], query_length)[0]
        logits(scorer, [pair_ids(tokenizer, ids, reader[window], max_length) for window in windows.get((query[0], depth), [])])

    asked = list(zip(first["query_id"], texts, strict=True))
    work: dict[str, Callable[[], float]] = {
        OR: lambda: java.call(counted, index, texts)[1],
        BM25: partial(java.call, lexical_search, index, texts, k1, b, max(depths)),
        **{str(depth): partial(milliseconds, partial(rerank, depth), asked) for depth in depths}}
    read = {str(depth): sum(len(own) for (_, of), own in windows.items() if of == depth) for depth in depths}
    return {"queries": len(first), "windows": read, "stages": in_turns(work, rounds)}


def total(times: dict[str, Any], depth: int) -> np.ndarray:
    """Milliseconds a query of each round for the application with R documents; R = 0 for BM25 alone."""
    return np.array(times["stages"][BM25]) + (np.array(times["stages"][str(depth)]) if depth else 0.0)
