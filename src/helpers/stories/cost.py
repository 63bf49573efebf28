"""The chapter *Time and memory* (David 2020, section 4.4.1, figures 4.2 and B.1, table B.1)."""

from collections.abc import Mapping, Sequence
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
from helpers.pages import claims, figures, page
from helpers.pages.compare import with_interval
from helpers.pages.fragments import Fragment, Html, linked
from helpers.pages.numbers import count, plain
from helpers.steps import Step, numerics
from helpers.stories.encoders import CHECKPOINTS
from helpers.stories.model_size import speed_text
from helpers.stories.wording import effect
from helpers.systems.evaluated import Evaluation

STUDY = "david2020"
ROWS = {name: checkpoint for checkpoint, name in CHECKPOINTS.items()}  # of table B.1
MEASURE = "milliseconds_per_query"
CLAIM = "distilbert-encodes-faster"
MEGABYTE = 10**6
DEVICES = {"cpu": "CPU", "cuda": "GPU"}
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

    def seconds(self, device: str, name: str) -> np.ndarray:
        """Of one inference step, round by round."""
        return np.array(self.time[device].value()[name]["seconds"])

    def training_seconds(self, device: str, name: str) -> np.ndarray:
        """Of one training step, round by round."""
        return np.array(self.training[device].value()[name])

    def bytes(self, device: str, name: str) -> dict[str, int]:
        """`weights`, `model` and `whole`, see `inference_memory`."""
        return self.memory[device].value()[name]


def costs(specs: Sequence[str], batch: int, tokens: int, rounds: int, triplets: int, training_rounds: int, threads: int,
          precision: str, devices: Sequence[str]) -> Costs:
    """The measurements of these models (see `architectures.parse_architecture`) on the given devices (none given: all there
    are)."""
    models = [architectures.parse_architecture(spec) for spec in dict.fromkeys(specs)]
    shapes = [model for model in models if isinstance(model, str)]
    backbones = [model for model in models if isinstance(model, Backbone)]
    places = list(devices) or numerics.devices()
    return Costs((*shapes, *backbones), batch,
                 {d: inference_seconds(shapes, backbones, batch, tokens, rounds, threads, precision, d) for d in places},
                 {d: training_seconds(shapes, backbones, triplets, tokens, training_rounds, threads, d) for d in places},
                 {d: inference_memory(shapes, backbones, batch, tokens, threads, precision, d) for d in places})


def configuration_table(found: Costs) -> Fragment:
    """The study's table B.1, as far as it decides the cost, beside what is measured here."""
    device, rows = next(iter(found.time)), []
    for model, name in zip(found.models, found.names, strict=True):
        said = [published.value(STUDY, "B.1", ROWS[name], column).printed if name in ROWS else ""
                for column in ("Layer", "Params (Mil.)")]
        rows.append([name, said[0], layers(model), said[1], plain(found.time[device].value()[name]["parameters"] / 1e6, 1),
                     "random" if isinstance(model, str) else "trained"])
    return page.show_table("The models: David (2020), table B.1, and the encoders timed here, which have no pooler",
                           ("model", "layers, published", "here", "parameters (millions), published", "here", "weights"), rows)


def layers(model: str | Backbone) -> int:
    """How many a model has."""
    if isinstance(model, Backbone):
        return backbones.layers(model)
    return architectures.configuration(model).num_hidden_layers


def table(found: Costs) -> Fragment:
    """Time and peak memory of an inference step: figure 4.2 as a table, relative to the first model."""
    rows: list[list[Any]] = []
    for name in found.names:
        cells: list[Any] = [name]
        for device in found.time:
            times, memory = found.seconds(device, name), found.bytes(device, name)
            ratio = float(np.median(times) / np.median(found.seconds(device, found.names[0])))
            cells += [linked(spread(1000 * times), found.time[device]), f"{plain(ratio, 2)}×",
                      linked(megabytes(memory["model"]), found.memory[device]), megabytes(memory["weights"]),
                      megabytes(memory["whole"])]
        rows.append(cells)
    heads = [f"{head}, {device}" for device in found.time for head in (
        TIME, "relative", MEMORY, "of it weights (MB)",
        "peak of the whole process (MB)" if device == "cpu" else "in use on the device (MB)")]
    return page.show_table(f"An inference step of {found.batch} texts: median and quartiles over the rounds, and peak memory",
                           ("model", *heads), rows)


def training_table(found: Costs) -> Fragment:
    """A training step of each model, relative to the fastest, as in figure B.1."""
    rows: list[list[Any]] = []
    for name in found.names:
        cells: list[Any] = [name]
        for device in found.training:
            times = found.training_seconds(device, name)
            fastest = min(float(np.median(found.training_seconds(device, other))) for other in found.names)
            cells += [linked(spread(1000 * times), found.training[device]), f"{plain(float(np.median(times)) / fastest, 2)}×"]
        rows.append(cells)
    heads = [head for device in found.training for head in (f"{TIME}, {device}", f"relative to the fastest, {device}")]
    return page.show_table("A step of training: median and quartiles over the rounds", ("model", *heads), rows)


def spread(values: np.ndarray) -> Html:
    """The median with the quartiles below it."""
    low, middle, high = (speed_text(float(part)) for part in np.quantile(values, [0.25, 0.5, 0.75]))
    return with_interval(middle, f"[{low}, {high}]")


def megabytes(size: int) -> str:
    """Millions of bytes."""
    return count(round(size / MEGABYTE))


