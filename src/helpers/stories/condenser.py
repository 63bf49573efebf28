"""The chapter *Condenser*: the pre-training, and whether its head uses [CLS] (Gao & Callan 2021, sections 4 and 5.1)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from helpers.evaluation import published
from helpers.networks import backbone
from helpers.pages import page, plots
from helpers.pages.compare import above
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain, seconds
from helpers.pages.training import curve, final, took
from helpers.steps import Step
from helpers.stories.readiness import STUDY
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation, Systems, evaluate_values
from helpers.systems.reranking_experiment import together
from helpers.systems.starting_points import BLIND, BRANCHES, CONDENSER, EMBEDDED, MASKED, MLM, START, Pretraining, branches, made
from helpers.systems.testbed import Testbed

MEASURES = ("RR@10", "R@100")
TABLE, ROW = "text 5.1", "Condenser pre-training"
UNTOUCHED = "backbone"
USES = 0.1  # nats: a head that loses less by another text's [CLS] does not use it
NOISE = 1e-3  # nats: less is no rise
SPREAD = 1e-2  # of cosines between [CLS] states: below it a start cannot tell texts apart
SAMPLE = 200  # texts whose [CLS] states are compared
SEEDS = {EMBEDDED: 1, MASKED: 2}  # of the branches whose heads see less than the study's, so many; of the others all

Branches = Mapping[str, Sequence[Pretraining]]  # by name, over seeds
Logs = Mapping[str, Sequence[dict[str, Any]]]


def over_seeds(start: Pretraining, names: Sequence[str], seeds: Sequence[int], **settings: Any) -> Branches:
    """The branches of those names, all without any, each over its `SEEDS`; `settings` as in `starting_points.branches`."""
    made = [branches(start, seed=seed, **settings) for seed in seeds]
    return {name: [of_seed[name] for of_seed in made[:SEEDS.get(name)]] for name in names or BRANCHES}


def first_seeds(start: Pretraining, trained: Branches) -> dict[str, Pretraining]:
    """The start, unless the backbone is that already, and each branch's first seed."""
    return ({START: start} if start.epochs else {}) | {name: own[0] for name, own in trained.items()}


def logs_of(trained: Branches) -> Logs:
    """The log of every pre-training."""
    return {name: [one.log.value() for one in own] for name, own in trained.items()}


def settings_table(start: Pretraining, trained: Branches) -> Fragment:
    """The start and a branch, one with a head if there is any, beside the study's pre-training."""
    branch = next((own[0] for own in trained.values() if own[0].head_layers), next(iter(trained.values()))[0])
    printed = {column: entry.printed for (row, column), entry in published.cells(STUDY, TABLE).items() if row == ROW}
    counts = {"texts": "texts", "tokens in an epoch": "tokens", "optimiser steps": "steps", "parameters kept": "parameters",
              "parameters in training": "parameters_in_training"}
    columns = {}
    for name, one in (("the start", start), ("a branch of it", branch))[not start.epochs:]:
        layers, log = backbone.layers(backbone.resolve(one.backbone)), one.log.value()
        early = layers // 2 if one.early is None else one.early
        head = {"early layers": early, "late layers": layers - early, "head layers": one.head_layers} if one.head_layers else {}
        columns[name] = {"backbone layers": layers, **head, "epochs": one.epochs, "learning rate": f"{one.learning_rate:g}",
                         "warmup ratio": one.warmup, "share of words masked": one.mlm_probability,
                         **{what: count(log[key]) for what, key in counts.items()}}
    return page.records_table("The pre-training, as in the study and here", (
        {"": what, "published": printed.get(what, ""), **{name: own.get(what, "none") for name, own in columns.items()}}
        for what in columns["a branch of it"]))


def exchange(log: dict[str, Any]) -> pd.Series:
    """What the head loses when every text has another's [CLS], in nats a masked piece, over the optimiser steps."""
    return curve(log, "eval_exchanged") - curve(log, "eval_head")


def uses_cls(logs: Sequence[dict[str, Any]]) -> bool:
    """Whether a head uses [CLS]: with every seed, another text's costs it at least `USES`."""
    return min(exchange(log).iloc[-1] for log in logs) >= USES


def unused_head(pretraining: str, texts: str, backbone: str, seeds: Sequence[int]) -> str:
    """Why claims on the study's head are not tested: it makes no use of [CLS], so there was no treatment; empty if it does."""
    logs = [branches[CONDENSER].log.value() for branches in made(pretraining, texts, backbone, seeds)[1].values()]
    rise = min(exchange(log).iloc[-1] for log in logs)
    return "" if uses_cls(logs) else (
        f"the head does not use [CLS]: another text's costs it {plain(abs(rise))} nats a masked piece, less than {USES}")


def means(logs: Logs, quantity: Any) -> dict[str, pd.Series]:
    """A quantity of each branch's logs over the optimiser steps, its mean over seeds; without branches that lack it."""
    found = {name: pd.concat([quantity(log) for log in own], axis=1).mean(axis=1) for name, own in logs.items()}
    return {name: series for name, series in found.items() if len(series)}


def ended(logs: Sequence[dict[str, Any]], key: str) -> float:
    """Where a logged quantity ends, the mean over seeds."""
    return float(np.mean([final(log, key) for log in logs]))


