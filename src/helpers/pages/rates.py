"""Rates and times as pages show them: the median over rounds between the slowest and the fastest, and table 5.5's beside them;
what models are called by their shapes, `layers/dimensions/heads`; and, beside recorded times, a few seconds' measurement by the
same code on the machine that executes the page."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from helpers.costs.speed import per_minute, ranking_speed
from helpers.evaluation import published
from helpers.evaluation.verdicts import model_name
from helpers.networks import backbone
from helpers.pages import page
from helpers.pages.fragments import Fragment, Html, count, linked, plain
from helpers.pages.results import with_interval
from helpers.pages.training import STUDY
from helpers.retrieval.bm25 import K1, B
from helpers.steps import Step, ledger, numerics
from helpers.systems.evaluated import RerankingExperiment
from helpers.systems.rerankers import ListwiseReranker

TABLE = "5.5"  # of the study's sizes


def shape(spec: str) -> str:
    """A backbone's shape as `layers/dimensions/heads`."""
    name, width = backbone.width_of(spec)
    resolved = backbone.resolve(name)
    config = backbone.configuration(resolved)
    dimensions = width or config.hidden_size
    return f"{backbone.layers(resolved)}/{dimensions}/{config.num_attention_heads * dimensions // config.hidden_size}"


def label(spec: str) -> str:
    """How the tables call a backbone: the study's name for a shape of its table 5.5, else `L3-H384`."""
    layers, dimensions, _ = shape(spec).split("/")
    names = {size.rpartition("/")[0]: row for row, size in studied_shapes().items()}
    return names.get(f"{layers}/{dimensions}", f"L{layers}-H{dimensions}")


def studied_shapes() -> dict[str, str]:
    """The shapes of the study's six models as `layers/dimensions/heads`; its heads have 64 dimensions each."""
    sizes = {row: str(entry.value) for row, entry in published.column(STUDY, TABLE, "L/H").items()}
    return {row: f"{size}/{int(size.split('/')[1]) // 64}" for row, size in sizes.items()}


def labels(specs: Sequence[str]) -> dict[str, str]:
    """Backbones by how the tables call them: those of one shape by their own names, too, or, if these are one, by their specs."""
    called = {spec: label(spec) for spec in specs}
    for name in (model_name, str):
        often = Counter(called.values())
        called = {spec: f"{label(spec)} {name(spec)}" if often[text] > 1 else text for spec, text in called.items()}
    return {text: spec for spec, text in called.items()}


SPOT_CHECK = "spot_check"  # in a page's data: the key of a measurement that is never recorded
TWICE = 2.0  # how far apart the factors between recorded and new times may lie before their order is refused


def spot_check(recorded: Step, rounds_of: Callable[[Any], Mapping[str, Any]], unit: str, **smaller: Any) -> Fragment:
    """A recorded measurement and a short one that is made now, with the ratio of their medians; nothing is measured again if
    the page's own times are of this machine. `rounds_of` takes the rounds out of a value, numbers by the name of what was
    measured; `smaller` are the arguments with which the step is a matter of seconds. A machine that is slower for all alike keeps
    their order; where the factors between both lie more than twice apart, recorded times as near to each other have none.
    """
    there = rounds_of(recorded.value())
    if ledger.USED[recorded.key]["source"] != "recorded":
        return page.prose("The times on this page were measured on the machine that executed it.")
    again = Step(recorded.definition, recorded.arguments | smaller).here()
    here = rounds_of(again.value())
    pairs = {name: (np.median(there[name]), np.median(here[name])) for name in there if name in here}
    machines = [page.where(step.entry().manifest["machine"]) for step in (recorded, again)]
    shown = page.records_table(
        f"Spot check: the same code, recorded on {machines[0]}, and for a moment here, on {machines[1]}",
        [{"measured": name, f"recorded ({unit})": linked(plain(before), recorded),
          f"here ({unit})": linked(plain(now), again), "here / recorded": f"{now / before:.2f}×"}
         for name, (before, now) in pairs.items()])
    factors = [*(now / before for before, now in pairs.values()), *[1.0] * (len(pairs) < 2)]  # one alone stands beside equality
    most = max(factors) / min(factors)
    refused = (f"<p>The factors between the times here and the recorded ones lie {most:.1f} times apart, so recorded times that "
               "lie nearer to each other than that have no order.</p>") if most > TWICE else ""
    return Fragment(shown.html + refused, data={SPOT_CHECK: again.key})


PUBLISHED_HEADS = ("model", "layers/dimensions/heads", "published", "relative")  # of a table beside the study's rates


def median_rate(speed: Mapping[str, Any], size: str) -> float:
    """Queries per minute: the median over rounds."""
    return float(np.median(per_minute(speed, size)))


def rate(speed: Mapping[str, Any], size: str) -> Html:
    """Queries per minute: the median over rounds, with the slowest and the fastest below."""
    return rounds_cell(per_minute(speed, size))


def speed_text(value: float) -> str:
    """A rate with two or three digits: `0.41`, `24.3`, `1,250`."""
    return plain(value, 2) if value < 10 else plain(value, 1) if value < 100 else count(round(value))


def rounds_cell(values: np.ndarray) -> Html:
    """The median over rounds, with the smallest and the largest below."""
    return with_interval(speed_text(float(np.median(values))), f"{speed_text(values.min())} to {speed_text(values.max())}")


def timings(trial: RerankingExperiment, sizes: Sequence[str], base: ListwiseReranker, timed: int, rounds: int,
            live: bool = False, devices: Sequence[str] = ()) -> dict[str, Step]:
    """The step that times models of these shapes, each once, on each device, by default all; live without a recorded one."""
    bed, encoder = trial.bed, backbone.resolve(base.backbone)
    return {device: ranking_speed(list(dict.fromkeys(sizes)), encoder, bed.index, bed.query_step, bed.store,
                                  bed.tokens(encoder), K1, B, trial.candidates, base.max_length, base.query_length,
                                  timed, rounds, device).here(live) for device in devices or numerics.devices()}


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
