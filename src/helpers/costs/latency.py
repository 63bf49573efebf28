"""The latency of first stages: one query after the other, on one thread, and the room that an index takes.

One step times all stages, in turns: latencies from two machines could not be compared.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.costs.timing import clocked, in_turns
from helpers.data.runs import cut
from helpers.data.texts import Texts
from helpers.data.windows import WindowTokens, pair_ids, query_ids
from helpers.encoders.embeddings import PASSAGES, WORDS, WholeTexts, max_sim
from helpers.encoders.nearest_neighbours import EXACT, build, one_thread
from helpers.networks.backbone import Backbone, read_tokenizer
from helpers.networks.encoder import PASSAGE, QUERY, Encoder, wrapped, wrapped_texts
from helpers.networks.inference import load_scorer, logits
from helpers.retrieval import java
from helpers.retrieval.bm25 import search, searcher_of
from helpers.retrieval.feedback import counted
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
    encode = lambda text: reader.vectors(wrapped_texts(reader.tokenizer, [text], query_length), QUERY)

    def search(queries: list[np.ndarray]) -> float:
        with one_thread():
            return milliseconds(lambda query: index.search(query, min(depth, len(vectors))), queries)

    return {"encode": partial(milliseconds, encode, texts), "search": partial(search, [encode(text) for text in texts])}


@step(version=1, form="json")
def folder_size(folder_of: Path) -> dict[str, int]:
    """The size of what a step keeps: `bytes` of all files."""
    return {"bytes": sum(file.stat().st_size for file in folder_of.rglob("*") if file.is_file() and file.name != "manifest.json")}


OR, BM25 = "OR", "BM25"
PAIRS = "pairs of {}"


@step(version=2, form="json", timing=True)
def stage_times(model: Path, index: Path, queries: pd.DataFrame, store: Path, tokens: Path, k1: float, b: float, depths: list,
                max_length: int, query_length: int, timed: int, rounds: int, pairwise: Path | None = None,
                paired: list | None = None, pair_length: int = 0) -> dict[str, Any]:
    """Time the stages of the search application: the OR of the query's terms alone, BM25's ranking of what it returns, the model
    on the first R documents, and a pairwise model on all ordered pairs of the first ones.

    Args:
        depths: values of R.
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
        logits(scorer, [pair_ids(tokenizer, ids, max_length, reader[window]) for window in windows.get((query[0], depth), [])])

    firsts = {query: list(cut(own, max(paired or [0]))["doc_id"]) for query, own in run.groupby("query_id")}
    judge = load_scorer(pairwise) if pairwise else None

    def compare(count: int, query: tuple[str, str]) -> None:
        ids = query_ids(tokenizer, [query[1]], query_length)[0]
        logits(judge, [pair_ids(tokenizer, ids, pair_length, *(reader[f"{doc_id}#0"] for doc_id in pair))
                       for pair in permutations(firsts.get(query[0], [])[:count], 2)])

    asked = list(zip(first["query_id"], texts, strict=True))
    work: dict[str, Callable[[], float]] = {
        OR: lambda: java.call(counted, index, texts)[1],
        BM25: partial(java.call, lexical_search, index, texts, k1, b, max(depths)),
        **{str(depth): partial(milliseconds, partial(rerank, depth), asked) for depth in depths},
        **{PAIRS.format(count): partial(milliseconds, partial(compare, count), asked) for count in paired or []}}
    read = {str(depth): sum(len(own) for (_, of), own in windows.items() if of == depth) for depth in depths}
    return {"queries": len(first), "windows": read, "stages": in_turns(work, rounds)}


@step(version=1, form="json", timing=True)
def max_sim_latency(backbone: Backbone, run: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path, candidates: int,
                    max_length: int, query_length: int, timed: int, rounds: int) -> dict[str, Any]:
    """Time `embeddings.max_sim_run` as a search would use it: the texts were encoded before, and are in memory, the query is not.
    `queries`, how many were timed, and milliseconds a query of each round, `encode` and `order`."""
    encoder, texts = Encoder(backbone, None, "mean", normalise=True, token_types=False), WholeTexts(tokens, store)
    asked = dict(zip(queries["query_id"], queries["text"], strict=True))
    lists = cut(run, candidates).groupby("query_id", sort=False)["doc_id"].agg(list).head(timed)
    places = {text.doc_id: n for n, text in enumerate(Texts(store))}
    names = sorted({name for names in lists for name in names})
    states = dict(zip(names, encoder.token_vectors([wrapped(encoder.tokenizer, texts.at(places[name]), max_length)
                                                    for name in names], PASSAGE), strict=True))
    encode = lambda query: encoder.token_vectors(wrapped_texts(encoder.tokenizer, [asked[query]], query_length), QUERY)[0]
    vectors = {query: encode(query) for query in lists.index}
    order = lambda query: sorted(lists[query], key=lambda name: -max_sim(vectors[query][WORDS], states[name][WORDS]))
    parts = {name: partial(milliseconds, work, list(lists.index)) for name, work in (("encode", encode), ("order", order))}
    return {"queries": len(lists), **in_turns(parts, rounds)}
