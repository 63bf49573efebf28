"""Streaming: the memory that each step of a ranking needs, on collections that are ten times as large each.

A generated collection goes through the book's own steps: text store, Lucene index, search, training pairs, tokens, training,
embeddings, exact search in blocks, re-ranking. Every step has a process of its own, and a store that is thrown away.

What counts is private memory, the JVM's included: the sum over a process and its children of Linux's `Pss_Anon`, looked at ten
times a second. Pages of files that are mapped, such as embeddings, are not in it: the kernel takes them back when it needs room;
and a page that a process has in common with its child counts once.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from helpers.costs.timing import clocked
from helpers.networks import backbone
from helpers.retrieval.bm25 import K1, B
from helpers.retrieval.lucene import text_index
from helpers.steps import Step
from helpers.systems.bi_encoder import UNTRAINED, BiEncoder, reading
from helpers.systems.reranker import Reranker
from helpers.systems.testbed import Testbed
from press.bench.large import generate
from press.bench.scale import Scale

DEPTH, CANDIDATES = 100, 20
HEAP = "256m"  # of the JVM, which fills what it may have before it tidies up
EVERY = 0.1  # seconds
LAYER = "packaged:0"


def prepare(scale: Scale) -> None:
    """Nothing: collections are generated."""


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """Seconds and peak memory of every step, by the number of passages.

    Raises:
        RuntimeError: with what a process said, if it failed.
    """
    del rounds  # a step is measured once: its value is there afterwards
    found: dict[str, list[dict[str, float]]] = {}
    for size in scale.passages:
        with tempfile.TemporaryDirectory() as place:
            folder = generate(Path(place) / "collection", size, scale.asked)
            for stage in stages(str(folder)):
                point = {"size": size, **one(stage, folder, Path(place) / "store")}
                print(f"    {size:,} passages, {stage}: {point}", file=sys.stderr, flush=True)
                found.setdefault(stage, []).append(point)
    return {"contenders": {}, "queries": scale.asked, "stages": found}


def one(stage: str, folder: Path, store: Path) -> dict[str, float]:
    """Seconds and peak megabytes of a step in a new process.

    Raises:
        RuntimeError: with what the process said, if it failed; if its memory cannot be read.
    """
    env = {**os.environ, "BOOK_STORE": str(store), "BOOK_HEAP": HEAP}
    command = [sys.executable, "-m", "press.bench.stream", stage, str(folder)]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=said, text=True)
        peak = 0
        while process.poll() is None:
            peak = max(peak, sum(map(private, family(process.pid))))
            time.sleep(EVERY)
        said.seek(0)
        if process.returncode != 0:
            raise RuntimeError(f"{stage}: {said.read()[-2000:]}")
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
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss_Anon:")), 0)


def stages(folder: str) -> dict[str, Step]:
    """The steps of a ranking of a collection, every one after those that it stands on."""
    bed = reading(Testbed(folder, "passage"))
    run = bed.bm25(K1, B, DEPTH)
    model = Reranker(folder, "passage", candidates=CANDIDATES, positives=1, negatives=3, answers=False, backbone=LAYER, epochs=1,
                     max_length=128, evaluation_queries=20, evaluations=1, words=bed.words, overlap=bed.overlap)
    encoder = BiEncoder(folder, backbone=LAYER, loss=UNTRAINED, max_length=32)
    return {"text store": bed.store, "Lucene index": text_index(bed.store), "BM25 search": run,
            "tokens": bed.tokens(backbone.resolve(LAYER)), "training pairs": model.pairs, "training": model.model,
            "embeddings": encoder.embeddings(bed), "exact search": encoder.run(bed, DEPTH),
            "re-ranking": model.scores(bed, run, CANDIDATES)}


def main(stage: str, folder: str) -> None:
    """Compute a step, and print its seconds; the steps before it are there."""
    step = stages(folder)[stage]
    print(step.key)  # which takes the digest of the collection
    print(clocked(step.entry)[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
