"""Growth: time and memory of one, ten and a hundred times as many queries, documents and candidates.

One layer of the packaged backbone, as it is, does the work of a network. Every size has a process of its own, whose peak of
memory is read from the kernel, as `helpers.costs.encoder_cost` explains; loading models and libraries counts neither as time nor
as growth.
"""

import itertools
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from bench.work import Scale
from helpers.costs.encoder_cost import peak, reset_peak, resident
from helpers.costs.timing import clocked, in_new_process
from helpers.data.runs import cut
from helpers.data.texts import Texts, text_store
from helpers.data.windows import WHOLE, WindowTokens, pair_ids, query_ids, window_tokens
from helpers.encoders.embeddings import passage_embeddings
from helpers.networks import backbone
from helpers.networks.backbone import attention
from helpers.networks.inference import probabilities, ready
from helpers.retrieval import java
from helpers.retrieval.bm25 import K1, B, search
from helpers.systems.testbed import Testbed

AXES = ("queries", "documents", "candidates")
LAYER = "packaged:0"
REPEATS = (5, 3, 1)  # runs of a size, after one of the smallest that does not count
CANDIDATES, QUERIES = 20, 20  # of a query, and queries, where the other one grows
LENGTH, QUERY_LENGTH = 256, 47


def prepare(scale: Scale) -> None:
    """Compute the steps before it."""
    bed = scale.bed
    for step in (bed.index, bed.tokens(backbone.resolve(LAYER)), bed.query_step):
        step.value()


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """Measure every size of every axis, each in a new process; sizes grow in the same way on all axes."""
    del rounds  # a size is repeated as often as its length allows
    points: dict[str, list[dict[str, Any]]] = {axis: [] for axis in AXES}
    for axis, start in zip(AXES, scale.growth, strict=True):
        for times, repeats in zip(scale.times, REPEATS, strict=True):
            line = in_new_process("bench.growth", axis, scale.collection, scale.unit, start * times, start, repeats,
                                  label=f"{axis} x {times}").splitlines()[-1]
            points[axis].append(json.loads(line))
            print(f"    {axis}: {line}", file=sys.stderr, flush=True)
    return {"contenders": {}, "axes": points}


def one(axis: str, collection: str, unit: str, size: int, smallest: int, repeats: int) -> dict[str, Any]:
    """Seconds of each run of one size, and by how much it raises the peak of this process's memory."""
    run = {"queries": of_queries, "documents": of_documents, "candidates": of_candidates}[axis](Testbed(collection, unit))
    run(smallest)
    before = resident()
    reset_peak()
    seconds = [clocked(lambda: run(size))[0] for _ in range(repeats)]
    return {"size": size, "seconds": seconds, "megabytes": max(0.0, (peak() - before) / 1e6)}


def of_queries(bed: Testbed) -> Callable[[int], None]:
    """Search and re-rank for so many queries; the collection's come again and again, under new names."""
    index, score, texts = bed.index.value(), scorer(bed), list(bed.query_frame["text"])

    def run(size: int) -> None:
        queries = dict(zip(map(str, range(size)), itertools.cycle(texts), strict=False))
        frame = pd.DataFrame(list(queries.items()), columns=["query_id", "text"])
        ranking = cut(java.call(search, index, frame, K1, B, CANDIDATES), CANDIDATES)
        score(queries, list(ranking[["query_id", "doc_id"]].itertuples(index=False)))

    return run


def of_candidates(bed: Testbed) -> Callable[[int], None]:
    """Re-rank so many candidates of a few queries: the collection's texts, one after the other."""
    score, queries = scorer(bed), dict(zip(map(str, range(QUERIES)), bed.query_frame["text"], strict=False))
    ids = [text.doc_id for text in Texts(bed.store.value())]

    def run(size: int) -> None:
        candidates = itertools.cycle(ids)
        score(queries, [(query, doc_id) for query in queries for doc_id in itertools.islice(candidates, size)])

    return run


def of_documents(bed: Testbed) -> Callable[[int], None]:
    """Store, tokenise and encode so many texts: the collection's, again and again, under new names."""
    texts, encoder = list(Texts(bed.store.value())), backbone.resolve(LAYER)

    def run(size: int) -> None:
        with tempfile.TemporaryDirectory() as place:
            store, tokens, vectors = (Path(place) / name for name in ("store", "tokens", "vectors"))
            for folder in (store, tokens, vectors):
                folder.mkdir()
            part = SimpleNamespace(collection=SimpleNamespace(spec="growth"), sources=list, load=lambda: (
                text._replace(doc_id=f"{text.doc_id}-{n}")
                for n, text in zip(range(size), itertools.cycle(texts), strict=False)))
            made(text_store)(part, folder=store)
            made(window_tokens)(store, encoder.whole(), WHOLE, 0, folder=tokens)
            made(passage_embeddings)(store, tokens, encoder, "mean", True, False, LENGTH, folder=vectors)

    return run


def scorer(bed: Testbed) -> Callable[[dict[str, str], list[tuple[str, str]]], None]:
    """Scores (query, text) pairs, all windows of a text, by one layer with a random head."""
    from transformers import AutoModelForSequenceClassification

    encoder = backbone.resolve(LAYER)
    model = ready(encoder.build(AutoModelForSequenceClassification, num_labels=1, attn_implementation=attention()))
    tokenizer, reader = encoder.tokenizer(), WindowTokens(bed.tokens(encoder).value(), bed.store.value())

    def score(queries: dict[str, str], pairs: list[tuple[str, str]]) -> None:
        ids = dict(zip(queries, query_ids(tokenizer, list(queries.values()), QUERY_LENGTH), strict=True))
        probabilities(model, [pair_ids(tokenizer, ids[query], LENGTH, reader[window])
                              for query, doc_id in pairs for window in reader.windows_of(doc_id)])

    return score


def made(step: Any) -> Callable[..., Any]:
    """The function of a step, called as it is, without the store."""
    return step.definition.function


if __name__ == "__main__":
    print(json.dumps(one(*json.loads(sys.argv[1]))))