def tradeoff(found: Costs) -> Fragment:
    """Figure 4.2: time against memory, a panel a device, a labelled point a model."""
    figure, panels = figures.new(columns=len(found.time), width=7.5, height=4.0)
    said = []
    for axis, device in zip(panels, found.time, strict=True):
        places = pd.DataFrame({"x": [1000 * float(np.median(found.seconds(device, name))) for name in found.names],
                               "y": [found.bytes(device, name)["model"] / MEGABYTE for name in found.names]}, index=found.names)
        axis.plot(places["x"], places["y"], "o", color=figures.COLOURS[0])
        label(axis, places)
        axis.set(title=device, xlabel=TIME, ylabel=MEMORY, xlim=(0, 1.1 * places["x"].max()), ylim=(0, 1.15 * places["y"].max()))
        said += [f"{name} on {device}: {speed_text(place['x'])} ms, {place['y']:.0f} MB" for name, place in places.iterrows()]
    return figures.show(figure, f"{MEMORY} over {TIME}. {'; '.join(said)}.",
                        "Time and peak memory of an inference step, as in the study's figure 4.2.")


def label(axis: Any, places: pd.DataFrame) -> None:
    """Write a point's name beside it, towards the middle; names keep apart, since models of one size lie in nearly one place."""
    gap, last = 0.07 * places["y"].max(), {True: np.inf, False: np.inf}
    for name, place in places.sort_values("y", ascending=False).iterrows():
        right = bool(place["x"] > places["x"].max() / 2)  # of the middle: its name stands on the left
        last[right] = min(place["y"], last[right] - gap)
        axis.annotate(str(name), (place["x"], last[right]), xytext=(-7 if right else 7, 0), textcoords="offset points",
                      ha="right" if right else "left", va="center", fontsize=10)


def rounds_of(found: Costs, device: str, name: str) -> Evaluation:
    """The rounds of a model as paired measurements: the milliseconds that one of a batch's texts takes."""
    times = 1000 * found.seconds(device, name) / found.batch
    values = pd.DataFrame({MEASURE: times}, index=[f"round {n}" for n in range(1, len(times) + 1)])
    return Evaluation(name, pd.DataFrame(), values, found.time[device], unit="rounds")


def claims_table(found: Costs) -> Fragment:
    """The chapter's claim: DistilBERT against BERT on the first device."""
    if missing := {"BERT", "DistilBERT"} - set(found.names):
        return claims.judge("cost", {}, not_run={CLAIM: f"needs {' and '.join(sorted(missing))} among the models"})
    device = next(iter(found.time))
    if len(found.seconds(device, "BERT")) < 2:
        return claims.judge("cost", {}, not_run={CLAIM: "needs two rounds at least"})
    return claims.judge("cost", {CLAIM: (rounds_of(found, device, "DistilBERT"), rounds_of(found, device, "BERT"))})


def finding(found: Costs) -> Fragment:
    """The chapter's last words, on the first device."""
    device, names = next(iter(found.time)), set(found.names)
    middle = {name: 1000 * float(np.median(found.seconds(device, name))) for name in found.names}
    text = []
    if {"BERT", "DistilBERT"} <= names:
        ratio = middle["BERT"] / middle["DistilBERT"]
        text.append(f"On this {DEVICES.get(device, device)} a step of BERT takes {speed_text(middle['BERT'])} ms, one of "
                    f"DistilBERT {speed_text(middle['DistilBERT'])} ms: {plain(ratio, 2)} times as fast, with half the layers.")
        if len(found.seconds(device, "BERT")) > 1:
            paired = rounds_of(found, device, "DistilBERT").against(rounds_of(found, device, "BERT"), MEASURE)
            text.append(f"A text's milliseconds differ by {effect(paired)}.")
        bm25 = published.value(STUDY, "text 4.4.1", "BM25", "time")
        text.append(f"The study sets a step beside BM25's {bm25.printed} s a query; here a text of a batch takes DistilBERT "
                    f"{plain(middle['DistilBERT'] / found.batch / 1000)} s.")
    if {"BERT", "ALBERT"} <= names:
        share = {name: found.time[device].value()[name]["parameters"] for name in ("ALBERT", "BERT")}
        text.append("ALBERT's layers share their weights: it has "
                    f"{plain(share['ALBERT'] / share['BERT'], 2)} of BERT's parameters, takes "
                    f"{plain(found.bytes(device, 'ALBERT')['model'] / found.bytes(device, 'BERT')['model'], 2)} of its "
                    f"memory and {plain(middle['ALBERT'] / middle['BERT'], 2)} of its time.")
    text += [same_shape(found, device, middle), fastest_training(found, device)]
    return page.prose(*text)


def same_shape(found: Costs, device: str, middle: Mapping[str, float]) -> str:
    """Whether the packaged backbone, which is trained, takes another time than random weights of its shape."""
    twin = "BERT/6/384/12"
    if not {twin, "packaged"} <= set(found.names):
        return ""
    ratio = plain(middle["packaged"] / middle[twin], 2)
    return f"The packaged backbone with its trained weights takes {ratio} of the time that random weights in its shape do."


def fastest_training(found: Costs, device: str) -> str:
    """Which of the study's models trains fastest, beside the study's word."""
    middle = {name: float(np.median(found.training_seconds(device, name))) for name in found.names if name in ROWS}
    if not {"ALBERT", "DistilBERT"} <= set(middle):
        return ""
    first = min(middle, key=lambda name: middle[name])
    return (f"In training, {first} is the fastest of the study's models here; the study's figure B.1 names ALBERT. "
            f"A step of DistilBERT takes {plain(middle['DistilBERT'] / middle['ALBERT'], 2)} of the time of one of ALBERT.")


def all_steps(found: Costs) -> dict[str, Step]:
    """Every measurement by name."""
    kinds = {"inference": found.time, "training": found.training, "memory": found.memory}
    return {f"{kind}, {device}": step for kind, steps in kinds.items() for device, step in steps.items()}
