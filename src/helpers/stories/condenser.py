"""The chapter *Condenser*: the pre-training (Gao & Callan 2021, sections 4 and 5.1)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from helpers.evaluation import published
from helpers.networks import backbone
from helpers.pages import page, plots
from helpers.pages.compare import above
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, seconds
from helpers.steps import Step
from helpers.stories.readiness import STUDY
from helpers.stories.training import Logs, curve, final
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation, Systems, evaluate
from helpers.systems.starting_points import BACKBONE, CONDENSER, CONTINUED, MLM, Pretraining
from helpers.systems.testbed import Testbed

MEASURES = ("RR@10", "R@100")
TABLE, ROW = "text 5.1", "Condenser pre-training"


def settings_table(pretraining: Pretraining, log: dict[str, Any]) -> Fragment:
    """The pre-training beside the study's."""
    printed = {column: entry.printed for (row, column), entry in published.cells(STUDY, TABLE).items() if row == ROW}
    layers = backbone.layers(backbone.resolve(pretraining.backbone))
    early = pretraining.early or layers // 2
    ours = {"backbone layers": layers, "early layers": early, "late layers": layers - early,
            "head layers": pretraining.head_layers, "epochs": pretraining.epochs,
            "learning rate": f"{pretraining.learning_rate:g}", "warmup ratio": pretraining.warmup}
    counts = {"texts": "texts", "tokens in an epoch": "tokens", "optimiser steps": "steps", "parameters kept": "parameters",
              "parameters in training": "parameters_in_training"}
    ours |= {name: count(log[key]) for name, key in counts.items()}
    return page.records_table("The pre-training, as in the study and here", (
        {"": name, "published": printed.get(name, ""), "this run": value} for name, value in ours.items()))


def curves(logs: Logs, key: str) -> dict[str, pd.Series]:
    """A held-out quantity over the optimiser steps: `eval_late`, `eval_head` or `eval_right`; without those that have none."""
    by_name = {name: curve(log, key) for name, log in logs.items()}
    return {name: series for name, series in by_name.items() if len(series) and series.iloc[-1] > 0}


def loss_figure(logs: Logs) -> Fragment:
    """Both losses on held-out texts over the pre-training."""
    lines = {**{f"{name}, late states": series for name, series in curves(logs, "eval_late").items()},
             **{f"{name}, head": series for name, series in curves(logs, "eval_head").items()}}
    return plots.curves(lines, "optimiser steps", "cross-entropy of a masked piece",
                        "Loss on held-out texts, whose masks are the same in every evaluation.")


def right_figure(logs: Logs) -> Fragment:
    """How many masked pieces are guessed right."""
    return plots.curves(curves(logs, "eval_right"), "optimiser steps", "share guessed right",
                        "Masked word pieces of held-out texts that the late states guess right.")


def searched(starts: Mapping[str, Step | None], spec: str, bed: Testbed, max_length: int) -> dict[str, Evaluation]:
    """What each starting point finds before any fine-tuning, by its [CLS] states and by their mean, compared by cosines."""
    systems = {}
    for start, weights in starts.items():
        for pooling in ("cls", "mean"):
            label = f"{start}, {'[CLS]' if pooling == 'cls' else 'mean'}"
            run = BiEncoder(bed.collection, bed.unit, backbone=spec, pooling=pooling, loss="none", max_length=max_length,
                            start=weights).run(bed, 100)
            systems[label] = evaluate(label, run, bed, MEASURES)
    return systems


def signs(systems: Systems, logs: Logs) -> dict[str, bool]:
    """What the discussion rests on; nothing where a pre-training is left out."""
    if not {MLM, CONDENSER, CONTINUED} <= set(logs):
        return {}
    head, late = (final(logs[CONDENSER], key) for key in ("eval_head", "eval_late"))
    alone = [system.mean("R@100").mean for name, system in systems.items() if name.endswith("[CLS]")]
    by_mean = {name: system for name, system in systems.items() if name.endswith("mean")}
    start = by_mean.pop(f"{BACKBONE}, mean", None)
    return {"no [CLS] finds a tenth of the relevant passages": max(alone) < 0.1,
            "every pre-training surely lowers the search by mean states":
                start is not None and all(above(start, system, "RR@10") for system in by_mean.values()),
            "the head guesses worse than the late states": head > late,
            "masked words alone end with the lower loss": final(logs[MLM], "eval_late") < late}


def cost(logs: Mapping[str, Step]) -> Fragment:
    """What each pre-training cost."""
    return page.records_table("What each pre-training cost", (
        {"starting point": name, "optimiser steps": count(log.value()["steps"]),
         "tokens in an epoch": count(log.value()["tokens"]), "time": seconds(log.entry().manifest["inputs"][0]["seconds"])}
        for name, log in logs.items()))
