"""The chapter *Candidates* (Steensland 2021, experiment 3b)."""

from collections.abc import Mapping, Sequence

import pandas as pd

from helpers.evaluation import published
from helpers.pages import claims, identity, page, plots
from helpers.pages.compare import mean_cell
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain, seconds
from helpers.pages.slider import slider
from helpers.pages.training import STUDY
from helpers.reranking.aggregation import windows_of
from helpers.systems.evaluated import Evaluation
from helpers.systems.reranking_experiment import RerankingExperiment, Scorer

STUDIED = 20  # the number of candidates in all of the study's other experiments


def evaluations(trial: RerankingExperiment, models: Sequence[Scorer], depths: Sequence[int]) -> dict[int, Evaluation]:
    """A model, or one over its seeds, over the first R candidates for each R: every window is scored once, at the largest R."""
    scores = [model.scores(trial.bed, trial.run, max(depths)) for model in models]
    return {depth: trial.aggregated(f"R = {depth}", scores, depth) for depth in sorted(depths)}


def nearest(systems: Mapping[int, Evaluation], depth: int) -> int:
    """The number of candidates among those measured that is closest to `depth`, the smaller of two."""
    return min(systems, key=lambda known: (abs(known - depth), known))


def claims_table(systems: Mapping[int, Evaluation], zero_shot: Evaluation, trial: RerankingExperiment) -> Fragment:
    """The chapter's claims: most candidates and twenty, in recall and in reciprocal rank.

    Fewer than twenty are left out: with ten candidates recall in the top ten is BM25's by construction.
    """
    most, studied = max(systems), nearest(systems, STUDIED)
    pairs = dict.fromkeys(("more-candidates-raise-recall", "more-candidates-do-not-raise-mrr"),
                          (systems[most], systems[studied]))
    why = identity.knows_articles(systems[studied], zero_shot, trial.bed, studied)
    return claims.judge("candidates", pairs, untested=dict.fromkeys(pairs, why))


def means(systems: Mapping[int, Evaluation], measure: str) -> pd.Series:
    """One measure over R."""
    return pd.Series({depth: system.mean(measure).mean for depth, system in systems.items()}, name=measure)


def ceilings(systems: Mapping[int, Evaluation], trial: RerankingExperiment) -> pd.Series:
    """The recall of R candidates, over R: no order of them has more in its top ten."""
    run = trial.run.value()
    return pd.Series({depth: trial.bed.per_query(run, [f"R@{depth}"]).mean().iloc[0] for depth in systems})


def figure(systems: Mapping[int, Evaluation], trial: RerankingExperiment) -> Fragment:
    """Both measures over R, with a slider, beside what the thesis prints: of R = 20, and recall at R = 10, BM25's own."""
    lines = {measure: means(systems, measure) for measure in ("RR@10", "R@10")}
    rows = {"RR@10": ("MRR@10", {STUDIED: "BERT-Mean"}), "R@10": ("Recall@10", {10: "BM25", STUDIED: "BERT-Mean"})}
    printed = {measure: pd.Series({depth: published.value(STUDY, "5.1", row, column).amount for depth, row in own.items()})
               for measure, (column, own) in rows.items()}
    drawn = plots.panels(lines, "number of candidates", "RR@10 and R@10 by the number of candidates, as in figure 5.4. The "
                         "thesis prints the values of its table 5.1; of the curves it says in words that recall rises "
                         "throughout, and that the reciprocal rank falls slightly and is flat after twenty.", printed)
    table = pd.DataFrame(lines).assign(**{"ceiling of R@10": ceilings(systems, trial)}).rename_axis("candidates")
    return slider(drawn, table, nearest(systems, STUDIED))


def signs(systems: Mapping[int, Evaluation], trial: RerankingExperiment) -> dict[str, bool]:
    """What the discussion rests on besides the claims."""
    ranks, recalls = (means(systems, measure).sort_index() for measure in ("RR@10", "R@10"))
    most, half = max(systems), nearest(systems, max(systems) // 2)
    return {"every larger number of candidates has the higher means":
                all((line.diff()[1:] > 0).all() for line in (ranks, recalls)),
            "the first half of the candidates gains more than the second":
                bool(ranks[half] - ranks.iloc[0] > ranks[most] - ranks[half]),
            "recall comes within a twentieth of its ceiling": bool(recalls[most] > 0.95 * ceilings(systems, trial)[most])}


def table(trial: RerankingExperiment, systems: Mapping[int, Evaluation]) -> Fragment:
    """Effectiveness, ceiling and cost at each R."""
    run, source = trial.run.value(), next(iter(systems.values())).source
    windows, spent = source.value(), source.entry().manifest["seconds"]
    ceiling = ceilings(systems, trial)
    queries, read = windows["query_id"].nunique(), {depth: len(windows_of(windows, run, depth)) for depth in systems}
    return page.records_table("Effectiveness and cost by the number of candidates", [
        {"candidates": f"R = {depth}", "RR@10": mean_cell(system, "RR@10"), "R@10": mean_cell(system, "R@10"),
         "ceiling (BM25's recall at R)": plain(ceiling[depth]),
         "windows read a query": count(round(read[depth] / queries)),
         "scoring a query": seconds(spent * read[depth] / len(windows) / queries)} for depth, system in systems.items()])
