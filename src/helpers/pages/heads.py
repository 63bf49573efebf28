"""Whether a pre-training's head uses [CLS], and where [CLS] looks (Gao & Callan 2021, section 4.2; their later version)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from helpers.pages import page, plots
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import plain
from helpers.pages.training import curve
from helpers.systems.starting_points import CONDENSER, made

USES = 0.1  # nats: a head that loses less by another text's [CLS] does not use it
Attention = Mapping[str, Mapping[str, Sequence[float]]]  # by encoder: `entropy` and `words`, each a value a layer


def exchange(log: dict[str, Any]) -> pd.Series:
    """What the head loses when every text has another's [CLS], in nats a masked piece, over the optimiser steps."""
    return curve(log, "eval_exchanged") - curve(log, "eval_head")


def uses_cls(logs: Sequence[dict[str, Any]]) -> bool:
    """Whether a head uses [CLS]: with every seed, another text's costs it at least `USES`."""
    return bool(min(exchange(log).iloc[-1] for log in logs) >= USES)


def unused_head(pretraining: str, texts: str, backbone: str, seeds: Sequence[int]) -> str:
    """Why claims on the study's head are not tested: it makes no use of [CLS], so there was no treatment; empty if it does."""
    logs = [branches[CONDENSER].log.value() for branches in made(pretraining, texts, backbone, seeds)[1].values()]
    rise = min(exchange(log).iloc[-1] for log in logs)
    return "" if uses_cls(logs) else (
        f"the head does not use [CLS]: another text's costs it {plain(abs(rise))} nats a masked piece, less than {USES}")


def halves(layers: Sequence[float]) -> tuple[float, float]:
    """The means over the early half of the layers and over the late half, which has the middle one."""
    middle = len(layers) // 2
    return float(np.mean(layers[:middle])), float(np.mean(layers[middle:]))


def attention_figure(found: Attention) -> Fragment:
    """The entropy of [CLS]'s attention by layer."""
    lines = {name: pd.Series(own["entropy"], index=range(1, len(own["entropy"]) + 1)) for name, own in found.items()}
    return plots.curves(lines, "layer", "entropy of [CLS]'s attention", "How evenly [CLS] attends to the tokens of a text: 1 is "
                        "all alike, 0 one alone. Means over texts and all heads, first seed.") if lines else Fragment()


def attention_table(found: Attention) -> Fragment:
    """Entropy and the words' share, means over the early half of the layers and over the late one."""
    return page.records_table("The attention of [CLS]; what words do not get goes to [CLS] itself and to [SEP]", (
        {"encoder": name, **{f"{what}, {half} layers": plain(value) for what, key in (("entropy", "entropy"), ("words", "words"))
                             for half, value in zip(("early", "late"), halves(own[key]), strict=True)}}
        for name, own in found.items()))
