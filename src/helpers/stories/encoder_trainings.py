"""The trainings of the chapter *Encoders*: learning curves, sizes and cost, and the margin (David 2020, section 3.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from helpers.pages import page, plots
from helpers.pages.compare import differences_table, measured
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain, seconds
from helpers.stories.encoders import BEFORE, MEASURE, fine_tuned
from helpers.stories.training import curve
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation
from helpers.systems.testbed import Testbed


def learning_curves(logs: Mapping[str, dict[str, Any]], key: str, y: str, caption: str) -> Fragment:
    """A logged quantity of every training over its steps, from before the first one."""
    return plots.curves({name: curve(log, key) for name, log in logs.items()}, "optimiser steps", y, caption)


def training_table(logs: Mapping[str, dict[str, Any]]) -> Fragment:
    """What each model was trained on, and how well it tells held-out triplets apart before and after."""
    rows = []
    for name, log in logs.items():
        accuracies, losses = curve(log, "eval_accuracy"), curve(log, "eval_loss")
        rows.append([name, count(log["parameters"]), count(log["queries"]), count(log["steps"]),
                     *(f"{plain(values.iloc[0])} → {plain(values.iloc[-1])}" for values in (losses, accuracies))])
    header = ("model", "parameters", "training queries", "optimiser steps", "evaluation loss", "accuracy on held-out triplets")
    return page.show_table("The trainings", header, rows)


def cost(trained: Mapping[str, BiEncoder], systems: Mapping[str, Evaluation]) -> Fragment:
    """Seconds of training, of encoding the collection and of searching it, model by model."""
    rows = []
    for name, model in trained.items():
        manifest = systems[name].source.entry().manifest
        spent = {part["step"]: part.get("seconds") for part in (*manifest["inputs"], *model.log.entry().manifest["inputs"])}
        parts = ["" if spent.get(step) is None else seconds(spent[step]) for step in ("bi_encoder", "passage_embeddings")]
        machine = manifest["machine"]
        rows.append([name, *parts, measured(seconds(manifest["seconds"]), systems[name]),
                     f"{machine['cpu']}, {page.threads(machine)}"])
    header = ("model", "training", "encoding all passages", "searching all queries", "on")
    return page.show_table("What each model cost", header, rows)


def by_margin(bed: Testbed, model: BiEncoder, margins: Sequence[float], seeds: Sequence[int],
              depth: int) -> dict[str, Evaluation]:
    """One model, trained with each margin of the triplet loss."""
    models = {f"margin {margin:g}": replace(model, margin=margin) for margin in margins}
    return fine_tuned(bed, models, seeds, depth)


def margin_table(systems: Mapping[str, Evaluation], name: str, before: Evaluation) -> Fragment:
    """What each margin makes of the zero-shot model."""
    return differences_table(f"{name}: {MEASURE} after a training with each margin (first) and {BEFORE} (second)",
                             {margin: (system, before) for margin, system in systems.items()}, MEASURE)
