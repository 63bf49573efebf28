"""The chapter *Candidates* (Steensland 2021, experiment 3b)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from helpers.data.runs import cut
from helpers.data.windows import doc_of
from helpers.pages import claims, page
from helpers.pages.compare import mean_cell
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain, seconds
from helpers.reranking.aggregation import aggregate
from helpers.stories.wording import effect
from helpers.systems.evaluated import Evaluation, evaluate
from helpers.systems.reranking_experiment import RerankingExperiment, Scorer

STUDIED = 20  # the number of candidates in all of the study's other experiments


def evaluations(trial: RerankingExperiment, model: Scorer, depths: Sequence[int]) -> dict[int, Evaluation]:
    """The model over the first R candidates for each R: every window is scored once, at the largest R."""
    scores = model.scores(trial.bed, trial.run, max(depths))
    windows, run = scores.value(), trial.run.value()
    return {depth: evaluate(f"R = {depth}", aggregate(windows_of(windows, run, depth), trial.aggregation), trial.bed,
                            trial.measures, scores) for depth in sorted(depths)}


def windows_of(windows: pd.DataFrame, run: pd.DataFrame, depth: int) -> pd.DataFrame:
    """The scored windows of each query's first `depth` candidates."""
    kept = pd.MultiIndex.from_frame(cut(run, depth)[["query_id", "doc_id"]])
    owners = pd.MultiIndex.from_arrays([windows["query_id"], windows["doc_id"].map(doc_of)])
    return windows[owners.isin(kept)].reset_index(drop=True)


def nearest(systems: Mapping[int, Evaluation], depth: int) -> int:
    """The number of candidates among those measured that is closest to `depth`, the smaller of two."""
    return min(systems, key=lambda known: (abs(known - depth), known))


def claims_table(systems: Mapping[int, Evaluation]) -> Fragment:
    """The chapter's claims: most candidates and twenty, in recall and in reciprocal rank, and the trend of recall between.

    Fewer than twenty are left out: with ten candidates recall in the top ten is BM25's by construction.
    """
    most, studied = max(systems), nearest(systems, STUDIED)
    depths = [depth for depth in sorted(systems) if depth >= studied]
    recall = {"100 candidates over 20": (systems[most], systems[studied])}
    if len(depths) > 2:
        half = len(depths) // 2
        deep, shallow = ([systems[depth] for depth in part] for part in (depths[-half:], depths[:half]))
        recall["trend"] = (mean_of(deep), mean_of(shallow))
    return claims.judge("candidates", {"more-candidates-raise-recall": recall,
                                       "more-candidates-do-not-raise-mrr": (systems[most], systems[studied])})


def mean_of(systems: Sequence[Evaluation]) -> Evaluation:
    """The mean of rankings by one training, query by query."""
    return replace(systems[0], values=pd.concat([system.values for system in systems]).groupby(level=0, sort=False).mean())


def means(systems: Mapping[int, Evaluation], measure: str) -> pd.Series:
    """One measure over R."""
    return pd.Series({depth: system.mean(measure).mean for depth, system in systems.items()}, name=measure)


def table(trial: RerankingExperiment, systems: Mapping[int, Evaluation]) -> Fragment:
    """Effectiveness, ceiling and cost at each R."""
    run = trial.run.value()
    source = next(iter(systems.values())).source
    windows, spent = source.value(), source.entry().manifest["seconds"]
    rows = []
    for depth, system in systems.items():
        read = len(windows_of(windows, run, depth))
        ceiling = trial.bed.per_query(run, [f"R@{depth}"]).mean().iloc[0]
        cells = [mean_cell(system, measure) for measure in ("RR@10", "R@10")]
        queries = windows["query_id"].nunique()
        rows.append([f"R = {depth}", *cells, plain(ceiling), count(round(read / queries)),
                     seconds(spent * read / len(windows) / queries)])
    header = ("candidates", "RR@10", "R@10", "ceiling (BM25's recall at R)", "windows read a query", "scoring a query")
    return page.show_table("Effectiveness and cost by the number of candidates", header, rows)


def finding(systems: Mapping[int, Evaluation]) -> Fragment:
    """The chapter's last words."""
    most, least, studied = max(systems), min(systems), nearest(systems, STUDIED)
    ranks = means(systems, "RR@10")
    return page.prose(
        f"From R = {least} to R = {most} recall in the top ten changes by "
        f"{effect(systems[most].against(systems[least], 'R@10'))}, for {plain(most / least, 0)} times the work.",
        f"From R = {studied} to R = {most} RR@10 changes by {effect(systems[most].against(systems[studied], 'RR@10'))}.",
        f"The highest RR@10 is {plain(ranks.max())}, at R = {ranks.idxmax()}.")
