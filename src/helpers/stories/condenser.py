"""The chapter *Condenser*: the pre-training, and whether its head uses [CLS] (Gao & Callan 2021, sections 4 and 5.1).

Then a head's share in search, and how small a share could be seen. Where a head does not use [CLS] nothing is read off its share.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from helpers.evaluation import published
from helpers.networks import backbone
from helpers.pages import page, plots
from helpers.pages.compare import above, differences_table
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, joined, plain, seconds, signed
from helpers.steps import Step
from helpers.stories.gao_tables import printed_lead
from helpers.stories.power import explained, needed, seen, spent
from helpers.stories.readiness import STUDY
from helpers.stories.training import curve, final
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation, Systems, evaluate_values
from helpers.systems.reranking_experiment import together
from helpers.systems.starting_points import BLIND, BRANCHES, CONDENSER, EMBEDDED, MASKED, MLM, START, Pretraining, branches
from helpers.systems.testbed import Testbed

MEASURES = ("RR@10", "R@100")
TABLE, ROW = "text 5.1", "Condenser pre-training"
UNTOUCHED = "backbone"
USES = 0.1  # nats: a head that loses less by another text's [CLS] does not use it
NOISE = 1e-3  # nats: less is no rise
SPREAD = 1e-2  # of cosines between [CLS] states: below it a start cannot tell texts apart
SAMPLE = 200  # texts whose [CLS] states are compared

Branches = Mapping[str, Sequence[Pretraining]]  # by name, over seeds
Logs = Mapping[str, Sequence[dict[str, Any]]]


def over_seeds(start: Pretraining, names: Sequence[str], seeds: Sequence[int], **settings: Any) -> Branches:
    """The branches of those names, all of them without any; `settings` as in `starting_points.branches`. The two whose heads see
    less than the study's show what such heads come to, and have the first seed alone."""
    made = [branches(start, seed=seed, **settings) for seed in seeds]
    return {name: [of_seed[name] for of_seed in (made[:1] if name in (EMBEDDED, MASKED) else made)] for name in names or BRANCHES}


def first_seeds(start: Pretraining, trained: Branches) -> dict[str, Pretraining]:
    """The start, unless the backbone is that already, and each branch's first seed."""
    return ({START: start} if start.epochs else {}) | {name: own[0] for name, own in trained.items()}


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
                     "uses [CLS]": "yes" if uses_cls(own) else "no" if rises.max() < USES else "in some seeds"})
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
            "the start has lost the search of the packaged encoder":
                above(mean[f"{UNTOUCHED}, mean"], mean[f"{START}, mean"], "RR@10")}


def cost(start: Pretraining, trained: Branches) -> Fragment:
    """What each pre-training cost, a branch's first seed."""
    return page.records_table("What each pre-training cost", (
        {"pre-training": name, "optimiser steps": count(one.log.value()["steps"]),
         "tokens in an epoch": count(one.log.value()["tokens"]),
         "time": seconds(one.log.entry().manifest["inputs"][0]["seconds"])}  # its start is left out
        for name, one in first_seeds(start, trained).items()))


# ---- the share of a head ----

def shares(systems: Systems) -> dict[str, tuple[Evaluation, Evaluation]]:
    """Each head's share: the search by [CLS] of a branch with a head, and of the branch without one."""
    by_cls = {name: systems[f"{name}, [CLS]"] for name in BRANCHES if f"{name}, [CLS]" in systems}
    return {name: (own, by_cls[MLM]) for name, own in by_cls.items() if name != MLM and MLM in by_cls}


def not_read(systems: Systems, logs: Logs) -> Fragment:
    """The heads off whose shares nothing is read, with what another text's [CLS] costs them: the page stops there for them."""
    least = {name: min(exchange(log).iloc[-1] for log in logs[name]) for name in shares(systems) if not uses_cls(logs[name])}
    if not least:
        return page.prose()
    heads = joined([f"*{name}* ({plain(abs(rise))})" for name, rise in least.items()])
    return page.prose(f"No verdict is given on {heads}. Another text's [CLS] costs each of these heads less than {USES} nats "
                      "(in parentheses, the least over seeds), so that it guesses without it. Whatever such a branch gains or "
                      "loses in a search cannot have come through [CLS], and the page stops here for it.")


def share_table(systems: Systems, logs: Logs) -> Fragment:
    """The shares of the heads that use [CLS], over pre-training seeds and queries together."""
    pairs = {name: pair for name, pair in shares(systems).items() if uses_cls(logs[name])}
    if not pairs:
        return page.prose("No head of this run can be shown to use [CLS], so there is no share to read.")
    return differences_table("What a head that uses [CLS] adds to search by it: its branch (first), masked words alone (second)",
                             pairs, "RR@10")


def power(systems: Systems, trained: Branches) -> Fragment:
    """What share this design could see, beside the study's after fine-tuning, and what it would take to see that."""
    if CONDENSER not in shares(systems):
        return page.prose("Without both branches there is no share of the head to look for.")
    first, second = shares(systems)[CONDENSER]
    share = first.against(second, "RR@10")
    printed = [printed_lead("4", column) for column in ("MRR@10 / 1K", "MRR@10 / FULL")]
    both = [one for name in (CONDENSER, MLM) for one in trained[name]]
    took = spent([one.model for one in both], [one.log for one in both])
    more = needed(share.detectable, min(printed), took, len(trained[CONDENSER]), "queries")
    fine = "A fine-tuning of each comes on top, which the chapter [](fine_tuning_sizes.ipynb) counts."
    return page.prose(*explained([
        seen(share, "these seeds and queries"),
        f"The study's whole lead over BERT, after fine-tuning, is {signed(printed[0])} with the fewest queries of MS MARCO and "
        f"{signed(printed[1])} with all.", more, fine if took.whole and "CPU hours" in more else ""]))
