"""The chapter *Hyper-parameters*, on: the thesis's own training pairs and rates (Steensland 2021, sections 4.1.2 and 5.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from helpers.errors import BadInput
from helpers.pages import compare, page, plots, training
from helpers.pages.compare import lead
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count
from helpers.systems.evaluated import Evaluation, evaluate_values
from helpers.systems.pointwise_reranker import PointwiseReranker
from helpers.systems.recipe import recipe
from helpers.systems.reranking_experiment import RerankingExperiment, together
from helpers.systems.testbed import Testbed

RATES = (5e-6, 5e-5)  # Steensland 2021, table 4.1: the rate that was chosen, and the highest that was tried
WAYS = {"maximum": "max", "mean": "mean"}
Models = Mapping[float, Sequence[PointwiseReranker]]  # by learning rate, over seeds


def models(collection: str, backbone: str, warm_up: int, seeds: Sequence[int]) -> Models:
    """So many trainings at each of the two rates; BadInput for another number of numbers."""
    if len(seeds) not in (0, len(RATES)):
        raise BadInput(f"{len(seeds)} numbers of trainings for {len(RATES)} rates", mend="give `ratio_seeds` one for each, or []")
    start = recipe(collection, "", backbone, warm_up=warm_up).start
    model = PointwiseReranker(collection=collection, backbone=backbone, start=start)
    return {rate: [replace(model, learning_rate=rate, seed=seed) for seed in range(1, number + 1)]
            for rate, number in zip(RATES, seeds, strict=False)}


def evaluations(collection: str, candidates: int, trained: Models) -> dict[str, tuple[Evaluation, Evaluation]]:
    """Each rate and way of aggregation beside BM25, on all test queries; the values alone, not the rankings."""
    if not trained:
        return {}
    trial = RerankingExperiment.of_bm25(Testbed(collection, "document"), candidates)
    baseline = evaluate_values("BM25", trial.run, trial.bed, ["RR@10"])
    return {f"{way}, rate {rate:g}, {count(len(group))} seeds": (together(way, [
        evaluate_values(way, trial.bed.documents(model.scores(trial.bed, trial.run, trial.candidates), how), trial.bed, ["RR@10"])
        for model in group]), baseline) for rate, group in trained.items() for way, how in WAYS.items()}


def logs(trained: Models) -> dict[float, dict[str, Any]]:
    """What the first training of each rate logged."""
    return {rate: group[0].log.value() for rate, group in trained.items()}


def loss_figure(told: Mapping[float, Mapping[str, Any]]) -> Fragment:
    """Loss on training pairs and on those of held-out queries."""
    lines = {f"rate {rate:g}, {name}": training.curve(dict(log), key) for rate, log in told.items()
             for name, key in (("training", "loss"), ("held out", "eval_loss"))}
    return plots.curves(lines, "optimiser steps", "binary cross-entropy", "Loss of the first training at each rate.") if lines \
        else page.prose()


def table(pairs: Mapping[str, tuple[Evaluation, Evaluation]], told: Mapping[float, Mapping[str, Any]]) -> Fragment:
    """Each system beside BM25, with what was learned from."""
    if not pairs:
        return page.prose("These parameters ask for no training at the thesis's ratio.")
    log, bed = next(iter(told.values())), next(iter(pairs.values()))[1]
    share = log["positives"] / log["pairs"]
    return compare.differences_table(
        f"Trained on {count(log['pairs'])} pairs, {share:.1%} of them relevant (first), and BM25 (second), "
        f"{count(len(bed.values))} queries", pairs, "RR@10")


def signs(pairs: Mapping[str, tuple[Evaluation, Evaluation]], told: Mapping[float, Mapping[str, Any]]) -> dict[str, bool]:
    """What the discussion rests on."""
    best = {way: max((lead(system, base, "RR@10") for name, (system, base) in pairs.items() if name.startswith(way)), default=0.0)
            for way in WAYS}
    held_out = [[line["eval_loss"] for line in log["log"]] for log in told.values()]
    return {"at the thesis's ratio the maximum still leads the mean": bool(best["maximum"] > best["mean"]),
            "at the thesis's ratio no interval lies above BM25": bool(pairs) and not any(
                compare.above(system, base, "RR@10") for system, base in pairs.values()),
            "at the thesis's ratio the held-out loss rises": bool(held_out) and all(line[-1] > line[0] for line in held_out)}
