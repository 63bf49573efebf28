"""The chapter *Seeds* (Steensland 2021, experiment 2c)."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from helpers.evaluation import published
from helpers.evaluation.variance import POWER, Components, components, queries_needed, seeds_needed
from helpers.evaluation.verdicts import ALPHA
from helpers.pages import claims, figures, identity, page, plots
from helpers.pages.compare import difference_cell, measured
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, interval, p_value, plain
from helpers.pages.training import STUDY, Logs, evaluation_curves, final
from helpers.systems.evaluated import Systems, values_of
from helpers.systems.listwise_reranker import ListwiseReranker
from helpers.systems.reranking_experiment import RerankingExperiment
from helpers.systems.zero_shot import zero_shot_in

MEASURE, TABLE = "RR@10", "5.4"
LOSS = "loss-does-not-predict-ranking"


def models(base: ListwiseReranker, seeds: Sequence[int]) -> dict[str, ListwiseReranker]:
    """A model a seed, named by its place as in table 5.4; the output layer begins anew."""
    return {str(place): model for place, model in enumerate(replace(base, new_head=True).over_seeds(seeds), start=1)}


def ordered(systems: Systems) -> list[str]:
    """The runs from the best to the worst."""
    return sorted((name for name in systems if name.isdigit()), key=lambda name: -systems[name].mean(MEASURE).mean)


def claims_table(systems: Systems, logs: Logs, trial: RerankingExperiment) -> Fragment:
    """The chapter's claims: the best run and the worst, which every other query picks and the rest compare; and the runs of
    lowest and highest evaluation loss, which are picked without a look at ranks."""
    names, by_loss = ordered(systems), sorted(logs, key=lambda name: final(logs[name], "eval_loss"))
    queries = list(systems[names[0]].values.index)
    picked = ordered({name: systems[name].on(queries[::2]) for name in names})
    rest = {name: systems[name].on(queries[1::2]) for name in names}
    pairs = {"seeds-differ-noticeably": (rest[picked[0]], rest[picked[-1]]),
             LOSS: (systems[by_loss[0]], systems[by_loss[-1]])}
    return claims.judge("seeds", pairs, untested=identity.barred(pairs, zero_shot_in(systems), trial.bed, trial.candidates))


def variance_components(systems: Systems) -> Components | None:
    """The variance components of the runs; None for a single seed."""
    names = ordered(systems)
    return components(values_of(systems, names, MEASURE)) if len(names) > 1 else None


def signs(systems: Systems) -> dict[str, bool]:
    """What the discussion rests on besides the claims; nothing for a single seed."""
    parts = variance_components(systems)
    if parts is None:
        return {}
    best, *_, worst = (systems[name].mean(MEASURE).mean for name in ordered(systems))
    return {"one test of all runs finds a difference": parts.p_of_seeds < ALPHA,
            "all runs lie closer together than the margin of the loss": best - worst < claims.load()[LOSS].margin.value,
            "the deviation over queries is more than twice that over seeds": parts.query_deviation > 2 * parts.seed_deviation,
            "nine tenths of the variance lie between queries": parts.query > 0.9 * (parts.query + parts.seed + parts.rest),
            "seed and query together vary more than the seed": parts.rest > parts.seed}


def loss_figure(logs: Logs) -> Fragment:
    """Figure 5.3: the evaluation loss of the runs, and where those of the thesis end."""
    cells = {f"run {name}": (TABLE, name, "Final Eval Loss") for name in logs}
    return evaluation_curves({f"run {name}": log for name, log in logs.items()},
                             f"Evaluation loss of the runs, as in figure 5.3; hollow, the last values of table {TABLE}.", cells)


def spread_figure(systems: Systems) -> Fragment:
    """Each run with its interval over queries, the band that the runs' own deviation spans, and the runs of the thesis: all as
    differences from the mean of the runs."""
    means = {name: systems[name].mean(MEASURE) for name in sorted(ordered(systems), key=int)}
    values, base = np.array([m.mean for m in means.values()]), systems["BM25"].mean(MEASURE).mean
    figure, (axis,) = figures.new()
    centre = float(values.mean())
    if len(values) > 1:
        deviation = float(values.std(ddof=1))
        axis.axhspan(-deviation, deviation, color=figures.COLOURS[4], alpha=0.25, label="one deviation of runs")
    spread = np.array([[m.mean - m.low, m.high - m.mean] for m in means.values()]).T
    axis.errorbar([f"run {name}" for name in means], values - centre, yerr=spread, fmt="o", capsize=4, color=figures.COLOURS[0],
                  label="run, with its interval over queries")
    axis.axhline(base - centre, color=figures.COLOURS[1], ls="--", label="BM25")
    known = pd.Series({f"run {row}": entry.amount for row, entry in published.column(STUDY, TABLE, "MRR@10").items()})
    axis.plot(known.index, known - known.mean(), "D", mfc="none", ms=9, color=figures.COLOURS[2], label=plots.PRINTED)
    axis.set(ylabel=f"{MEASURE} less the mean of the runs")
    figures.legend(figure)
    alt = f"{MEASURE} of each run with its 95 % interval over queries; BM25 {plain(base)}. " + "; ".join(
        f"run {name}: {plain(m.mean)} {interval(m.low, m.high)}" for name, m in means.items()) + (
        f". Published: {', '.join(f'{name}: {plain(value)}' for name, value in known.items())}.")
    return figures.show(figure, alt, "Spread over seeds beside the interval over queries, less the mean of the runs; hollow, the "
                        "runs of the thesis, less theirs.")


def pairs_table(systems: Systems) -> Fragment:
    """Every pair of runs: difference, p, and how many queries would be needed to see such a difference."""
    tests = {(a, b): systems[a].against(systems[b], MEASURE) for a, b in combinations(ordered(systems), 2)}
    values = values_of(systems, ordered(systems), MEASURE)
    rows = [[f"run {a} and run {b}", difference_cell(test.difference, systems[a]), p_value(test.p_permutation),
             "no difference" if (needed := queries_needed((values[a] - values[b]).to_numpy())) is None else count(needed)]
            for (a, b), test in tests.items()]
    return page.show_table("Pairs of runs, best first",
                           ("runs", "difference in RR@10", "p", "queries needed"), rows)


def variance_table(systems: Systems) -> Fragment:
    """The variance of one query's value, and of a mean, by its source."""
    parts = variance_components(systems)
    if parts is None:
        return page.prose("One seed alone says nothing of the variation over seeds.")
    sources = {"query, alike for all seeds": parts.query, "seed, alike for all queries": parts.seed,
               "seed and query together": parts.rest}
    return page.records_table("Where the variance of one query's RR@10 comes from", [
        {"source": name, "variance": measured(plain(value, 5), systems[ordered(systems)[0]]),
         "share": f"{value / sum(sources.values()):.1%}"} for name, value in sources.items()])


def finding(systems: Systems) -> Fragment:
    """The chapter's last words."""
    names, parts = ordered(systems), variance_components(systems)
    if parts is None:
        return page.prose("With one seed there is nothing to compare.")
    spread = systems[names[0]].mean(MEASURE).mean - systems[names[-1]].mean(MEASURE).mean
    seeds = seeds_needed(spread, parts.seed_deviation)
    known = [float(entry.value) for entry in published.column(STUDY, "5.4", "MRR@10").values()]
    return page.prose(
        f"From best to worst the runs span {plain(spread)} of RR@10, the study's four {plain(max(known) - min(known))}.",
        f"The choice of {parts.queries} queries moves a mean {plain(parts.query_deviation / parts.seed_deviation, 1)} times "
        f"as much as that of a seed (deviations of {plain(parts.query_deviation, 4)} and {plain(parts.seed_deviation, 4)})."
        if parts.seed_deviation else "",
        f"One test of all runs at once, the F test of the table above, has p {p_value(parts.p_of_seeds)}.",
        "" if seeds is None else f"To be told apart on these queries with a power of {POWER:.0%}, two recipes as far apart as "
                                 f"the best and the worst run would need about {count(seeds)} seeds each.")
