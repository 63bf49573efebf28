"""The stages of the search application, timed: one query after the other, as they are asked."""

from collections.abc import Callable
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.costs.latency import lexical_search, milliseconds
from helpers.costs.timing import in_turns
from helpers.data.runs import cut
from helpers.data.tokens import WindowTokens, duo_ids, pair_ids, query_ids
from helpers.networks.backbone import read_tokenizer
from helpers.networks.scoring import load_scorer, logits
from helpers.retrieval import java
from helpers.retrieval.bm25 import search
from helpers.retrieval.feedback import counted
from helpers.steps import step

OR, BM25 = "OR", "BM25"
PAIRS = "pairs of {}"


@step(version=2, form="json", timing=True)
def stage_times(model: Path, index: Path, queries: pd.DataFrame, store: Path, tokens: Path, k1: float, b: float, depths: list,
                max_length: int, query_length: int, timed: int, rounds: int, pairwise: Path | None = None,
                paired: list | None = None, pair_length: int = 0) -> dict[str, Any]:
    """Time the OR of the query's terms alone, BM25's ranking of what it returns, the model on the first R documents, and a
    pairwise model on all ordered pairs of the first ones.

    Args:
        depths: values of R.
        timed: queries, the first ones.
        pairwise: a pairwise model with the same tokenizer; None for no such stage.
        paired: numbers of documents that it compares. BM25's first ones stand for those of the stage before.
        pair_length: tokens of its inputs.

    Returns:
        `queries`, how many; `windows`, how many the model read at each R; `stages`: milliseconds a query of each round, under
        `OR`, `BM25`, each R as a text and `pairs of` each number.
    """
    first, texts = queries.head(timed), list(queries["text"].head(timed))
    run = java.call(search, index, first, k1, b, max(depths))
    scorer, reader, tokenizer = load_scorer(model), WindowTokens(tokens, store), read_tokenizer(model)
    windows = {(query, depth): [window for doc_id in cut(own, depth)["doc_id"] for window in reader.windows_of(doc_id)]
               for query, own in run.groupby("query_id") for depth in depths}

    def rerank(depth: int, query: tuple[str, str]) -> None:
        ids = query_ids(tokenizer, [query[1]], query_length)[0]
        logits(scorer, [pair_ids(tokenizer, ids, reader[window], max_length) for window in windows.get((query[0], depth), [])])

    firsts = {query: list(cut(own, max(paired or [0]))["doc_id"]) for query, own in run.groupby("query_id")}
    judge = load_scorer(pairwise) if pairwise else None

    def compare(count: int, query: tuple[str, str]) -> None:
        ids = query_ids(tokenizer, [query[1]], query_length)[0]
        logits(judge, [duo_ids(tokenizer, ids, [reader[f"{doc_id}#0"] for doc_id in pair], pair_length)
                       for pair in permutations(firsts.get(query[0], [])[:count], 2)])

    asked = list(zip(first["query_id"], texts, strict=True))
    work: dict[str, Callable[[], float]] = {
        OR: lambda: java.call(counted, index, texts)[1],
        BM25: partial(java.call, lexical_search, index, texts, k1, b, max(depths)),
        **{str(depth): partial(milliseconds, partial(rerank, depth), asked) for depth in depths},
        **{PAIRS.format(count): partial(milliseconds, partial(compare, count), asked) for count in paired or []}}
    read = {str(depth): sum(len(own) for (_, of), own in windows.items() if of == depth) for depth in depths}
    return {"queries": len(first), "windows": read, "stages": in_turns(work, rounds)}


def total(times: dict[str, Any], depth: int, paired: int = 0) -> np.ndarray:
    """Milliseconds a query of each round for the application with R documents, and the first ones in pairs; R = 0 for BM25 alone.
    """
    names = [BM25, *([str(depth)] if depth else []), *([PAIRS.format(paired)] if paired else [])]
    return np.sum([times["stages"][name] for name in names], axis=0)