def with_head(logs: Logs, trained: Branches) -> Logs:
    """Those that have a head."""
    return {name: own for name, own in logs.items() if trained[name][0].head_layers}


def exchange_figure(logs: Logs) -> Fragment:
    """The cost of another text's [CLS] over the pre-training."""
    lines = means(logs, exchange)
    steps = next(iter(lines.values())).index
    return plots.curves({**lines, f"{USES} nats": pd.Series(USES, index=[steps[0], steps[-1]])}, "optimiser steps",
                        "rise of the head's loss, in nats", "What the head loses on held-out texts if each has another's [CLS]; "
                        "below the flat line it does not use it. Means over seeds.")


def exchange_table(logs: Logs) -> Fragment:
    """At the end: the head's loss, with another text's [CLS], and whether it uses it."""
    rows = []
    for name, own in logs.items():
        rises = np.array([exchange(log).iloc[-1] for log in own])
        rows.append({"pre-training": name, "head's loss": plain(ended(own, "eval_head")),
                     "with another's [CLS]": plain(ended(own, "eval_exchanged")),
                     "rise, by seed": ", ".join(plain(rise) for rise in rises.round(3) + 0.0),
                     f"rises above {USES} nats": "yes" if uses_cls(own) else "no" if rises.max() < USES else "in some seeds"})
    return page.records_table("The head's loss in nats a masked piece, and what it makes of [CLS]", rows)


def loss_figure(logs: Logs) -> Fragment:
    """The late states' loss over the pre-training of every branch."""
    return plots.curves(means(logs, lambda log: curve(log, "eval_late")), "optimiser steps", "cross-entropy of a masked piece",
                        "Loss of the late states on held-out texts, whose masks are always the same. Means over seeds.")


def cosine_table(start: Pretraining, trained: Branches) -> Fragment:
    """How far [CLS] tells texts apart before anything is fine-tuned."""
    found = {name: one.cosines(SAMPLE).value() for name, one in first_seeds(start, trained).items()}
    return page.records_table(f"Cosines between the [CLS] states of {SAMPLE} texts, in single precision, of the first seed", (
        {"encoder": name, "mean cosine": plain(cosines["mean"]), "standard deviation": f"{cosines['spread']:.4f}",
         f"above {SPREAD:g}": "yes" if cosines["spread"] > SPREAD else "no"} for name, cosines in found.items()))


def searched(start: Pretraining, trained: Branches, bed: Testbed) -> dict[str, Evaluation]:
    """What the backbone, the start and the branches find without fine-tuning, by [CLS] over all seeds and by the mean of the
    first."""
    systems: dict[str, Evaluation] = {}
    known: dict[str, list[Step | None]] = {UNTOUCHED: [None], **({START: [start.model]} if start.epochs else {}),
             **{name: [one.model for one in own] for name, own in trained.items()}}
    for name, models in known.items():
        for pooling, read in (("cls", models), ("mean", models[:1])):
            label = f"{name}, {'[CLS]' if pooling == 'cls' else 'mean'}"
            encoders = [BiEncoder(bed.collection, bed.unit, backbone=start.backbone, pooling=pooling, loss="none",
                                  max_length=start.max_length, start=model) for model in read]
            systems[label] = together(label, [evaluate_values(label, one.run(bed, 100), bed, MEASURES) for one in encoders])
    return systems


def signs(logs: Logs, trained: Branches, systems: Systems) -> dict[str, bool]:
    """What the discussion rests on; nothing where a pre-training or the control is left out."""
    if not {CONDENSER, BLIND} <= set(logs) or f"{START}, mean" not in systems:
        return {}
    rises = {name: [exchange(log).iloc[-1] for log in own] for name, own in with_head(logs, trained).items()}
    masked = MASKED in logs and uses_cls(logs[MASKED])
    mean = {name: system for name, system in systems.items() if name.endswith("mean")}
    return {"the study's head uses [CLS]": uses_cls(logs[CONDENSER]),
            "a head over embeddings loses more by the exchange":
                min(rises.get(EMBEDDED, [0.0])) > 10 * max(*rises[CONDENSER], NOISE),
            "a head that masks more uses [CLS]": masked,
            "a head that masks more leaves a [CLS] that searches better":
                masked and {f"{MASKED}, [CLS]", f"{MLM}, [CLS]"} <= set(systems)
                and above(systems[f"{MASKED}, [CLS]"], systems[f"{MLM}, [CLS]"], "RR@10"),
            "the head without the late [CLS] guesses as well":
                ended(logs[BLIND], "eval_head") < ended(logs[CONDENSER], "eval_head") + USES,
            "the start surely searches better by [CLS] than by the mean":
                above(systems[f"{START}, [CLS]"], systems[f"{START}, mean"], "RR@10"),
            "the start has lost the search of the packaged encoder":
                above(mean[f"{UNTOUCHED}, mean"], mean[f"{START}, mean"], "RR@10")}


def cost(start: Pretraining, trained: Branches) -> Fragment:
    """What each pre-training cost, a branch's first seed."""
    return page.records_table("What each pre-training cost", (
        {"pre-training": name, "optimiser steps": count(one.log.value()["steps"]),
         "tokens in an epoch": count(one.log.value()["tokens"]),
         "time": seconds(took(one.log))} for name, one in first_seeds(start, trained).items()))
