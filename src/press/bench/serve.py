"""The service under load: its answers a second and their times, beside what others would put in its place, with the same model.

The clients are threads of this process, each with a connection of its own, which asks again as soon as it is answered. All
contenders run behind the same service and re-rank BM25's first texts. Then its memory over many cheap requests (BM25 alone).
"""

import http.client
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import psutil

from helpers.costs.contenders import LANCE, OURS, SEQUENTIAL, SERVED_CROSS_ENCODER
from helpers.networks import backbone
from helpers.networks.training_settings import RankerTraining
from helpers.networks.whole_model import SCORING, write_whole
from helpers.systems.listwise_reranker import WarmUp
from press.bench.work import Scale

CLIENTS = (1, 4, 16, 64)
SECONDS, CANDIDATES, CHEAP = 5.0, 20, 10_000
NAMES = (OURS, SEQUENTIAL, SERVED_CROSS_ENCODER, LANCE)


@dataclass(frozen=True)
class Load:
    """What clients got from a service."""

    seconds: float  # from the first request to the last answer
    taken: list[float]  # seconds of each answer
    refused: int  # answers that were none: 503, 504

    def as_json(self) -> dict[str, float]:
        """As the results' file has it."""
        p50, p99 = np.percentile(self.taken, [50, 99]) if self.taken else (float("nan"),) * 2
        return {"answers": len(self.taken), "per_second": len(self.taken) / self.seconds, "p50": float(p50), "p99": float(p99),
                "refused": self.refused}


def prepare(scale: Scale) -> None:
    """Compute the steps that the services rest on."""
    for step in (scale.bed.index, scale.bed.tokens(backbone.resolve("packaged")), scale.bed.query_step, model(scale)):
        step.value()


def model(scale: Scale) -> Any:
    """The base re-ranker's step; in a trial the trial's model."""
    return scale.model.model if trial(scale) else WarmUp().model


def trial(scale: Scale) -> bool:
    """Whether this is no measurement."""
    return scale.queries < CANDIDATES


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """Load the contenders in turns with each number of clients, at most twice: the load with the higher rate is kept."""
    with tempfile.TemporaryDirectory() as folder:
        write_whole(model(scale).value(), Path(folder), RankerTraining.max_length, SCORING["window_scores"])
        return measured(scale, folder, rounds)


def measured(scale: Scale, folder: str, rounds: int) -> dict[str, Any]:
    """The same with the model in a folder."""
    small = trial(scale)
    clients, seconds, cheap = ((1, 4), 0.5, 50) if small else (CLIENTS, SECONDS, CHEAP)
    texts = list(scale.bed.query_frame["text"].head(scale.searched))
    names = [name for name in NAMES if name != LANCE or find_spec("lancedb")]
    loads: dict[str, dict[int, list[dict[str, float]]]] = {name: {number: [] for number in clients} for name in names}
    with ExitStack() as running:  # all at once, since those that nobody asks take no time
        ports = {name: running.enter_context(served(name, scale, folder)) for name in names}
        for port in ports.values():
            load(port, texts, 2, seconds=seconds / 2)  # warms up
        for turn, number in enumerate(number for _ in range(min(rounds, 2)) for number in clients):
            for name in names[turn % len(names):] + names[:turn % len(names)]:
                loads[name][number].append(load(ports[name], texts, number, seconds=seconds).as_json())
                print(f"    {name}, {number}: {loads[name][number][-1]}", file=sys.stderr, flush=True)
    best = {name: {str(number): max(tries, key=lambda one: one["per_second"])
                     for number, tries in own.items()} for name, own in loads.items()}
    return {"rounds": min(rounds, 2), "contenders": best, "missing": [name for name in NAMES if name not in names],
            "candidates": CANDIDATES, "clients": list(clients), "load_seconds": seconds,
            "memory": memory(scale, folder, texts, cheap)}


def load(port: int, texts: list[str], clients: int, seconds: float = 0, requests: int = 0, **asked: Any) -> Load:
    """So many clients ask for so many seconds, or until so many requests are answered."""
    started, left = time.perf_counter(), itertools.count(1)

    def client(number: int) -> Iterator[tuple[int, float]]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        for turn in itertools.count(number):
            if next(left) > requests if requests else time.perf_counter() - started > seconds:
                return
            began = time.perf_counter()
            settings = {"query": texts[turn * 7 % len(texts)], "candidates": CANDIDATES, **asked}
            connection.request("GET", "/search?" + urlencode(settings))
            response = connection.getresponse()
            response.read()
            yield response.status, time.perf_counter() - began

    with ThreadPoolExecutor(clients) as pool:
        got = list(itertools.chain(*pool.map(lambda number: list(client(number)), range(clients))))
    return Load(time.perf_counter() - started, [taken for status, taken in got if status == 200],
                sum(status != 200 for status, _ in got))


def memory(scale: Scale, folder: str, texts: list[str], requests: int) -> dict[str, Any]:
    """MiB of the service and its Java after a fifth of so many cheap requests, and after all."""
    with served(OURS, scale, folder) as port:
        own = next(one for one in psutil.Process().children() if any(c.laddr.port == port for c in one.net_connections()))
        sizes = []
        for part in (requests // 5, requests - requests // 5):
            load(port, texts, 4, requests=part, reranker="none", k=1)
            sizes.append(sum(one.memory_info().rss for one in (own, *own.children(recursive=True))) / 2**20)
    return {"requests": requests, "MiB": sizes}


@contextmanager
def served(name: str, scale: Scale, folder: str) -> Iterator[int]:
    """The port of a service of a contender, in a process of its own."""
    arguments = json.dumps([name, scale.collection, scale.unit, folder])
    process = subprocess.Popen([sys.executable, "-m", "press.bench.served", arguments], stdout=subprocess.PIPE, text=True)
    try:
        yield int(next(line for line in process.stdout if line.startswith("port ")).split()[1])  # type: ignore[union-attr]
    finally:
        process.terminate()
        process.wait()
