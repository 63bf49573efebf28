"""The chapter *Re-ranking depth* (Zhan et al. 2020, section 4.4, figure 1 and table 2)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import pandas as pd

from helpers.evaluation import published, verdicts
from helpers.pages import claims, identity, page, plots, training
from helpers.pages import stages as named
from helpers.pages.compare import above, lead, mean_link, measured, table_value, tests_against, with_interval
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, interval, plain, signed
from helpers.pages.stages import STUDIED, STUDY, exact_match, label, stand_in
from helpers.retrieval.fusion import candidate_pool
from helpers.steps import Step
from helpers.stories import candidates
from helpers.systems.evaluated import Evaluation, evaluate_values
from helpers.systems.first_stages import FirstStages
from helpers.systems.reranking_experiment import RerankingExperiment, Scorer
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZeroShotReranker

TABLE, MEASURE = "2", "RR@10"
Reranked = Mapping[str, Mapping[int, Evaluation]]  # by stage and depth
FAR, LEAST = 100, 5  # times the least depth; candidates: those of table 2, since fewer leave little to order
NOT_RERANKED = "With these parameters nothing is re-ranked, or not over the candidates that others are compared with."
NO_DENSE = "needs RepBERT, or a run that stands for it, and another first stage"


def recalls(runs: Mapping[str, Step], bed: Testbed, depths: Sequence[int]) -> dict[str, Evaluation]:
    """Recall of each first stage at each depth; the values alone, since the lists are long."""
    return {stage: evaluate_values(f"{label(stage)}, its list", run, bed, [f"R@{depth}" for depth in sorted(depths)])
            for stage, run in runs.items()}


def reranked(runs: Mapping[str, Step], bed: Testbed, models: Sequence[Scorer], depths: Sequence[int]) -> Reranked:
    """A model, or one over its seeds, over the first candidates of every stage, by the mean of windows: those of a stage are
    scored once, at the largest depth."""
    return {stage: candidates.evaluations(RerankingExperiment(bed, run, max(depths), "mean", (MEASURE,)), models, depths)
            for stage, run in runs.items() if depths}


def deeper(recipes: FirstStages, stages: Sequence[str], bed: Testbed, model: Scorer, depths: Sequence[int],
           queries: int) -> Reranked:
    """The same for a sample of the queries, nothing for none, at depths of `LEAST` or more. Long lists overlap: what any stage
    has among its candidates is scored once, and each stage takes its own from these scores. The values alone are kept."""
    some, depths = replace(bed, queries=queries), sorted(depth for depth in depths if depth >= LEAST)
    if not queries or not depths:
        return {}
    runs = named.runs(recipes, stages, some, depths[-1])
    scores = model.scores(some, candidate_pool(list(runs.values())), len(runs) * depths[-1])
    return {stage: {depth: evaluate_values(f"{label(stage)}, the first {depth}", some.documents(scores, "mean", run, depth), some,
                                           [MEASURE]) for depth in depths} for stage, run in runs.items()}


def identity_table(systems: Reranked, encoder: ZeroShotReranker, run: Step, baseline: str, bed: Testbed) -> Fragment:
    """The re-ranker over the baseline's candidates, at the largest depth, beside an encoder without training."""
    if baseline not in systems:
        return page.prose(NOT_RERANKED)
    most = max(systems[baseline])
    untrained = reranked({baseline: run}, bed, [encoder], [most])[baseline][most]
    return identity.identity_table({"re-ranker": systems[baseline][most], encoder.label: untrained}, bed, most)


def recall_table(recall: Mapping[str, Evaluation]) -> Fragment:
    """Recall at each depth, a row a stage."""
    return page.records_table("Recall of the first stages by depth", (
        {"first stage": label(stage), **{name.removeprefix("R@"): mean_link(system, name) for name in map(str, system.values)}}
        for stage, system in recall.items()))


def recall_figure(recall: Mapping[str, Evaluation]) -> Fragment:
    """Figure 1a: recall by depth, a line for each first stage."""
    means = {label(stage): system.values.mean().rename(lambda name: int(name.removeprefix("R@")))
             for stage, system in recall.items()}
    return plots.curves(means, "depth", "recall", "Recall of the first stages by depth, as in figure 1a.", log=True)


def far(systems: Reranked) -> bool:
    """Whether depths are so far apart that a figure shows them on a logarithmic axis."""
    depths = next(iter(systems.values()))
    return max(depths) >= FAR * min(depths)


def asked(systems: Reranked) -> str:
    """How many queries are measured, in words."""
    by_depth = next(iter(systems.values()))
    return f"{count(len(by_depth[max(by_depth)].values))} queries"


