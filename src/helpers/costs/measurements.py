"""What a file of measurements says: rates and ratios."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from helpers import paths
from helpers.costs import timing
from helpers.errors import BadInput

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
        return timing.name_of(self.content["machine"]) == timing.name_of(timing.describe())

    def has(self, section: str, contender: str) -> bool:
        """Whether a contender was timed in a section that was measured in full."""
        return contender in (self.section(section) or {"contenders": ()})["contenders"]

    def against_ours(self, section: str, contender: str) -> timing.Spread:
        """How many times as long a contender takes as the book's code; in training, for a real token."""
        measured = self.content["sections"][section]
        own = LUCENE if section == "search" else OURS
        return timing.ratio(*(per_item(measured, name) for name in (contender, own)))


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
    return next(iter(fullest), Measurements("", {"machine": timing.describe(), "sections": {}}))


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
