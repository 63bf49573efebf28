"""The chapter *Seeds* (Steensland 2021, experiment 2c)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from helpers.evaluation import published
from helpers.evaluation.variance import Components, components, queries_needed, seeds_needed
from helpers.pages import claims, figures, page
from helpers.pages.compare import corrected_p, difference_cell, measured
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, interval, p_value, plain
from helpers.stories.training import STUDY, curve, final
from helpers.stories.wording import effect
from helpers.systems.evaluated import Evaluation, values_of
from helpers.systems.reranker import Reranker

MEASURE = "RR@10"


def models(base: Reranker, seeds: Sequence[int]) -> dict[str, Reranker]:
    """A model a seed, named by its place as in table 5.4."""
    return {str(place): replace(base, seed=seed) for place, seed in enumerate(seeds, start=1)}


def ordered(systems: Mapping[str, Evaluation]) -> list[str]:
    """The runs from the best to the worst."""
    return sorted((name for name in systems if name.isdigit()), key=lambda name: -systems[name].mean(MEASURE).mean)


def claims_table(systems: Mapping[str, Evaluation], logs: Mapping[str, dict[str, Any]]) -> Fragment:
    """The chapter's claims: the best run and the worst, with p corrected for all the pairs they were picked from; and the runs of
    lowest and highest evaluation loss, which are picked without a look at ranks."""
    names, by_loss = ordered(systems), sorted(logs, key=lambda name: final(logs[name], "eval_loss"))
    return claims.judge("seeds", {"seeds-differ-noticeably": (systems[names[0]], systems[names[-1]]),
                                  "loss-does-not-predict-ranking": (systems[by_loss[0]], systems[by_loss[-1]])},
                        picked_from={"seeds-differ-noticeably": max(1, len(names) * (len(names) - 1) // 2)})


def curves(logs: Mapping[str, dict[str, Any]]) -> dict[str, pd.Series]:
    """The evaluation loss of each run over the optimiser steps."""
    return {f"run {name}": curve(log, "eval_loss") for name, log in logs.items()}


def found(systems: Mapping[str, Evaluation]) -> Components | None:
    """The variance components of the runs; None for a single seed."""
    names = ordered(systems)
    return components(values_of(systems, names, MEASURE)) if len(names) > 1 else None


def spread_figure(systems: Mapping[str, Evaluation]) -> Fragment:
    """Each run with its interval over queries, and the band that the runs' own deviation spans."""
    names = sorted(ordered(systems), key=int)
    means = [systems[name].mean(MEASURE) for name in names]
    values = np.array([m.mean for m in means])
    figure, (axis,) = figures.new()
    if len(values) > 1:
        centre, deviation = float(values.mean()), float(values.std(ddof=1))
        axis.axhspan(centre - deviation, centre + deviation, color=figures.COLOURS[4], alpha=0.25, label="one deviation of runs")
    axis.errorbar(range(len(names)), values, yerr=[[m.mean - m.low for m in means], [m.high - m.mean for m in means]], fmt="o",
                  capsize=4, color=figures.COLOURS[0], label="run, with its interval over queries")
    base = systems["BM25"].mean(MEASURE).mean
    axis.axhline(base, color=figures.COLOURS[1], ls="--", label="BM25")
    axis.set(xticks=range(len(names)), xticklabels=[f"run {name}" for name in names], ylabel=MEASURE)
    figure.legend(loc="outside upper center", ncols=3)
    alt = f"{MEASURE} of each run with its 95 % interval over queries; BM25 {plain(base)}. " + "; ".join(
        f"run {name}: {plain(m.mean)} {interval(m.low, m.high)}" for name, m in zip(names, means, strict=True)) + "."
    return figures.show(figure, alt, "Spread over seeds beside the interval over queries.")


def pairs_table(systems: Mapping[str, Evaluation]) -> Fragment:
    """Every pair of runs: difference, corrected p, and how many queries would be needed to see such a difference."""
    names = ordered(systems)
    pairs = [(a, b) for place, a in enumerate(names) for b in names[place + 1:]]
    tests = {pair: systems[pair[0]].against(systems[pair[1]], MEASURE) for pair in pairs}
    corrected = corrected_p(tests)
    rows = []
    for (a, b), test in tests.items():
        needed = queries_needed((systems[a].values[MEASURE] - systems[b].values[MEASURE]).to_numpy())
        rows.append([f"run {a} against run {b}", difference_cell(test.difference, systems[a]),
                     p_value(corrected[a, b]), "no difference" if needed is None else count(needed)])
    return page.show_table("Pairs of runs, best first (p corrected by Holm's method)",
                           ("runs", "difference in RR@10", "p", "queries needed"), rows)


def variance_table(systems: Mapping[str, Evaluation]) -> Fragment:
    """The variance of one query's value, and of a mean, by its source."""
    parts = found(systems)
    if parts is None:
        return page.prose("One seed alone says nothing of the variation over seeds.")
    total = parts.seed + parts.query + parts.rest
    rows = [[name, measured(plain(value, 5), systems[ordered(systems)[0]]), f"{value / total:.1%}"] for name, value in (
        ("query, alike for all seeds", parts.query), ("seed, alike for all queries", parts.seed),
        ("seed and query together", parts.rest))]
    return page.show_table("Where the variance of one query's RR@10 comes from", ("source", "variance", "share"), rows)


def finding(systems: Mapping[str, Evaluation]) -> Fragment:
    """The chapter's last words."""
    names, parts = ordered(systems), found(systems)
    if parts is None:
        return page.prose("With one seed there is nothing to compare.")
    best, worst = systems[names[0]], systems[names[-1]]
    test = best.against(worst, MEASURE)
    queries = queries_needed((best.values[MEASURE] - worst.values[MEASURE]).to_numpy())
    seeds = seeds_needed(test.difference.mean, parts.seed_deviation)
    study = published_spread()
    return page.prose(
        f"Best and worst of {parts.seeds} runs differ by {effect(test)} before any correction for having picked them.",
        f"The study's four runs span {plain(study)}; these span {plain(test.difference.mean)}.",
        f"Over seeds, the mean of RR@10 on these {parts.queries} queries has a standard deviation of "
        f"{plain(parts.seed_deviation, 4)}; over samples of as many queries, the mean of one model has one of "
        f"{plain(parts.query_deviation, 4)}, {plain(parts.query_deviation / parts.seed_deviation, 1)} times as much."
        if parts.seed_deviation else "",
        f"To tell a best and worst run that differ so much with a power of {0.8:.0%}, "
        + ("no number of queries would do." if queries is None else f"about {count(queries)} queries would be needed;"),
        "" if seeds is None else f"to tell two recipes that differ so much on these queries, about {count(seeds)} seeds of each.")


def published_spread() -> float:
    """The distance between best and worst MRR@10 in table 5.4."""
    values = [float(entry.value) for entry in published.column(STUDY, "5.4", "MRR@10").values()]
    return max(values) - min(values)
