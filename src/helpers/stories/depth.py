"""The chapter *Re-ranking depth* (Zhan et al. 2020, section 4.4, figure 1 and table 2)."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import pandas as pd

from helpers.evaluation import published, verdicts
from helpers.pages import claims, identity, page, plots
from helpers.pages.compare import above, lead, measured, row_verdict, table_value, tests_against, with_interval
from helpers.pages.fragments import Fragment, linked
from helpers.pages.numbers import interval, plain, signed
from helpers.steps import Step
from helpers.stories import candidates, training
from helpers.stories.stages import STUDIED, STUDY, backbone_of, exact_match, label, stand_in
from helpers.systems.evaluated import Evaluation
from helpers.systems.reranking_experiment import RerankingExperiment, Scorer
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZeroShotReranker

TABLE, MEASURE = "2", "RR@10"
Reranked = Mapping[str, Mapping[int, Evaluation]]  # by stage and depth
NOT_RERANKED = "With these parameters nothing is re-ranked, or not over the candidates that others are compared with."
NO_DENSE = "needs RepBERT, or a run that stands for it, and another first stage"


def recalls(runs: Mapping[str, Step], bed: Testbed, depths: Sequence[int]) -> pd.DataFrame:
    """Recall at each depth (rows) of each first stage (columns)."""
    names = {f"R@{depth}": depth for depth in sorted(depths)}
    means = pd.DataFrame({stage: bed.kept_values(run, list(names)).mean() for stage, run in runs.items()})
    return means.rename(index=names).rename_axis("depth")


def reranked(runs: Mapping[str, Step], bed: Testbed, model: Scorer, depths: Sequence[int]) -> Reranked:
    """The model over the first candidates of every stage, by the mean of windows: those of a stage are scored once, at the
    largest depth."""
    return {stage: candidates.evaluations(RerankingExperiment(bed, run, max(depths), "mean", (MEASURE,)), model, depths)
            for stage, run in runs.items() if depths}


def identity_table(systems: Reranked, encoder: ZeroShotReranker, run: Step, baseline: str, bed: Testbed) -> Fragment:
    """The re-ranker over the baseline's candidates, at the largest depth, beside an encoder without training."""
    if baseline not in systems:
        return page.prose(NOT_RERANKED)
    most = max(systems[baseline])
    untrained = reranked({baseline: run}, bed, encoder, [most])[baseline][most]
    return identity.identity_table({"re-ranker": systems[baseline][most], encoder.label: untrained}, bed, most)


def recall_table(table: pd.DataFrame, runs: Mapping[str, Step]) -> Fragment:
    """Recall at each depth, a row a stage; the numbers link to the run's provenance."""
    return page.records_table("Recall of the first stages by depth", (
        {"first stage": label(stage), **{str(depth): linked(plain(table.loc[depth, stage]), run) for depth in table.index}}
        for stage, run in runs.items()))


def lines(table: pd.DataFrame) -> dict[str, pd.Series]:
    """A frame's columns as curves, under the stages' labels."""
    return {label(str(stage)): table[stage] for stage in table}


def figure(systems: Reranked) -> Fragment:
    """Figure 1b: RR@10 after re-ranking by depth, a line for each first stage."""
    if not systems:
        return page.prose(NOT_RERANKED)
    means = pd.DataFrame({stage: {depth: system.mean(MEASURE).mean for depth, system in by_depth.items()}
                          for stage, by_depth in systems.items()})
    return plots.curves(lines(means), "candidates re-ranked", MEASURE,
                        "RR@10 of the re-ranker by the number of candidates, as in figure 1b.")


def gain_figure(systems: Reranked, baseline: str) -> Fragment:
    """What the candidates of each stage give beyond the baseline's at each depth, measured and as table 2 prints it."""
    if baseline not in systems:
        return page.prose(NOT_RERANKED)
    gains, printed, known = {}, {}, published.load(STUDY)
    for stage in (stage for stage in systems if stage != baseline):
        gains[label(stage)] = pd.Series({depth: lead(system, systems[baseline][depth], MEASURE)
                                         for depth, system in systems[stage].items()})
        pairs = {depth: [known.get((TABLE, str(depth), STUDIED.get(name, ""))) for name in (stage, baseline)]
                 for depth in systems[stage]}
        printed[label(stage)] = pd.Series({depth: own.amount - base.amount for depth, (own, base) in pairs.items()
                                           if own and base})
    return plots.curves(gains, "candidates re-ranked", f"{MEASURE} less that over {label(baseline)}",
                        f"What the candidates of other stages give the re-ranker; hollow, table {TABLE}.", printed=printed)


