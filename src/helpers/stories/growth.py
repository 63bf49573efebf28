"""The chapter *Costs and speed*: how costs grow with the work, and how many tokens are padding."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from helpers.costs import contenders
from helpers.costs.measurements import Measurements
from helpers.costs.speed import padding
from helpers.networks import backbone
from helpers.pages import figures, page
from helpers.pages.fragments import Fragment, badge, linked
from helpers.pages.numbers import count, plain
from helpers.pages.rates import speed_text
from helpers.steps import Step
from helpers.stories.speed import NOT_YET
from helpers.systems.listwise_reranker import ListwiseReranker

PADDED_GOAL = 1.02  # tokens read for each real one
HELD = ("grouped", "sorted", "packed")  # whose share the goal is for
LINEAR = 0.1  # how far the exponent of growth may be from 1
VALUES = {"seconds": "seconds", "megabytes": "peak memory added (MB)"}
BATCHES = {"random": "training, batches in random order (the Trainer's default)",
           "grouped": "training here by the Trainer, grouped by length",
           "unrounded": "the same, were lengths not rounded up to a multiple of eight",
           "sorted": "scoring here, by a network that needs padding", "packed": "training re-rankers and scoring here, by BERT"}


# ---- growth ----

def slope(points: Sequence[Mapping[str, Any]], value: str) -> float:
    """The exponent of growth: 1 if twice the size takes twice as much. Points without a value above zero do not count."""
    known = [(point["size"], np.median(point[value])) for point in points if np.median(point[value]) > 0]
    if len(known) < 2:
        return float("nan")
    sizes, values = np.log(np.array(known, dtype=float)).T
    return float(np.polyfit(sizes, values, 1)[0])


def is_linear(points: Sequence[Mapping[str, Any]]) -> bool:
    """Whether time grows in proportion, and memory no faster, both within a tenth."""
    return abs(slope(points, "seconds") - 1) <= LINEAR and not slope(points, "megabytes") > 1 + LINEAR


def growth_plot(measurements: Measurements) -> Fragment:
    """Time and memory over size, both axes logarithmic, beside the line of exact proportion."""
    section = measurements.section("growth")
    if section is None:
        return page.prose()
    figure, panels = figures.new(columns=2, width=8.0, height=3.8)
    sizes = []
    for axis, (value, label) in zip(panels, VALUES.items(), strict=True):
        tops = []
        for number, (name, points) in enumerate(section["axes"].items()):
            times, values = [p["size"] / points[0]["size"] for p in points], [float(np.median(p[value])) for p in points]
            line, = axis.plot(times, values, marker="osD"[number], label=name)
            told = [f"{name}, {p['size']:,}: {speed_text(v)} {label}" for p, v in zip(points, values, strict=True)]
            figures.hover(line, told)
            sizes += told
            tops.append((times[-1], values[-1]))
        longest, highest = max(tops)
        axis.plot([1, longest], [highest / longest, highest], color="0.5", ls=":", lw=1.5, label="in proportion")
        axis.set(xlabel="times as many", ylabel=label)
        figures.logarithmic(axis)
        figures.logarithmic(axis, "y")
    figures.legend(figure)
    return figures.show(figure, f"Growth. {'; '.join(sizes)}.", "Time and memory as queries, documents or candidates grow.")


def growth_table(measurements: Measurements) -> Fragment:
    """Times, memory and exponents of growth."""
    section = measurements.section("growth")
    if section is None:
        return page.prose(f"Growth: {NOT_YET}.")
    return page.records_table("Growth: an exponent of one is exact proportion; time may be a tenth off, memory a tenth above", (
        {"what grows": name, "sizes": " · ".join(count(p["size"]) for p in points),
         **{label: " · ".join(speed_text(float(np.median(p[value]))) for p in points) for value, label in VALUES.items()},
         "exponent, time": plain(slope(points, "seconds"), 2), "exponent, memory": plain(slope(points, "megabytes"), 2),
         "verdict": badge("linear", "yes") if is_linear(points) else badge("not linear", "no")}
        for name, points in section["axes"].items()))


# ---- streaming ----

def is_flat(points: Sequence[Mapping[str, float]]) -> bool:
    """Whether the largest collection needs no more memory than the next smaller one, within a tenth."""
    *_, smaller, largest = points
    return largest["megabytes"] <= (1 + LINEAR) * smaller["megabytes"]


def streaming_table(measurements: Measurements) -> Fragment:
    """Peak memory of every step on collections of several sizes, and the time on the largest."""
    section = measurements.section("stream")
    if section is None:
        return page.prose(f"Streaming: {NOT_YET}.")
    stages = section["stages"]
    sizes = [point["size"] for point in next(iter(stages.values()))]
    rows = [[name, *(count(round(point["megabytes"])) for point in points), speed_text(points[-1]["seconds"]),
             badge("flat", "yes") if is_flat(points) else badge("grows", "no")] for name, points in stages.items()]
    return page.show_table("Peak memory (MB) of each step, in a process of its own, by the number of passages; flat: for the "
                           "largest collection at most a tenth more than for the one before",
                           ("step", *(count(size) for size in sizes), f"seconds, {count(sizes[-1])} passages", "memory"), rows)


# ---- what the discussion rests on ----

def signs(measurements: Measurements) -> dict[str, bool]:
    """Nothing on a machine where a part was not measured."""
    names = ("rerank", "encode", "train", "search", "growth", "stream")
    rerank, encode, train, search, growth, stream = (measurements.section(name) for name in names)
    if not (rerank and encode and train and search and growth and stream):
        return {}
    known = {"rerank": (contenders.CROSS_ENCODER, contenders.CROSS_ENCODER_BEST),
             "encode": (contenders.SENTENCE_TRANSFORMER, contenders.SENTENCE_TRANSFORMER_BEST)}
    ratios = {name: [measurements.against_ours(name, contender) for contender in pair] for name, pair in known.items()}
    others = [*ratios["rerank"], *ratios["encode"], measurements.against_ours("train", contenders.STOCK_TRAINER)]
    ranked = [search["measures"][name]["RR@10"] for name in (contenders.LUCENE, contenders.BM25S)]
    return {"networks run faster here than in the libraries": all(measured.low > 1 for measured in others),
            "the best setting of a library closes most of the distance": all(
                default.median - best.median > best.median - 1 for default, best in ratios.values()),
            "bm25s is the faster engine, and Lucene ranks better":
                measurements.against_ours("search", contenders.BM25S).high < 1 and ranked[0] > ranked[1],
            "no cost grows faster than its work": not any(
                slope(points, value) > 1 + LINEAR for points in growth["axes"].values() for value in VALUES),
            "the index of Lucene alone takes more memory for a larger collection":
                [name for name, points in stream["stages"].items() if not is_flat(points)] == ["Lucene index"]}


# ---- padding ----

def padding_of(model: ListwiseReranker) -> Step:
    """The step that counts the tokens of what a model learns from."""
    bed, encoder = model.bed, backbone.resolve(model.backbone)
    return padding(model.groups, bed.query_step, bed.store, bed.tokens(encoder), encoder.whole(), model.batch_size * model.size,
                   model.max_length, model.query_length)


def padding_table(step: Step) -> Fragment:
    """Tokens that a network reads for each real one, in training and in scoring, beside the goal."""
    counted = step.value()
    shares = {key: counted[key] / counted["real"] for key in BATCHES}
    met = {key: badge("met", "yes") if shares[key] <= PADDED_GOAL else badge("missed", "no") for key in HELD}
    return page.records_table(
        f"Padding of {count(counted['pairs'])} pairs, {count(counted['real'])} real tokens; goal: at most {PADDED_GOAL:g} tokens "
        "read for each", ({"batches": name, "tokens read": count(round(counted[key])),
                           "for each real one": linked(plain(shares[key]), step), "goal": met.get(key, "")}
                          for key, name in BATCHES.items()))
