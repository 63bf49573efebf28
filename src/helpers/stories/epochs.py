"""The chapter *Epochs* (Steensland 2021, experiment 2b)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from helpers.pages import claims, page
from helpers.pages.compare import measured
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain
from helpers.stories.training import curve, final
from helpers.stories.wording import effect
from helpers.systems.evaluated import Evaluation
from helpers.systems.reranker import Reranker
from helpers.systems.reranking_experiment import RerankingExperiment

STOPPED = "stopped early"


def models(base: Reranker, lengths: Sequence[int], seeds: Sequence[int], patience: int) -> dict[str, list[Reranker]]:
    """A list of models, one a seed, for each number of epochs; the longest training is watched by early stopping."""
    return {str(epochs): [replace(base.for_epochs(epochs), seed=seed, patience=patience if epochs == max(lengths) else None)
                          for seed in seeds] for epochs in sorted(lengths)}


def evaluations(trial: RerankingExperiment, found: Mapping[str, Sequence[Reranker]]) -> dict[str, Evaluation]:
    """BM25, each length averaged over its seeds, and the longest as early stopping leaves it."""
    longest = list(found)[-1]
    early = [replace(model, stop_early=True) for model in found[longest]]
    return {"BM25": trial.baseline(), **{name: trial.over_seeds(name, each) for name, each in found.items()},
            STOPPED: trial.over_seeds(STOPPED, early)}


def claims_table(systems: Mapping[str, Evaluation]) -> Fragment:
    """The chapter's claim: the longest training against the shortest."""
    lengths = [name for name in systems if name.isdigit()]
    return claims.judge("epochs", {"six-epochs-worse-than-three": (systems[lengths[-1]], systems[lengths[0]])})


def loss_lines(logs: Mapping[str, dict[str, Any]]) -> dict[str, pd.Series]:
    """Both losses of each training over the optimiser steps."""
    return {f"{kind}, {name} epochs": curve(log, key) for name, log in logs.items()
            for kind, key in (("training", "loss"), ("evaluation", "eval_loss"))}


def stopped_and_not(found: Mapping[str, Sequence[Reranker]],
                    trial: RerankingExperiment) -> dict[Reranker, tuple[Evaluation, Evaluation]]:
    """Each of the longest trainings: the model at its end, and the one that early stopping keeps."""
    name = list(found)[-1]
    return {model: (trial.of(name, model), trial.of(STOPPED, replace(model, stop_early=True))) for model in found[name]}


def stopping_table(systems: Mapping[Reranker, tuple[Evaluation, Evaluation]]) -> Fragment:
    """Where early stopping would have ended each of the longest trainings, and how the model it keeps ranks."""
    rows: list[list[Any]] = []
    for model, pair in systems.items():
        log = model.log.value()
        ends = "not at all" if log["stopped_at"] is None else count(log["stopped_at"])
        rows.append([f"seed {model.seed}", count(log["steps"]), ends, count(log["best_step"]),
                     plain(log["best_step"] / log["steps"] * model.epochs, 1),
                     *(measured(plain(each.mean("RR@10").mean), each) for each in pair)])
    header = ("training", "steps", "would stop at", "lowest loss at", "in epochs", "RR@10 at the end", "RR@10 if stopped")
    return page.show_table(f"Early stopping in the trainings of {model.epochs} epochs", header, rows)


def finding(systems: Mapping[str, Evaluation], logs: Mapping[str, dict[str, Any]]) -> Fragment:
    """The chapter's last words."""
    lengths = [name for name in systems if name.isdigit()]
    short, long, early = systems[lengths[0]], systems[lengths[-1]], systems[STOPPED]
    compared, stopped = long.against(short, "RR@10"), early.against(long, "RR@10")
    ends = {name: (final(log, "loss"), final(log, "eval_loss")) for name, log in logs.items()}
    (loss, held_out), (later_loss, later_held_out) = ends[lengths[0]], ends[lengths[-1]]
    return page.prose(
        f"Going from {lengths[0]} to {lengths[-1]} epochs changes RR@10 by {effect(compared)}.",
        f"The training loss {went(loss, later_loss)} from {plain(loss)} to {plain(later_loss)}; the evaluation loss "
        f"{went(held_out, later_held_out)} from {plain(held_out)} to {plain(later_held_out)}, so that by the loss the longer "
        f"training {'overfits' if later_held_out > held_out else 'does not overfit'}.",
        f"Early stopping changes RR@10 by {effect(stopped)} against the whole of the longer training.")


def went(before: float, after: float) -> str:
    """`rises`, `falls` or `goes`, for a sentence with from and to."""
    return "rises" if after > before else "falls" if after < before else "goes"