def table(systems: Reranked, baseline: str) -> Fragment:
    """Table 2: RR@10 of the re-ranker by depth and stage; the gain over the baseline's candidates, and the study's value."""
    if baseline not in systems:
        return page.prose(NOT_RERANKED)
    records, data = [], []
    for depth in systems[baseline]:
        own = {stage: by_depth[depth] for stage, by_depth in systems.items()}
        tests = tests_against(own, baseline, MEASURE)
        entries = {stage: published.load(STUDY).get((TABLE, str(depth), STUDIED.get(stage, ""))) for stage in own}
        record: dict[str, Any] = {"depth": depth}
        for stage, entry in entries.items():
            mean = own[stage].mean(MEASURE)
            mark = "†" if stage in tests and tests[stage].p_permutation < verdicts.ALPHA else ""
            gain = f" ({percent(mean.mean, own[baseline].mean(MEASURE).mean)})" if stage in tests else ""
            below = interval(mean.low, mean.high) + (f"; study {printed(entry)}" if entry else "")
            record[label(stage)] = with_interval(measured(plain(mean.mean) + mark + gain, own[stage]), below)
            if entry is not None:
                verdict = row_verdict(entry, entries[baseline], tests.get(stage))
                data.append(table_value(entry, MEASURE, mean.mean, own[stage].source, verdict.verdict if verdict else None))
        records.append(record)
    caption = (f"{published.published_name(STUDY)}, table {TABLE}: {MEASURE} after re-ranking, measured, with the gain over "
               f"{label(baseline)} and the study's value († p < 0.05 after Holm's correction within a depth)")
    return page.records_table(caption, records, values=data)


def printed(entry: published.Entry, gain: str = "improvement") -> str:
    """A value as printed, with the printed gain over the baseline, in a column of its own."""
    change = published.load(STUDY).get((entry.table, entry.row, f"{entry.column} / {gain}"))
    return entry.printed + (f" ({change.printed}%)" if change else "")


def percent(value: float, base: float) -> str:
    """A relative change: `+14%`."""
    return "no base" if base == 0 else f"{signed(100 * (value / base - 1), 0)}%"


def claims_table(systems: Reranked, dense: str, baseline: str, backbone: str) -> Fragment:
    """The chapter's claims.

    Few candidates: those of RepBERT beside those of each other first stage. Convergence: the lead over BM25's candidates at the
    smallest depth beside the lead at the largest, query by query.
    """
    small, converge = "repbert-candidates-best-at-small-depths", "first-stages-converge-at-depth"
    rivals = exact_match(list(systems), dense)
    if not {dense, baseline} <= set(systems) or not rivals:
        return claims.judge("depth", dict.fromkeys((small, converge), NO_DENSE if systems else NOT_RERANKED.rstrip(".")))
    least, most = min(systems[dense]), max(systems[dense])
    first, last = (systems[dense][depth].less(systems[baseline][depth]) for depth in (least, most))  # leads, query by query
    beside = {label(rival): (systems[dense][least], systems[rival][least]) for rival in rivals}
    return claims.judge("depth", {small: beside, converge: (first, last)}, backbone=backbone_of(dense, backbone),
                        incomparable=stand_in(dense, (small, converge)))


def signs(systems: Reranked, dense: str, baseline: str) -> dict[str, bool]:
    """What the discussion rests on."""
    known = {dense, baseline} <= set(systems)
    curve = [system for _, system in sorted(systems[dense].items())] if known else []
    fewest = min(systems[dense], default=0) if known else 0
    return {"with few candidates RepBERT's rank better than BM25's":
            known and above(curve[0], systems[baseline][fewest], MEASURE),
            "RepBERT's curve is level after its smallest depth":
            known and not any(above(one, other, MEASURE) for one, other in permutations(curve[1:], 2))}


def cost(log: Step, systems: Reranked) -> Fragment:
    """The re-ranker's training, and the scoring of every stage's candidates."""
    last = {label(stage): by_depth[max(by_depth)] for stage, by_depth in systems.items()}
    return training.cost(dict.fromkeys(last, log), last) if last else page.prose(NOT_RERANKED)
