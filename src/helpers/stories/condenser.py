"""The chapter *Condenser*: the pre-training (Gao & Callan 2021, sections 4 and 5.1)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from helpers.evaluation import published
from helpers.networks import backbone
from helpers.pages import page, plots
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain, seconds
from helpers.steps import Step
from helpers.stories.readiness import STUDY, sure_sign
from helpers.stories.training import curve
from helpers.stories.wording import joined
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation, evaluate
from helpers.systems.starting_points import BACKBONE, CONDENSER, MLM, Pretraining
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


def curves(logs: Mapping[str, dict[str, Any]], key: str) -> dict[str, pd.Series]:
    """A held-out quantity over the optimiser steps: `eval_late`, `eval_head` or `eval_right`; without those that have none."""
    by_name = {name: curve(log, key) for name, log in logs.items()}
    return {name: series for name, series in by_name.items() if len(series) and series.iloc[-1] > 0}


def loss_figure(logs: Mapping[str, dict[str, Any]]) -> Fragment:
    """Both losses on held-out texts over the pre-training."""
    lines = {**{f"{name}, late states": series for name, series in curves(logs, "eval_late").items()},
             **{f"{name}, head": series for name, series in curves(logs, "eval_head").items()}}
    return plots.curves(lines, "optimiser steps", "cross-entropy of a masked piece",
                        "Loss on held-out texts, whose masks are the same in every evaluation.")


def right_figure(logs: Mapping[str, dict[str, Any]]) -> Fragment:
    """How many masked pieces are guessed right."""
    return plots.curves(curves(logs, "eval_right"), "optimiser steps", "share guessed right",
                        "Masked word pieces of held-out texts that the late states guess right.")


def head_sentence(logs: Mapping[str, dict[str, Any]]) -> Fragment:
    """What the losses say of both parts, and of the control."""
    late, head = (curves(logs, key)[CONDENSER] for key in ("eval_late", "eval_head"))
    text = [f"At the start a masked piece costs {plain(late.iloc[0], 2)} nats, about as much as a blind guess: the backbone "
            "comes without an output for words, so it was made new, tied to the table of embeddings.",
            f"At the end it costs {plain(late.iloc[-1], 2)} from the late states and {plain(head.iloc[-1], 2)} from the head."]
    if MLM in logs:
        control = curves(logs, "eval_late")[MLM]
        text.append(f"Without the head the late states end at {plain(control.iloc[-1], 2)} after as many steps.")
    return page.prose(*text)


def searched(starts: Mapping[str, Step | None], spec: str, bed: Testbed, max_length: int) -> dict[str, Evaluation]:
    """What each starting point finds before any fine-tuning, by its [CLS] states and by their mean, compared by cosines."""
    systems = {}
    for start, weights in starts.items():
        for pooling in ("cls", "mean"):
            label = f"{start}, {'[CLS]' if pooling == 'cls' else 'mean'}"
            run = BiEncoder(bed.collection, bed.unit, backbone=spec, pooling=pooling, loss="none", max_length=max_length,
                            start=weights).run(bed, 100)
            systems[label] = evaluate(label, run.value(), bed, MEASURES, run)
    return systems


def finding(systems: Mapping[str, Evaluation]) -> Fragment:
    """Whether the pre-training put texts into [CLS], before any fine-tuning."""
    measure = MEASURES[1]
    before, after, control = (systems.get(f"{start}, [CLS]") for start in (BACKBONE, CONDENSER, MLM))
    if before is None or after is None:
        return page.prose("These parameters leave out the backbone or Condenser.")
    told = {name: plain(system.mean(measure).mean) for name, system in systems.items() if name.endswith("[CLS]")}
    text = ["Before any fine-tuning, this share of the relevant passages is among the first hundred by [CLS] states alone: "
            + joined([f"{value} ({name.removesuffix(', [CLS]')})" for name, value in told.items()]) + "."]
    better = sure_sign(after, before, measure) > 0
    if better and (control is None or sure_sign(after, control, measure) > 0):
        text.append("The head does what it is made for: it puts the text into [CLS].")
    elif better:
        text.append("Condenser is ahead of the backbone, but not of masked words alone: what the head adds cannot be told from "
                    "what pre-training does by itself.")
    else:
        text.append("So small a pre-training did not make the backbone's [CLS] states better vectors.")
    return page.prose(*text)


def cost(logs: Mapping[str, Step]) -> Fragment:
    """What each pre-training cost."""
    return page.records_table("What each pre-training cost", (
        {"starting point": name, "optimiser steps": count(log.value()["steps"]),
         "tokens in an epoch": count(log.value()["tokens"]), "time": seconds(log.entry().manifest["inputs"][0]["seconds"])}
        for name, log in logs.items()))
