"""Contenders timed in turns, so that a busy moment of the machine meets them all; the machine that they were timed on."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from scipy import special

from helpers.steps import ledger, numerics

LEVEL = 0.95  # of the interval for a median

T = TypeVar("T")
Prepare = Callable[[], Callable[[], Any]]  # makes a round's work ready, which is not timed; the work is


@dataclass(frozen=True)
class Rounds:
    """The rounds of all contenders, by their names."""

    seconds: dict[Any, list[float]]  # of each counted round
    given: dict[Any, Any]  # what each contender's work returned in its last round


def always(work: Callable[[], Any]) -> Prepare:
    """A contender whose rounds need nothing made ready."""
    return lambda: work


def wait() -> None:
    """Wait until a GPU has done what it was told."""
    if "torch" in sys.modules and numerics.device() == "cuda":
        import torch

        torch.cuda.synchronize()


def clocked(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> tuple[float, Any]:
    """The seconds that some work takes, a GPU's included, and what it returns."""
    wait()
    started = clock()
    output = work()
    wait()
    return clock() - started, output


def in_turns(contenders: Mapping[Any, Callable[[], T]], rounds: int) -> dict[Any, list[T]]:
    """What every contender gives in each round.

    The first round is not counted: it warms caches and compilers up. Each round begins with another contender, so that none is
    always the first. ValueError for less than one round.
    """
    if rounds < 1:
        raise ValueError(f"{rounds} rounds: one at least")
    names = list(contenders)
    values: dict[Any, list[T]] = {name: [] for name in names}
    for number in range(rounds + 1):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            value = contenders[name]()
            if number:
                values[name].append(value)
    return values


def interleave(contenders: Mapping[Any, Prepare], rounds: int, clock: Callable[[], float] = time.perf_counter,
                  report: bool = False) -> Rounds:
    """Time the work of every contender once a round, see `in_turns`, and print each time as it is measured, if asked to."""
    given: dict[Any, Any] = {}

    def one_round(name: Any) -> float:
        seconds, given[name] = clocked(contenders[name](), clock)
        if report:
            print(f"    {name} {seconds:.2f} s", file=sys.stderr, flush=True)
        return seconds

    return Rounds(in_turns({name: partial(one_round, name) for name in contenders}, rounds), given)


@dataclass(frozen=True)
class Spread:
    """A median with an interval for it."""

    median: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """The median of independent rounds, with the narrowest interval between two of them that covers it in 95 % of cases.

    It assumes nothing of the distribution: the true median lies below the k-th smallest of n values with the probability that
    a coin shows less than k heads in n throws. With fewer than six rounds even smallest to largest cover it in less than 95 %
    of cases.
    """
    ordered, n = sorted(values), len(values)
    k = max((k for k in range(1, n // 2 + 1) if 1 - 2 * special.bdtr(k - 1, n, 0.5) >= LEVEL), default=1)
    return Spread(float(np.median(ordered)), ordered[k - 1], ordered[n - k])


def ratio(slower: Sequence[float], faster: Sequence[float]) -> Spread:
    """How many times as long the first takes as the second: the spread over rounds of the ratio within a round."""
    return spread([a / b for a, b in zip(slower, faster, strict=True)])


def in_new_process(module: str, *arguments: Any, label: str) -> str:
    """What a module prints that is run with these arguments as JSON, in a process that has done nothing else before.

    If it fails, RuntimeError has the end of what it printed as errors.
    """
    done = subprocess.run([sys.executable, "-m", module, json.dumps(arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{label} could not be measured: {done.stderr.strip()[-2000:]}")
    return done.stdout


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Compute with so many PyTorch threads for a while."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def describe() -> dict[str, Any]:
    """CPU, cores, memory, system, and what decides the arithmetic: device, type, its instructions for matrices, GPU in use."""
    import torch

    return {**ledger.machine(), "device": numerics.device(), "dtype": numerics.dtype(),
            "gpu": torch.cuda.get_device_name() if numerics.device() == "cuda" else None}


def name_of(machine: dict[str, Any]) -> str:
    """A short name for a file: `amd-epyc-avx512-bf16`."""
    best = next((flag for flag in numerics.FLAGS if flag in machine["flags"]), "")
    text = machine["gpu"] or f"{machine['cpu']} {best}"
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"\((r|tm)\)|cpu|processor|@.*?ghz", " ", text.lower())).strip("-")
