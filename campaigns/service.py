"""`make load`: the service under clients of mixed cost, over loopback; ends with 1 if small requests wait or any gets a 504.

    python campaigns/service.py --clients 64 --large 2 --seconds 60

Large requests re-rank 200 candidates twice (feedback by whole documents), half as many after a refusal of so many.
The others are BM25 alone, or re-rank one to three candidates: small where that took half a second at most while nobody else
asked. Their clients think for some seconds, as people do. Who is refused waits as long as `Retry-After` has it.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np

from bench import serve
from helpers.data.collection import open_collection

P99, THINK, SMALL = 2.0, 6.0, 0.5  # seconds
Got = tuple[str, int, float]  # kind, status, seconds


def ask(port: int, path: str, **asked: object) -> tuple[int, dict, int]:
    """Status, answer and `Retry-After`, by a connection of its own: one that idles while its client thinks is closed."""
    with closing(serve.connected(port)) as connection:
        status, body, wait = serve.ask(connection, path, **asked)
    return status, json.loads(body), wait


def measured(port: int, texts: list[str]) -> list[tuple[str, dict]]:
    """The requests that are not large, by what each takes alone, the median of three."""
    found = []
    for settings in ({"reranker": "none"}, *({"candidates": count} for count in (1, 2, 3))):
        times = [time.monotonic()] + [ask(port, "search", query=text, **settings) and time.monotonic() for text in texts[:3]]
        found.append(("small" if np.median(np.diff(times)) <= SMALL else "middle", settings))
    return found


def client(port: int, number: int, others: list[tuple[str, dict]], texts: list[str], until: float) -> list[Got]:
    """What one client gets until its time is over; without other requests it asks for large ones."""
    rng, got, candidates, large = random.Random(number), list[Got](), 200, not others
    time.sleep(0 if large else rng.random() * THINK)
    while time.monotonic() < until:
        kind, settings = (f"large, {candidates}", {"candidates": candidates, "feedback": "documents"}) if large else (
            rng.choice([others[0], rng.choice(others[1:])]))  # half of them BM25 alone
        began = time.monotonic()
        status, content, wait = ask(port, "search", query=rng.choice(texts), **settings)
        got.append((kind, status, time.monotonic() - began))
        smaller = large and status == 503 and candidates > 1 and "fewer" in content["error"]
        candidates = candidates // 2 if smaller else candidates
        pause = 0 if smaller else wait if status == 503 else 0 if large else rng.expovariate(1 / THINK)
        time.sleep(max(0.0, min(pause, until - time.monotonic())))
    return got


def main(clients: int, large: int, seconds: float, reranker: str) -> int:
    """Start the service, load it, print what came, and end it; the exit code."""
    command = [sys.executable, "-m", "press.cli", "serve", "--port", "0", "--reranker", reranker]
    texts = list(open_collection("almanac").queries("test")["text"].head(500))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        try:
            line = next((line for line in service.stdout or () if "listening" in line), "")
            port = int(line.partition(";")[0].rpartition(":")[2])
            others = measured(port, texts)
            until = time.monotonic() + seconds
            with ThreadPoolExecutor(clients) as pool:
                asking = [pool.submit(client, port, number, [] if number < large else others, texts, until)
                          for number in range(clients)]
                time.sleep(seconds / 2)
                rate = ask(port, "health")[1]["per_second"]
                got = [one for each in asking for one in each.result()]
        finally:
            service.terminate()
    small = sorted(spent for kind, status, spent in got if kind == "small" and status == 200)
    print(f"{clients} clients, {large} of them large, {seconds:.0f} s; windows a second: {rate}; {others}")
    for (kind, status), count in sorted(Counter((kind, status) for kind, status, _ in got).items()):
        spent = np.percentile([own for one, code, own in got if (one, code) == (kind, status)], [50, 99])
        print(f"{kind:12} {status} {count:6}   p50 {spent[0]:.2f} s   p99 {spent[1]:.2f} s")
    bad = any(status not in (200, 503) for _, status, _ in got)
    return int(bad or not small or float(np.percentile(small, 99)) > P99)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--large", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--reranker", default="base")
    sys.exit(main(**vars(parser.parse_args())))
