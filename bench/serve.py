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
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import psutil

from bench.work import Scale
from helpers.costs.timing import LANCE, OURS, SEQUENTIAL, SERVED_CROSS_ENCODER
from helpers.networks import backbone
from helpers.networks.encoder import SCORING, write_whole
from helpers.networks.fine_tuning import RankerTraining

CLIENTS = (1, 4, 16, 64)
SECONDS, CANDIDATES, CHEAP = 5.0, 20, 10_000
NAMES = (OURS, SEQUENTIAL, SERVED_CROSS_ENCODER, LANCE)


def prepare(scale: Scale) -> None:
    """Compute the steps that the services rest on."""
    for step in (scale.bed.index, scale.bed.tokens(backbone.resolve("packaged")), scale.bed.query_step, model(scale)):
        step.value()


def model(scale: Scale) -> Any:
    """The re-ranker's step."""
    return scale.model.model


def trial(scale: Scale) -> bool:
    """Whether this is no measurement."""
    return scale.queries < CANDIDATES


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """Load the contenders in turns with each number of clients, at most twice: the load with the higher rate is kept."""
    clients, seconds, cheap = ((1, 4), 0.5, 50) if trial(scale) else (CLIENTS, SECONDS, CHEAP)
    texts = list(scale.bed.query_frame["text"].head(scale.searched))
    names = [name for name in NAMES if name != LANCE or find_spec("lancedb")]
    best: dict[str, dict[str, dict[str, float]]] = {name: {} for name in names}
    with tempfile.TemporaryDirectory() as folder:
        write_whole(model(scale).value(), Path(folder), RankerTraining.max_length, SCORING["window_scores"])
        with ExitStack() as running:  # all at once, since those that nobody asks take no time
            ports = {name: running.enter_context(served(name, scale, folder)) for name in names}
            for port in ports.values():
                load(port, texts, 2, seconds=seconds / 2)  # warms up
            for turn, number in enumerate(clients * min(rounds, 2)):
                for name in names[turn % len(names):] + names[:turn % len(names)]:
                    tried = load(ports[name], texts, number, seconds=seconds)
                    best[name][str(number)] = max(best[name].get(str(number), tried), tried, key=lambda one: one["per_second"])
                    print(f"    {name}, {number}: {tried}", file=sys.stderr, flush=True)
        sizes = memory(scale, folder, texts, cheap)
    return {"rounds": min(rounds, 2), "contenders": best, "missing": [name for name in NAMES if name not in names],
            "candidates": CANDIDATES, "clients": list(clients), "load_seconds": seconds, "memory": sizes}


def load(port: int, texts: list[str], clients: int, seconds: float = 0, requests: int = 0, **asked: Any) -> dict[str, float]:
    """So many clients ask for so many seconds, or until so many requests are answered: `answers`, how many `per_second`, median
    and 99th percentile of their seconds, and how many were `refused` (503, 504)."""
    started, left = time.perf_counter(), itertools.count(1)

    def client(number: int) -> Iterator[tuple[int, float]]:
        connection = connected(port)
        for turn in itertools.count(number):
            if next(left) > requests if requests else time.perf_counter() - started > seconds:
                return
            began = time.perf_counter()
            settings = {"query": texts[turn * 7 % len(texts)], "candidates": CANDIDATES, **asked}
            yield ask(connection, "search", **settings)[0], time.perf_counter() - began

    with ThreadPoolExecutor(clients) as pool:
        got = list(itertools.chain(*pool.map(lambda number: list(client(number)), range(clients))))
    whole, taken = time.perf_counter() - started, [spent for status, spent in got if status == 200]
    p50, p99 = np.percentile(taken, [50, 99]).tolist() if taken else (float("nan"),) * 2
    return {"answers": len(taken), "per_second": len(taken) / whole, "p50": p50, "p99": p99, "refused": len(got) - len(taken)}


def connected(port: int) -> http.client.HTTPConnection:
    """A connection to a service on this machine."""
    return http.client.HTTPConnection("127.0.0.1", port, timeout=120)


def ask(connection: http.client.HTTPConnection, path: str, **asked: Any) -> tuple[int, bytes, int]:
    """Status, body, and the seconds of `Retry-After`, of what is asked."""
    connection.request("GET", f"/{path}?{urlencode(asked)}")
    response = connection.getresponse()
    return response.status, response.read(), int(response.headers.get("Retry-After", 0))


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
    process = subprocess.Popen([sys.executable, "-m", "bench.served", arguments], stdout=subprocess.PIPE, text=True)
    try:
        yield int(next(line for line in process.stdout if line.startswith("port ")).split()[1])  # type: ignore[union-attr]
    finally:
        process.terminate()
        process.wait()
