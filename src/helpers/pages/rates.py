"""Rates and times as pages show them: the median over rounds between the slowest and the fastest, and table 5.5's beside them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from helpers.costs.speed import per_minute, ranking_speed
from helpers.costs.timing import Spread
from helpers.evaluation import published
from helpers.networks import backbone
from helpers.pages.compare import with_interval
from helpers.pages.fragments import Fragment, Html, linked
from helpers.pages.numbers import count, interval, plain
from helpers.pages.shapes import TABLE, studied_shapes
from helpers.pages.spot_check import spot_check
from helpers.pages.training import STUDY
from helpers.retrieval.bm25 import K1, B
from helpers.steps import Step, numerics
from helpers.systems.listwise_reranker import ListwiseReranker
from helpers.systems.reranking_experiment import RerankingExperiment

PUBLISHED_HEADS = ("model", "layers/dimensions/heads", "published", "relative")  # of a table beside the study's rates


def times_cell(measured: Spread) -> Html:
    """A ratio of two times, with its interval below: `1.32×`."""
    return with_interval(f"{plain(measured.median, 2)}×", interval(measured.low, measured.high, 2))


def median_rate(speed: Mapping[str, Any], size: str) -> float:
    """Queries per minute: the median over rounds."""
    return float(np.median(per_minute(dict(speed), size)))


def rate(speed: Mapping[str, Any], size: str) -> Html:
    """Queries per minute: the median over rounds, with the slowest and the fastest below."""
    return rounds_cell(per_minute(dict(speed), size))


def speed_text(value: float) -> str:
    """A rate with two or three digits: `0.41`, `24.3`, `1,250`."""
    return plain(value, 2) if value < 10 else plain(value, 1) if value < 100 else count(round(value))


def rounds_cell(values: np.ndarray, text: Callable[[float], str] = speed_text) -> Html:
    """The median over rounds, with the smallest and the largest below."""
    return with_interval(text(float(np.median(values))), f"{text(values.min())} to {text(values.max())}")


def timings(trial: RerankingExperiment, sizes: Sequence[str], base: ListwiseReranker, timed: int, rounds: int,
            live: bool = False, devices: Sequence[str] = ()) -> dict[str, Step]:
    """The step that times models of these shapes, each once, on each device, by default all; live without a recorded one."""
    bed, encoder = trial.bed, backbone.resolve(base.backbone)
    return {device: ranking_speed(list(dict.fromkeys(sizes)), encoder, bed.index, bed.query_step, bed.store,
                                  bed.tokens(encoder), K1, B, trial.candidates, base.max_length, base.query_length,
                                  timed, rounds, device).here(live) for device in devices or numerics.devices()}


def speed_check(timing: Step, shapes: Sequence[str]) -> Fragment:
    """One query ranked once by models of these shapes, here and now, beside the recorded times."""
    def per_query(speed: Mapping[str, Any]) -> dict[str, np.ndarray]:
        return {f"re-ranking, {size}": np.array(own["seconds"]) / speed["queries"] for size, own in speed["sizes"].items()}

    return spot_check(timing, per_query, "seconds a query", sizes=list(shapes), timed=1, rounds=1)


def rates_beside_published(timings: Sequence[tuple[Mapping[str, Any], Step | None]]) -> dict[str, list[Any]]:
    """A row for each of the study's six shapes: its rate, and that of each timing with its step; all relative to BERT-Base."""
    shapes, rates = studied_shapes(), published.column(STUDY, TABLE, "Queries/min")
    rows: dict[str, list[Any]] = {}
    for row, size in shapes.items():
        rows[size] = [row, size, rates[row].printed, f"{plain(rates[row].value / rates['BERT-Base'].value, 1)}×"]
        for speed, step in timings:
            shown, relative = rate(speed, size), median_rate(speed, size) / median_rate(speed, shapes["BERT-Base"])
            rows[size] += [linked(shown, step) if step else shown, f"{plain(relative, 1)}×"]
    return rows
