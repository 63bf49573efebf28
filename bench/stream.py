"""Streaming: the memory that each step of a ranking needs, on collections that are ten times as large each.

A generated collection goes through the book's own steps: text store, Lucene index, search, training pairs, tokens, training,
embeddings, exact search in blocks, re-ranking. Every step has a process of its own, and a store that is thrown away.

What counts is private memory, the JVM's included: the sum over a process and its children of Linux's `Pss_Anon`, looked at ten
times a second. Pages of files that are mapped, such as embeddings, are not in it: the kernel takes them back when it needs room;
and a page that a process has in common with its child counts once.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from bench.work import Scale
from helpers.costs.timing import clocked
from helpers.networks import backbone
from helpers.retrieval.bm25 import K1, B
from helpers.retrieval.indexes import text_index
from helpers.steps import Step
from helpers.systems.bi_encoder import UNTRAINED, BiEncoder, reading
from helpers.systems.rerankers import ListwiseReranker
from helpers.systems.testbed import Testbed

DEPTH, CANDIDATES = 100, 20
HEAP = "256m"  # of the JVM, which fills what it may have before it tidies up
EVERY = 0.1  # seconds
LAYER = "packaged:0"
SHORTEST, LONGEST = 20, 60  # words of a passage
QUERY_WORDS = 3  # words of a query
AT_ONCE = 10_000  # passages drawn together


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """Seconds and peak memory of every step, by the number of passages."""
    del rounds  # a step is measured once: its value is there afterwards
    measured: dict[str, list[dict[str, float]]] = {}
    for size in scale.passages:
        with tempfile.TemporaryDirectory() as place:
            folder = generate(Path(place) / "collection", size, scale.generated_queries)
            for stage in stages(str(folder)):
                point = {"size": size, **one(stage, folder, Path(place) / "store")}
                print(f"    {size:,} passages, {stage}: {point}", file=sys.stderr, flush=True)
                measured.setdefault(stage, []).append(point)
    return {"contenders": {}, "queries": scale.generated_queries, "stages": measured}


def one(stage: str, folder: Path, store: Path) -> dict[str, float]:
    """Seconds and peak megabytes of a step in a new process; RuntimeError if it fails, or its memory cannot be read."""
    env = {**os.environ, "BOOK_STORE": str(store), "BOOK_HEAP": HEAP}
    command = [sys.executable, "-m", "bench.stream", stage, str(folder)]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=errors, text=True)
        peak = 0
        while process.poll() is None:
            peak = max(peak, sum(map(private, family(process.pid))))
            time.sleep(EVERY)
        errors.seek(0)
        if process.returncode != 0:
            raise RuntimeError(f"{stage}: {errors.read()[-2000:]}")
    if not peak:
        raise RuntimeError(f"{stage}: no memory was seen; Linux tells it since 5.4, as Pss_Anon in /proc/<pid>/smaps_rollup")
    return {"seconds": float(process.communicate()[0].split()[-1]), "megabytes": peak / 1e6}


def family(pid: int) -> list[int]:
    """A process and all that descend from it; none if it has ended."""
    try:
        return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    except psutil.NoSuchProcess:
        return []


def private(pid: int) -> int:
    """Bytes of a process's memory without a file behind it, its share of what others have, too; 0 if it has ended.

    psutil knows the share of all pages (`pss`) or the process's own (`uss`), both with those of mapped files.
    """
    try:
        kilobytes = re.search(r"^Pss_Anon: *(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)
    except OSError:
        return 0
    return int(kilobytes[1]) * 1024 if kilobytes else 0


def stages(folder: str) -> dict[str, Step]:
    """The steps of a ranking of a collection, every one after those that it stands on."""
    bed = reading(Testbed(folder, "passage"))
    run = bed.bm25(K1, B, DEPTH)
    model = ListwiseReranker(collection=folder, candidates=CANDIDATES, negatives="bm25", size=2, batch_size=1, backbone=LAYER,
                             losses={"bce": 1.0}, max_length=128, evaluation_queries=20, evaluations=1, words=bed.words,
                             overlap=bed.overlap)
    encoder = BiEncoder(folder, backbone=LAYER, loss=UNTRAINED, max_length=32)
    return {"text store": bed.store, "Lucene index": text_index(bed.store), "BM25 search": run,
            "tokens": bed.tokens(backbone.resolve(LAYER)), "training groups": model.groups, "training": model.model,
            "embeddings": encoder.embeddings(bed), "exact search": encoder.run(bed, DEPTH),
            "re-ranking": model.scores(bed, run, CANDIDATES)}


def main(stage: str, folder: str) -> None:
    """Compute a step, and print its seconds; the steps before it are there."""
    step = stages(folder)[stage]
    print(step.key)  # which takes the digest of the collection
    print(clocked(step.entry)[0])


# ---- a generated collection ----

def generate(folder: Path, passages: int, queries: int) -> Path:
    """Write a collection of any size in MS MARCO's file format: for measuring, not for ranking.

    Words are drawn as in a language: those of the packaged backbone's vocabulary, which has them in the order of their frequency,
    the n-th one with a probability in proportion to 1/n. Each query has the rarest words of a passage, judged as relevant.

    Writes collection.tsv, and queries and judgments of the splits train and test, of each so many queries, not more than there
    are passages, into a new folder; the same sizes give the same files.
    """
    folder.mkdir(parents=True)
    known = vocabulary()
    query_of = dict(zip(np.linspace(0, passages - 1, 2 * queries).astype(int).tolist(), range(2 * queries), strict=False))
    lines: tuple[list[str], list[str]] = ([], [])
    with open(folder / "collection.tsv", "w", encoding="utf-8") as out:
        for position, ranks in enumerate(drawn(passages, len(known))):
            out.write(f"{position}\t{' '.join(known[n] for n in ranks)}\n")
            if position in query_of:
                lines[query_of[position] % 2].append(f"q{position}\t{' '.join(known[n] for n in sorted(ranks)[-QUERY_WORDS:])}\n")
    for split, own in zip(("train", "test"), lines, strict=True):
        (folder / f"queries.{split}.tsv").write_text("".join(own))
        ids = [line.split("\t")[0][1:] for line in own]
        (folder / f"qrels.{split}.tsv").write_text("".join(f"q{n} 0 {n} 1\n" for n in ids))
    return folder


def vocabulary() -> list[str]:
    """The backbone's whole words, the most frequent ones first."""
    words = backbone.resolve("packaged").tokenizer().get_vocab()
    return sorted((word for word in words if word.isascii() and word.isalpha() and len(word) > 1), key=words.__getitem__)


def drawn(passages: int, words: int) -> Iterator[list[int]]:
    """The words of each passage, as ranks by frequency from 0."""
    random = np.random.default_rng(1)
    bounds = np.cumsum(1 / np.arange(1, words + 1))
    for start in range(0, passages, AT_ONCE):
        lengths = random.integers(SHORTEST, LONGEST + 1, size=min(AT_ONCE, passages - start))
        ranks = np.searchsorted(bounds, random.random(int(lengths.sum())) * bounds[-1])
        yield from (part.tolist() for part in np.split(ranks, np.cumsum(lengths)[:-1]))


if __name__ == "__main__":
    main(*sys.argv[1:])
