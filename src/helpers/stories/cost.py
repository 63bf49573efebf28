"""The chapter *Time and memory* (David 2020, section 4.4.1, figures 4.2 and B.1, table B.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from helpers.costs.peak_memory import inference_memory
from helpers.costs.step_cost import inference_seconds, training_seconds
from helpers.evaluation import published
from helpers.networks import architectures
from helpers.networks import backbone as backbones
from helpers.networks.backbone import Backbone
from helpers.pages import claims, figures, page, scatter
from helpers.pages.compare import with_interval
from helpers.pages.encoders import CHECKPOINTS
from helpers.pages.fragments import Fragment, Html, linked
from helpers.pages.numbers import count, plain
from helpers.pages.rates import speed_text
from helpers.pages.spot_check import spot_check
from helpers.steps import Step, numerics
from helpers.systems.evaluated import Evaluation

STUDY = "david2020"
ROWS = {name: checkpoint for checkpoint, name in CHECKPOINTS.items()}  # of table B.1
MEASURE = "milliseconds_per_query"
CLAIM = "distilbert-encodes-faster"
TIME, MEMORY = "milliseconds a step", "peak memory (MB)"


@dataclass(frozen=True)
class Costs:
    """What a step of each model costs on each device: the steps that measure it, and their values."""

    models: tuple[str | Backbone, ...]
    batch: int
    time: dict[str, Step]
    training: dict[str, Step]
    memory: dict[str, Step]

    @property
    def names(self) -> list[str]:
        """The models, as the tables call them."""
        return [architectures.name_of(model) for model in self.models]

    def inference(self, device: str, name: str) -> np.ndarray:
        """Milliseconds of an inference step, round by round."""
        return 1000 * np.array(self.time[device].value()[name]["seconds"])

    def megabytes(self, device: str, name: str) -> dict[str, float]:
        """`weights`, `model` and `whole`, see `inference_memory`."""
        return {part: size / 1e6 for part, size in self.memory[device].value()[name].items()}

    def parameters(self, name: str) -> int:
        """How many a model has."""
        return next(iter(self.time.values())).value()[name]["parameters"]


def costs(specs: Sequence[str], batch: int, tokens: int, rounds: int, triplets: int, training_rounds: int, threads: int,
          precision: str, devices: Sequence[str], live: bool = False) -> Costs:
    """The measurements of these models (see `architectures`) on the devices, by default all; live without recorded ones."""
    models = [architectures.parse_architecture(spec) for spec in dict.fromkeys(specs)]
    shapes = [model for model in models if isinstance(model, str)]
    backbones = [model for model in models if isinstance(model, Backbone)]
    places = list(devices) or numerics.devices()
    time = {d: inference_seconds(shapes, backbones, batch, tokens, rounds, threads, precision, d) for d in places}
    training = {d: training_seconds(shapes, backbones, triplets, tokens, training_rounds, threads, d) for d in places}
    memory = {d: inference_memory(shapes, backbones, batch, tokens, threads, precision, d) for d in places}
    return Costs((*shapes, *backbones), batch,
                 *({d: step.here(live) for d, step in steps.items()} for steps in (time, training, memory)))


def time_check(measured: Costs) -> Fragment:
    """An inference step of the smallest two models, here and now, beside the recorded times."""
    step = next(iter(measured.time.values()))
    small = sorted((model for model in measured.models if isinstance(model, str)),
                   key=lambda model: measured.parameters(architectures.name_of(model)))[:2]
    return spot_check(step, lambda value: {name: own["seconds"] for name, own in value.items()}, "seconds a step",
                      shapes=small, backbones=[], rounds=1)


def configuration_table(measured: Costs) -> Fragment:
    """The study's table B.1, as far as it decides the cost, beside what is measured here."""
    def printed(name: str, column: str) -> str:
        return published.value(STUDY, "B.1", ROWS[name], column).printed if name in ROWS else ""

    return page.records_table("The models: David (2020), table B.1, and the encoders timed here, which have no pooler", (
        {"model": name, "layers, published": printed(name, "Layer"), "here": layers(model),
         "parameters (millions), published": printed(name, "Params (Mil.)"),
         "parameters (millions), here": plain(measured.parameters(name) / 1e6, 1),
         "weights": "random" if isinstance(model, str) else "trained"}
        for model, name in zip(measured.models, measured.names, strict=True)))


def layers(model: str | Backbone) -> int:
    """How many a model has."""
    return backbones.layers(model) if isinstance(model, Backbone) else architectures.configuration(model).num_hidden_layers


