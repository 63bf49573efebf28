"""Contenders timed in turns, so that a busy moment of the machine meets them all; the machine that they were timed on; and what a
file of measurements says, as rates and ratios.
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import special

from helpers import paths
from helpers.errors import BadInput
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


# the contenders, by the names under which the files keep them
OURS, FROM_TEXTS = "this book", "this book, from texts"
PRODUCTS = "matrix products"
CROSS_ENCODER, CROSS_ENCODER_BEST = "CrossEncoder.predict, default", "CrossEncoder.predict, best setting"
SENTENCE_TRANSFORMER = "SentenceTransformer.encode, default"
SENTENCE_TRANSFORMER_BEST = "SentenceTransformer.encode, best setting"
OPENVINO, OPENVINO_INT8 = "CrossEncoder, OpenVINO", "CrossEncoder, OpenVINO int8"
ENCODING_OPENVINO, ENCODING_OPENVINO_INT8 = "SentenceTransformer, OpenVINO", "SentenceTransformer, OpenVINO int8"
STOCK_TRAINER = "stock Trainer, bf16"
LUCENE, BM25S, BM25S_NUMBA = "Lucene (this book)", "bm25s", "bm25s, compiled by numba"
SEQUENTIAL, SERVED_CROSS_ENCODER = "this book, one request at a time", "CrossEncoder.predict, behind the same service"
LANCE = "LanceDB with its cross-encoder re-ranker"
NOT_YET = "not measured yet; `make bench` measures"


@dataclass(frozen=True)
class Measurements:
    """A machine's measurements."""

    name: str  # of its file
    content: Mapping[str, Any]  # the file's

    def section(self, name: str) -> Mapping[str, Any] | None:
        """A section that was measured in full; None if there is none."""
        section = self.content["sections"].get(name)
        return None if section is None or section["small"] else section

    @property
    def kind(self) -> str:
        """What the goals tell apart: `GPU`, `CPU with AMX`, or `CPU without AMX`."""
        if self.content["machine"]["device"] == "cuda":
            return "GPU"
        return "CPU with AMX" if "amx_bf16" in self.content["machine"]["flags"] else "CPU without AMX"

    @property
    def is_here(self) -> bool:
        """Whether this is the machine that asks, as far as can be told."""
        return name_of(self.content["machine"]) == name_of(describe())

    def has(self, section: str, contender: str) -> bool:
        """Whether a contender was timed in a section that was measured in full."""
        return contender in (self.section(section) or {"contenders": ()})["contenders"]

    def against_ours(self, section: str, contender: str) -> Spread:
        """How many times as long a contender takes as the book's code; in training, for a real token."""
        measured = self.content["sections"][section]
        own = LUCENE if section == "search" else OURS
        return ratio(*(per_item(measured, name) for name in (contender, own)))


def per_item(section: Mapping[str, Any], contender: str) -> list[float]:
    """Seconds of each round for one item: a pair, a text, a query; in training a real token."""
    items = section["tokens"][contender]["real"] if "steps" in section else section["items"]
    return [seconds / items for seconds in section["contenders"][contender]["seconds"]]


def all_machines() -> list[Measurements]:
    """The measurements that come with the book, the latest first."""
    found = [Measurements(file.stem, read(file)) for file in sorted(paths.BENCH.glob("*.json"))]
    return sorted(found, key=lambda one: max((section["measured"] for section in one.content["sections"].values()), default=""),
                  reverse=True)


def chosen(machines: Sequence[Measurements], name: str) -> Measurements:
    """The named machine's measurements, BadInput if there are none; without a name this machine's if no other has more sections,
    else those with the most, the latest of them, else none."""
    if name:
        known = {one.name: one for one in machines}
        if name not in known:
            raise BadInput(f"no measurements of a machine {name!r}", mend=f"choose from {', '.join(known) or '(run make bench)'}")
        return known[name]
    here = [one for one in machines if one.is_here]
    fullest = sorted([*here, *machines], key=lambda one: -len(one.content["sections"]))
    return next(iter(fullest), Measurements("", {"machine": describe(), "sections": {}}))


def busy(loads: Sequence[float], cores: int) -> str:
    """A warning, if other programs competed for the cores."""
    if max(loads) <= cores + 0.5:
        return ""
    return "Other programs were running: times are longer than they need be; ratios suffer less, because contenders take turns."


def exponent(points: Sequence[Mapping[str, Any]], value: str) -> float:
    """The exponent of growth: 1 if twice the size takes twice as much. Points without a value above zero do not count."""
    known = [(point["size"], np.median(point[value])) for point in points if np.median(point[value]) > 0]
    if len(known) < 2:
        return float("nan")
    sizes, values = np.log(np.array(known, dtype=float)).T
    return float(np.polyfit(sizes, values, 1)[0])


def no_machines(name: str) -> Path:
    """The file of a section that is the same on every machine: not one of those that are compared."""
    return paths.BENCH / "simulations" / f"{name}.json"


def read(file: Path) -> dict[str, Any]:
    """The content of a file; BadInput if it is none of measurements."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadInput(f"not valid JSON ({error})", file=file, mend="restore it from git, or measure again") from None
    if not isinstance(content, dict) or set(content) != {"machine", "sections"}:
        raise BadInput("no measurements: `machine` and `sections` are wanted", file=file, mend="`make bench` writes one")
    return content