def figure(systems: Reranked) -> Fragment:
    """Figure 1b: RR@10 after re-ranking by depth, a line for each first stage."""
    if not systems:
        return page.prose(NOT_RERANKED)
    means = {label(stage): candidates.means(by_depth, MEASURE) for stage, by_depth in systems.items()}
    return plots.curves(means, "candidates re-ranked", MEASURE, "RR@10 of the re-ranker by the number of candidates, "
                        f"{asked(systems)}, as in figure 1b.", log=far(systems))


def gain_figure(systems: Reranked, baseline: str) -> Fragment:
    """What the candidates of each stage give beyond the baseline's at each depth, measured and as table 2 prints it: where depths
    are far apart, at all of its own."""
    if baseline not in systems:
        return page.prose(NOT_RERANKED)
    gains, printed, known = {}, {}, published.load(STUDY)
    rows = [int(row) for table, row, column in known if (table, column) == (TABLE, STUDIED["bm25"])]
    for stage in (stage for stage in systems if stage != baseline):
        gains[label(stage)] = pd.Series({depth: lead(system, systems[baseline][depth], MEASURE)
                                         for depth, system in systems[stage].items()})
        pairs = {depth: [known.get((TABLE, str(depth), STUDIED.get(name, ""))) for name in (stage, baseline)]
                 for depth in (rows if far(systems) else systems[stage])}
        printed[label(stage)] = pd.Series({depth: own.amount - base.amount for depth, (own, base) in pairs.items()
                                           if own and base})
    return plots.curves(gains, "candidates re-ranked", f"{MEASURE} less that over {label(baseline)}",
                        f"What the candidates of other stages give the re-ranker, {asked(systems)}; hollow, table {TABLE}.",
                        log=far(systems), printed=printed)


def table(systems: Reranked, baseline: str, shown: Collection[int] = ()) -> Fragment:
    """Table 2: RR@10 of the re-ranker by depth and stage; the gain over the baseline's candidates, and the study's value. What
    another table of the page has `shown` is not carried for other pages once more."""
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
            if entry is not None and depth not in shown:
                data.append(table_value(entry, MEASURE, mean.mean, own[stage].source))
        records.append(record)
    caption = (f"{published.published_name(STUDY)}, table {TABLE}: {MEASURE} after re-ranking, measured on {asked(systems)}, "
               f"with the gain over {label(baseline)} and the study's value († p < 0.05)")
    return page.records_table(caption, records, values=data)


def printed(entry: published.Entry, gain: str = "improvement") -> str:
    """A value as printed, with the printed gain over the baseline, in a column of its own."""
    change = published.load(STUDY).get((entry.table, entry.row, f"{entry.column} / {gain}"))
    return entry.printed + (f" ({change.printed}%)" if change else "")


def percent(value: float, base: float) -> str:
    """A relative change: `+14%`."""
    return "no base" if base == 0 else f"{signed(100 * (value / base - 1), 0)}%"


def claims_table(systems: Reranked, dense: str, baseline: str) -> Fragment:
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
    return claims.judge("depth", {small: beside, converge: (first, last)}, untested=stand_in(dense, "depth"))


def signs(systems: Reranked, dense: str, baseline: str) -> dict[str, bool]:
    """What the discussion rests on."""
    known = {dense, baseline} <= set(systems)
    curve = [system for _, system in sorted(systems[dense].items())] if known else []
    fewest = min(systems[dense], default=0) if known else 0
    return {"with few candidates RepBERT's rank better than BM25's":
            known and above(curve[0], systems[baseline][fewest], MEASURE),
            "RepBERT's curve is level after its smallest depth":
            known and not any(above(one, other, MEASURE) for one, other in permutations(curve[1:], 2))}


def deep_signs(systems: Reranked, dense: str, baseline: str) -> dict[str, bool]:
    """The same of the lists that are read to the deepest; the last sign is that some shorter list of RepBERT's ranks surely above
    the longest."""
    known = {dense, baseline} <= set(systems)
    ours, theirs = ([system for _, system in sorted(systems[stage].items())] if known else [] for stage in (dense, baseline))
    deepest = [by_depth[max(by_depth)] for by_depth in systems.values()]
    return {"at the deepest, the first stages no longer surely differ":
            known and not any(above(one, other, MEASURE) for one, other in permutations(deepest, 2)),
            "reading from the least deep to the deepest surely raises BM25's": known and above(theirs[-1], theirs[0], MEASURE),
            "reading on to the deepest surely lowers RepBERT's":
            known and any(above(one, ours[-1], MEASURE) for one in ours[:-1])}


def cost(log: Step, systems: Reranked) -> Fragment:
    """The re-ranker's training, and the scoring of every stage's candidates."""
    last = {label(stage): by_depth[max(by_depth)] for stage, by_depth in systems.items()}
    if not last:
        return page.prose(NOT_RERANKED)
    return training.cost(dict.fromkeys(last, log), last, "the re-ranker over the candidates of")