def table(measured: Costs) -> Fragment:
    """Time and peak memory of an inference step: figure 4.2 as a table, relative to the first model."""
    records: dict[str, dict[str, Any]] = {name: {"model": name} for name in measured.names}
    for device, step in measured.time.items():
        first = np.median(measured.inference(device, measured.names[0]))
        whole = "peak of the whole process (MB)" if device == "cpu" else "in use on the device (MB)"
        for name, record in records.items():
            times, size = measured.inference(device, name), measured.megabytes(device, name)
            record |= {f"{TIME}, {device}": linked(spread(times), step),
                       f"relative, {device}": f"{plain(np.median(times) / first, 2)}×",
                       f"{MEMORY}, {device}": linked(count(round(size["model"])), measured.memory[device]),
                       f"of it weights (MB), {device}": count(round(size["weights"])),
                       f"{whole}, {device}": count(round(size["whole"]))}
    return page.records_table(
        f"An inference step of {measured.batch} texts: median and quartiles over the rounds, and peak memory", records.values())


def training_table(measured: Costs) -> Fragment:
    """A training step of each model, relative to the fastest, as in figure B.1."""
    records: dict[str, dict[str, Any]] = {name: {"model": name} for name in measured.names}
    for device, step in measured.training.items():
        times = {name: 1000 * np.array(step.value()[name]) for name in records}
        fastest = min(map(np.median, times.values()))
        for name, own in times.items():
            records[name] |= {f"{TIME}, {device}": linked(spread(own), step),
                              f"relative to the fastest, {device}": f"{plain(np.median(own) / fastest, 2)}×"}
    return page.records_table("A step of training: median and quartiles over the rounds", records.values())


def spread(values: np.ndarray) -> Html:
    """The median with the quartiles below it."""
    low, middle, high = map(speed_text, np.quantile(values, [0.25, 0.5, 0.75]))
    return with_interval(middle, f"[{low}, {high}]")


def tradeoff(measured: Costs) -> Fragment:
    """Figure 4.2: memory over time, a panel a device, a labelled point a model."""
    figure, panels = figures.new(columns=len(measured.time), width=7.5, height=4.0)
    texts = []
    for axis, device in zip(panels, measured.time, strict=True):
        places = pd.DataFrame({"x": [np.median(measured.inference(device, name)) for name in measured.names],
                               "y": [measured.megabytes(device, name)["model"] for name in measured.names]}, index=measured.names)
        axis.plot(places["x"], places["y"], "o", color=figures.COLOURS[0])
        axis.set(title=device, xlabel=TIME, ylabel=MEMORY, xlim=(0, 1.1 * places["x"].max()), ylim=(0, 1.15 * places["y"].max()))
        scatter.name_points(figure, axis, places)
        texts += [f"{name} on {device}: {speed_text(place['x'])} ms, {place['y']:.0f} MB" for name, place in places.iterrows()]
    return figures.show(figure, f"{MEMORY} over {TIME}. {'; '.join(texts)}.",
                        "Time and peak memory of an inference step, as in the study's figure 4.2.")


def rounds_of(measured: Costs) -> dict[str, Evaluation]:
    """The rounds of each model on the first device as paired measurements: the milliseconds that one of a batch's texts takes."""
    device, step = next(iter(measured.time.items()))
    values = {name: pd.DataFrame({MEASURE: measured.inference(device, name) / measured.batch}) for name in measured.names}
    return {name: Evaluation(name, pd.DataFrame(), frame.rename(lambda n: f"round {n + 1}"), step, unit="rounds")
            for name, frame in values.items()}


def claims_table(measured: Costs) -> Fragment:
    """The chapter's claim: DistilBERT compared with BERT on the first device."""
    pair = claims.pair(rounds_of(measured), "DistilBERT", "BERT")
    if not isinstance(pair, str) and len(pair[0].values) < 2:
        pair = "needs two rounds at least"
    return claims.judge("cost", {CLAIM: pair})


def signs(measured: Costs) -> dict[str, bool]:
    """What the discussion rests on besides the claim, on the first device."""
    if not {"BERT", "ALBERT", "DistilBERT"} <= set(measured.names):
        return {}
    device = next(iter(measured.time))
    bert, albert, distil = (np.median(measured.inference(device, name)) for name in ("BERT", "ALBERT", "DistilBERT"))
    steps = [float(np.median(measured.training[device].value()[name])) for name in ("DistilBERT", "ALBERT", "BERT")]
    memory = measured.megabytes(device, "ALBERT")["model"] / measured.megabytes(device, "BERT")["model"]
    return {"DistilBERT takes about half of BERT's time": bool(0.4 < distil / bert < 0.6),
            "ALBERT saves memory and no time": bool(memory < 0.5 and albert / bert > 0.98),
            "in training ALBERT takes clearly less time than BERT, and DistilBERT less than both":
                steps[0] < steps[1] < 0.9 * steps[2]}


def all_steps(measured: Costs) -> dict[str, Step]:
    """Every measurement by name."""
    kinds = {"inference": measured.time, "training": measured.training, "memory": measured.memory}
    return {f"{kind}, {device}": step for kind, steps in kinds.items() for device, step in steps.items()}
