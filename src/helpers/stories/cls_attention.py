"""The chapters *Condenser* and *Fine-tuning sizes*: where [CLS] looks, layer by layer; the later version of Gao & Callan (2021)
argues from that."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from helpers.pages import page, plots
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import plain
from helpers.steps import Step
from helpers.stories.condenser import SAMPLE, UNTOUCHED, Branches, first_seeds
from helpers.stories.readiness import Starts
from helpers.systems.search_tasks import SearchTask
from helpers.systems.starting_points import MASKED, MLM, Pretraining

STAYS = 0.05  # of the entropy: a difference below it is no other way of looking
TUNED = ", fine-tuned"
LOOKED_AT = (MLM, MASKED)  # of the branches: the one without a head, and the one whose head uses [CLS]

Attention = Mapping[str, Mapping[str, Sequence[float]]]  # by encoder: `entropy` and `words`, each a value a layer


def measured(start: Pretraining, trained: Branches) -> Attention:
    """The attention of [CLS] in the backbone, the start and some branches, first seed, all in texts that the branches read."""
    shown = {name: own for name, own in trained.items() if name in LOOKED_AT}
    if not shown:
        return {}
    reader = next(iter(shown.values()))[0]
    weights: dict[str, Step | None] = {UNTOUCHED: None, **{name: one.model for name, one in first_seeds(start, shown).items()}}
    return {name: reader.attention(SAMPLE, own).value() for name, own in weights.items()}


def after_fine_tuning(task: SearchTask, starts: Starts, size: int, reader: Pretraining) -> Attention:
    """The attention of [CLS] in those branches, first seed, before and after a fine-tuning with so many queries (0 for all), in
    texts that `reader` read."""
    found: dict[str, Any] = {}
    for name, by_seed in starts.items():
        seed, weights = next(iter(by_seed.items()))
        found |= {name: reader.attention(SAMPLE, weights).value(),
                  f"{name}{TUNED}": reader.attention(SAMPLE, task.encoder(weights, size, seed).model).value()}
    return found


def figure(found: Attention) -> Fragment:
    """The entropy by layer."""
    if not found:
        return page.prose()
    lines = {name: pd.Series(own["entropy"], index=range(1, len(own["entropy"]) + 1)) for name, own in found.items()}
    return plots.curves(lines, "layer", "entropy of [CLS]'s attention",
                        f"How evenly [CLS] attends to the tokens of a text: 1 is all alike, 0 one alone. Means over {SAMPLE} "
                        "texts and all heads, first seed.")


def table(found: Attention) -> Fragment:
    """Entropy and the words' share, means over the early half of the layers and over the late one."""
    rows = []
    for name, own in found.items():
        cells = {f"{what}, {half} layers": plain(value) for what, key in (("entropy", "entropy"), ("share for words", "words"))
                 for half, value in zip(("early", "late"), halves(own[key]), strict=True)}
        rows.append({"encoder": name, **cells})
    return page.records_table("The attention of [CLS]; what words do not get goes to [CLS] itself and to [SEP]", rows)


def signs(found: Attention) -> dict[str, bool]:
    """What the discussion rests on; nothing where a branch is left out."""
    if not set(LOOKED_AT) <= set(found):
        return {}
    shares = [own["words"] for own in found.values()]
    without, uses = (np.array(found[name]["entropy"]) for name in LOOKED_AT)
    return {"between the first layer and the last [CLS] hardly looks at words":
                all(max(own[1:-1], default=0.0) < min(own[0], own[-1]) / 2 for own in shares),
            "a head that uses [CLS] leaves its attention where it was": bool((np.abs(uses - without) < STAYS).all())}


def tuned_signs(found: Attention) -> dict[str, bool]:
    """What the discussion rests on after fine-tuning; nothing where a branch is left out."""
    if not {name + TUNED for name in LOOKED_AT} <= set(found):
        return {}
    moved = {name: np.subtract(found[name + TUNED]["entropy"], found[name]["entropy"]).tolist() for name in LOOKED_AT}
    early, late = zip(*map(halves, moved.values()), strict=True)
    return {"fine-tuning leaves the attention of [CLS] in the early layers": max(map(abs, early)) < STAYS,
            "after fine-tuning [CLS] looks at fewer tokens in the late layers": max(late) < 0,
            "fine-tuning moves the attention more where no head used [CLS]":
                bool(np.abs(moved[MLM]).max() > np.abs(moved[MASKED]).max())}


def halves(layers: Sequence[float]) -> tuple[float, float]:
    """The means over the early half of the layers and over the late half, which has the middle one."""
    middle = len(layers) // 2
    return float(np.mean(layers[:middle])), float(np.mean(layers[middle:]))
