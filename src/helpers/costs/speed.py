"""Queries per minute of a whole ranking, retrieval and BM25 included (Steensland 2021, section 5.3.1).

Speed does not depend on the weights, so models of a shape are timed with random ones.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.costs.timing import always, clocked, interleave
from helpers.data.windows import WindowTokens, pair_ids, query_ids
from helpers.encoders import nearest_neighbours as dense
from helpers.encoders.embeddings import PASSAGES, QUERIES
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone, architecture, attention, configuration, name_of, parse_architecture
from helpers.networks.inference import TOKEN_BUDGET, batches, probabilities, ready
from helpers.retrieval import java
from helpers.retrieval.bm25 import search
from helpers.steps import numerics, step

RETRIEVAL = "retrieval"


@step(version=1, form="json", timing=True)
def ranking_speed(sizes: list[str], backbone: Backbone, index: Path, queries: pd.DataFrame, store: Path, tokens: Path,
                  k1: float, b: float, candidates: int, max_length: int, query_length: int, timed: int, rounds: int,
                  device: str) -> dict[str, Any]:
    """Time retrieval and re-ranking by cross-encoders of several sizes.

    Args:
        sizes: shapes as `layers/dimensions/heads`, such as `12/768/12`.
        backbone: whose tokenizer made the window tokens; its vocabulary is every model's.

    Returns:
        `retrieval`, seconds of each round for all timed queries; `queries`, `windows` and `device`; and for each size in
        `sizes` its `parameters` and `seconds`, those of re-ranking alone, round by round.
    """
    first = queries.head(timed)
    reader, tokenizer = WindowTokens(tokens, store), backbone.tokenizer()

    retrieve = partial(java.call, search, index, first, k1, b, candidates)
    run = retrieve()

    def rerank(model: Any) -> int:
        texts = dict(zip(first["query_id"], query_ids(tokenizer, list(first["text"]), query_length), strict=True))
        inputs = [pair_ids(tokenizer, texts[query], max_length, reader[window])
                  for query, doc_id in run[["query_id", "doc_id"]].itertuples(index=False)
                  for window in reader.windows_of(doc_id)]
        probabilities(model, inputs)
        return len(inputs)

    with numerics.using(device):
        models = {size: random_cross_encoder(size, backbone) for size in sizes}
        reranking = {size: always(partial(rerank, model)) for size, model in models.items()}
        times = interleave({RETRIEVAL: always(retrieve), **reranking}, rounds)
    return {"queries": len(first), "windows": times.given[sizes[0]], "device": device, "retrieval": times.seconds[RETRIEVAL],
            "sizes": {size: {"parameters": model.num_parameters(), "seconds": times.seconds[size]}
                      for size, model in models.items()}}


def random_cross_encoder(size: str, backbone: Backbone) -> Any:
    """A BERT cross-encoder of a shape, `layers/dimensions/heads`, with random weights and the backbone's vocabulary; BadInput for
    another shape."""
    from transformers import AutoModelForSequenceClassification

    config = architecture(name_of(parse_architecture(f"BERT/{size}")))
    config.update({"vocab_size": configuration(backbone).vocab_size, "num_labels": 1})
    return ready(AutoModelForSequenceClassification.from_config(config, attn_implementation=attention()))


def per_minute(speed: Mapping[str, Any], size: str) -> np.ndarray:
    """Queries per minute of each round, retrieval included."""
    return 60 * speed["queries"] / (np.array(speed["retrieval"]) + np.array(speed["sizes"][size]["seconds"]))


DRAWS = 20  # orders of the examples, of which each gives other batches


@step(version=2, form="json")
def padding(pairs: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone, batch_size: int,
            max_length: int, query_length: int) -> dict[str, Any]:
    """Count the tokens of pairs (columns query_id, window_id) in the batches that are made of them.

    Returns:
        `real`, the tokens of all pairs, and how many a network reads of them: `random`, in batches of random order, each padded
        to its longest pair (the Trainer's default); `grouped`, in those of a training here; `unrounded`, in the same if
        their lengths were not rounded up; `sorted`, in those of scoring, if the network needs padding; `packed`, in those of
        scoring by a network that needs none. The first three are means over twenty orders.
    """
    tokenizer, reader = backbone.tokenizer(), WindowTokens(tokens, store)
    ids = dict(zip(queries["query_id"], query_ids(tokenizer, list(queries["text"]), query_length), strict=True))
    lengths = np.array([len(pair_ids(tokenizer, ids[query], max_length, reader[window])[0])
                        for query, window in pairs[["query_id", "window_id"]].itertuples(index=False)])
    ends = range(batch_size, len(lengths), batch_size)  # of batches, the last of which may be smaller
    multiple = fine_tuning.collator(tokenizer).pad_to_multiple_of or 1
    drawn = [(np.random.default_rng(seed).permutation(len(lengths)), grouped_order(lengths, batch_size, seed))
             for seed in range(DRAWS)]
    return {"real": int(lengths.sum()), "pairs": len(lengths), "packed": int(lengths.sum()),
            "random": float(np.mean([padded(lengths, np.split(order, ends)) for order, _ in drawn])),
            "grouped": float(np.mean([padded(lengths, np.split(order, ends), multiple) for _, order in drawn])),
            "unrounded": float(np.mean([padded(lengths, np.split(order, ends)) for _, order in drawn])),
            "sorted": padded(lengths, batches(lengths, TOKEN_BUDGET))}


def padded(lengths: np.ndarray, groups: Iterable[np.ndarray], multiple: int = 1) -> int:
    """Tokens of all batches (positions of texts), each text as long as its batch's longest, rounded up to a multiple."""
    return sum(len(group) * -(-int(lengths[group].max()) // multiple) * multiple for group in groups)


def grouped_order(lengths: np.ndarray, batch_size: int, seed: int) -> np.ndarray:
    """An order in which the Trainer takes examples that it groups by length."""
    import torch
    from transformers.trainer_pt_utils import get_length_grouped_indices

    return np.array(get_length_grouped_indices(lengths.tolist(), batch_size, generator=torch.Generator().manual_seed(seed)))


# The speed of exact and approximate search for nearest neighbours, on one thread.
#
# Time is the processor's, not the clock's: a search takes less than a millisecond, for which the clock would mostly measure what
# else the machine was doing. On one thread, which waits for nothing, the two are the same on a quiet machine.

@step(version=1, form="table", timing=True)
def search_speed(passages: Path, query_vectors: Path, size: int, M: int, ef_search: list[int], nprobe: list[int], timed: int,
                 rounds: int, noise: float, seed: int, known: int | None = None) -> pd.DataFrame:
    """Recall and speed of every kind of index over a collection of one size, on one thread.

    All indexes are in memory at once: at 100,000 vectors of 384 dimensions 0.5 GB.

    Args:
        size: vectors searched, see `nearest_neighbours.resized`.
        M: links of a vector in HNSW's graph.
        noise: of synthetic vectors.
        seed: of sample and noise, and of both indexes.
        known: how many of the real vectors are used at most; by default all.

    Returns:
        A row a kind and setting: `recall` of the exact best ten and its standard error over queries; queries a second, searched
        `alone` (one call each) and `together` (one call for all of them), as median and quartiles over rounds; `build` in
        seconds; `bytes` of the index; `size` and the `real` vectors of it.
    """
    import faiss

    vectors, queries = np.load(passages / PASSAGES, mmap_mode="r"), np.load(query_vectors / QUERIES)
    if known is not None:
        vectors = vectors[np.sort(np.random.default_rng(seed).permutation(len(vectors))[:known])]
    collection, real = dense.resized(vectors, size, noise, seed), min(size, len(vectors))
    cases = dense.settings(ef_search, nprobe)
    with dense.one_thread():
        built, build_seconds = dict[str, Any](), dict[str, float]()
        for kind in dict.fromkeys(kind for kind, _ in cases):
            build_seconds[kind], built[kind] = clocked(partial(dense.build, kind, collection, M, seed), time.thread_time)
            if kind == dense.EXACT:  # it holds the vectors: no second copy
                collection = faiss.rev_swig_ptr(built[kind].get_xb(), collection.size).reshape(collection.shape)
        truth = dense.neighbours(built[dense.EXACT], dense.EXACT, dense.NO_SETTING, queries)[0]
        rows, speeds = [], rates(built, cases, queries, timed, rounds)
        for kind, setting in cases:
            share = dense.recall(dense.neighbours(built[kind], kind, setting, queries)[0], truth)
            rows.append({"kind": kind, "setting": setting, "size": size, "real": real, "recall": float(share.mean()),
                         "recall_error": float(share.std(ddof=1) / np.sqrt(len(share))) if len(share) > 1 else 0.0,
                         **speeds[kind, setting], "build": build_seconds[kind], "bytes": stored_bytes(built[kind])})
    return pd.DataFrame(rows)


def stored_bytes(index: Any) -> int:
    """What the index takes on disk, without writing it there."""
    import faiss

    sizes: list[int] = []
    writer = faiss.PyCallbackIOWriter(lambda block: sizes.append(len(block)))  # type: ignore[attr-defined]
    faiss.write_index(index, writer)
    del writer  # hands on what it still holds
    return sum(sizes)


def rates(built: dict[str, Any], cases: list[tuple[str, int]], queries: np.ndarray, alone: int,
          rounds: int) -> dict[tuple[str, int], dict[str, float]]:
    """Queries a second of each case, the first ones alone and all together: median and quartiles over the rounds."""
    parts = {"alone": [queries[n:n + 1] for n in range(min(alone, len(queries)))], "together": [queries]}

    def searching(kind: str, setting: int, how: str) -> Callable[[], Any]:
        dense.tune(built[kind], kind, setting)
        return lambda: [built[kind].search(vectors, dense.DEPTH) for vectors in parts[how]]

    times = interleave({(case, how): partial(searching, *case, how) for case in cases for how in parts}, rounds,
                       time.thread_time).seconds
    return {case: {f"{how}{suffix}": float(np.quantile(sum(map(len, parts[how])) / np.array(times[case, how]), share))
                   for how in parts for suffix, share in (("", 0.5), ("_low", 0.25), ("_high", 0.75))} for case in cases}


@step(version=1, form="table", timing=True)
def compressed_speed(passages: Path, query_vectors: Path, codes: list[str], timed: int, rounds: int, seed: int) -> pd.DataFrame:
    """Recall, size and speed of every code over the whole real collection, exact search first.

    Returns:
        A row a code: `recall` of the exact best ten; `bytes` of a vector, apart from what all share; `build`, the seconds of
        learning the code and of encoding all vectors; queries a second, `alone` and `together`, as in `search_speed`.
    """
    vectors, queries = np.load(passages / PASSAGES), np.load(query_vectors / QUERIES)
    names = list(dict.fromkeys([dense.WHOLE, *codes]))
    with dense.one_thread():
        timings = {code: clocked(partial(dense.compressed, code, vectors, seed), time.thread_time) for code in names}
        built = {code: index for code, (_, index) in timings.items()}
        truth = dense.neighbours(built[dense.WHOLE], dense.WHOLE, dense.NO_SETTING, queries)[0]
        speeds = rates(built, [(code, dense.NO_SETTING) for code in names], queries, timed, rounds)
        return pd.DataFrame([
            {"code": code, "recall": float(dense.recall(found, truth).mean()), "bytes": int(index.sa_code_size()),
             "build": timings[code][0], **speeds[code, dense.NO_SETTING]}
            for code, index in built.items() for found in [dense.neighbours(index, code, dense.NO_SETTING, queries)[0]]])
