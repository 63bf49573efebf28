"""The chapter *Fusion* (Zhan et al. 2020, section 4.5, tables 3 and 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

import pandas as pd

from helpers.evaluation import published, verdicts
from helpers.evaluation.significance import Paired
from helpers.pages import claims, page, plots
from helpers.pages.compare import mean_link, measured, table_value, with_interval
from helpers.pages.fragments import Fragment, Html
from helpers.pages.numbers import interval, p_value, plain, signed
from helpers.pages.slider import slider
from helpers.retrieval.fusion import FIRST, RRF, SECOND, SUM, UNCUT, best_weight, fusion_weight_grid, fusions
from helpers.steps import Step
from helpers.stories import stages as stage_names
from helpers.stories.depth import percent, printed
from helpers.stories.stages import EXPANSION, IMPROVED, STUDIED, STUDY, exact_match, label, recall_of
from helpers.systems import testbed
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.first_stages import STAGES, FirstStages
from helpers.systems.given_first_stage import is_given
from helpers.systems.testbed import Testbed

WEIGHTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
TABLES = {"3": "RR@10", "4": "R@1000"}  # the study's measures
RECALL = "4"
BEATS, RAISES = "fusion-beats-repbert-alone", "fusion-with-repbert-raises-recall"
BEGINS, GAINS = "merge-begins-better-with-repbert", "exact-match-gains-most-from-repbert"


@dataclass(frozen=True)
class Fused:
    """What each pair of first stages gives together."""

    alone: Systems  # each stage
    merged: Mapping[tuple[str, str], Evaluation]  # the alternating merge, by (first, second): both orders of every pair
    ranks: Mapping[tuple[str, str], Evaluation]  # reciprocal rank fusion, by pair
    sums: Mapping[tuple[str, str], Evaluation]  # the weighted sum, by pair
    uncut: Mapping[tuple[str, str], Evaluation]  # the merge without its cut, by pair
    weights: Mapping[tuple[str, str], float]  # of the first stage of a pair in its sum
    measure: str = "RR@10"  # of rank: by it the better order of a merge is told

    def systems(self) -> list[Mapping]:
        """Everything that was measured."""
        return [self.alone, self.merged, self.ranks, self.sums, self.uncut]


def weight_grids(recipes: FirstStages, names: Sequence[str], bed: Testbed | None, depth: int,
                 measure: str) -> dict[tuple[str, str], pd.Series]:
    """The measure over the weight of a pair's first stage in the sum, on development queries; nothing where there are none."""
    if bed is None:
        return {}
    runs = {name: recipes.run(name, bed, depth) for name in names}
    steps = {(a, b): fusion_weight_grid(runs[a], runs[b], bed.query_step, bed.qrels_step, bed.min_relevance, measure, WEIGHTS,
                                        depth, bed.every_grade) for a, b in combinations(names, 2)}
    return {pair: step.value().set_index("weight")[measure] for pair, step in steps.items()}


def weights(grids: Mapping[tuple[str, str], pd.Series], names: Sequence[str]) -> dict[tuple[str, str], float]:
    """The weight of each pair's first stage that ranks best in its grid; one half where there is none."""
    return {pair: best_weight(grids[pair].reset_index(), str(grids[pair].name)) if pair in grids else 0.5
            for pair in combinations(names, 2)}


def weight_figure(grids: Mapping[tuple[str, str], pd.Series]) -> Fragment:
    """Each pair's sum over the weight of its first stage on development queries, with a slider."""
    if not grids:
        return page.prose("These parameters leave no development queries to choose weights on: each stage has one half.")
    measure = str(next(iter(grids.values())).name)
    lines = {f"{label(a)} + {label(b)}": grid for (a, b), grid in grids.items()}
    drawn = plots.curves(lines, "weight of the first", measure, f"{measure} of the weighted sum on development queries.")
    return slider(drawn, pd.DataFrame(lines).rename_axis("weight of the first"), 0.5)


def tuning_bed(collection: str, unit: str, split: str, queries: int, names: Sequence[str]) -> Testbed | None:
    """The development queries; None where there are none, or with a published run among the stages: it has no other queries."""
    more = all(name in STAGES or is_given(name) for name in names)
    return testbed.tuning_bed(collection, unit, split, queries) if more else None


def fuse(runs: Mapping[str, Step], bed: Testbed, depth: int, weight_of: Mapping[tuple[str, str], float], measure: str) -> Fused:
    """Every pair of stages, fused in every way."""
    names = list(dict.fromkeys([measure, *stage_names.measures_at(depth), f"R@{2 * depth}"]))
    systems: dict[str, dict[tuple[str, str], Evaluation]] = {method: {} for method in (FIRST, SECOND, RRF, SUM, UNCUT)}
    for (a, b), weight in weight_of.items():
        step = fusions(runs[a], runs[b], bed.query_step, bed.qrels_step, bed.min_relevance, names, weight, depth, bed.every_grade)
        table = step.value()
        for method in systems:
            values = table[table["method"] == method].set_index("query_id")[names].loc[bed.judged]
            both = f"{label(a)} + {label(b)}"
            systems[method][a, b] = Evaluation(both, pd.DataFrame(), values, step, name=f"{both}, {method}")
    turned = {(b, a): system for (a, b), system in systems[SECOND].items()}
    return Fused(stage_names.evaluations(runs, bed, depth, measure), {**systems[FIRST], **turned}, systems[RRF], systems[SUM],
                 systems[UNCUT], weight_of, measure)


def matrix(fused: Fused, table: str, measure: str = "") -> Fragment:
    """Table 3 or 4: the merge of the row's list with the column's, the row's first; the change from the row's stage alone, and
    the study's value below, if the measure is the study's or recall in lists of another length, which is not comparable."""
    names = list(fused.alone)
    measure = measure or (recall_of(fused.alone[names[0]]) if table == RECALL else TABLES[table])
    comparable = measure == TABLES[table]
    tests = {pair: system.against(fused.alone[pair[0]], measure) for pair, system in fused.merged.items()}
    records: dict[str, dict[str, Any]] = {a: {"first": label(a)} for a in names}
    data = []
    for a, b in product(names, repeat=2):
        system = fused.alone[a] if a == b else fused.merged[a, b]
        mean, entry = system.mean(measure).mean, published_value(table, a, b) if comparable or table == RECALL else None
        mark = "†" if a != b and tests[a, b].p_permutation < verdicts.ALPHA else ""
        change = "" if a == b else f" ({percent(mean, fused.alone[a].mean(measure).mean)})"
        shown = measured(plain(mean) + mark + change, system)
        records[a][f"+ {label(b)}"] = with_interval(shown, f"study {printed(entry, 'change')}") if entry else shown
        if entry is not None:
            data.append(table_value(entry, measure, mean, system.source))
    below = ("and the study's value below" if comparable else f"and the study's {TABLES[table]} below, not comparable"
             if table == RECALL else f"in place of the study's {TABLES[table]}")
    caption = (f"{published.published_name(STUDY)}, table {table}: {measure} of the alternating merge, the row's list first; its "
               f"change from the row's stage alone († p < 0.05) {below}")
    beside = page.records_table(caption, records.values(), values=data)
    effects = {f"{label(a)} + {label(b)}": (entry.amount - alone.amount, test.difference) for (a, b), test in tests.items()
               if comparable and (entry := published_value(table, a, b)) and (alone := published_value(table, a, a))}
    return beside if not effects else replace(beside, html=beside.html + plots.forest(
        effects, "difference from the first alone", f"What the merge adds to the stage whose list begins, in {measure}.").html)


def published_value(table: str, a: str, b: str) -> published.Entry | None:
    """The study's value of a merge, where it has one and its own print is not garbled (see the note on table 4)."""
    if a not in STUDIED or b not in STUDIED:
        return None
    entry = published.load(STUDY).get((table, STUDIED[a], f"+{STUDIED[b]}"))
    return entry if entry is not None and entry.system == (a if a == b else f"{a}-plus-{b}") else None


def order(fused: Fused, pair: tuple[str, str]) -> tuple[str, str]:
    """The order of a pair in which the merge ranks better."""
    a, b = pair
    return max(((a, b), (b, a)), key=lambda p: fused.merged[p].mean(fused.measure).mean)


def merge_tests(fused: Fused, measure: str) -> dict[tuple[tuple[str, str], str], Paired]:
    """Each pair fused by the other two methods, compared with its merge in the better order."""
    return {(pair, name): systems[pair].against(fused.merged[order(fused, pair)], measure)
            for name, systems in others(fused).items() for pair in systems}


def others(fused: Fused) -> dict[str, Mapping[tuple[str, str], Evaluation]]:
    """The methods beside the merge."""
    return {RRF: fused.ranks, SUM: fused.sums}


def methods_table(fused: Fused, measure: str, tests: Mapping[Any, Paired]) -> Fragment:
    """Each pair: the better stage alone, the merge in its better order, and what the other two methods add to it."""
    def cell(system: Evaluation, below: str) -> Html:
        return with_interval(mean_link(system, measure), below)

    records = []
    for pair in fused.ranks:
        best, merged = max((fused.alone[name] for name in pair), key=lambda system: system.mean(measure).mean), order(fused, pair)
        records.append({"pair": f"{label(pair[0])} and {label(pair[1])}", "better stage alone": cell(best, best.label),
                        "alternating merge": cell(fused.merged[merged], f"{label(merged[0])} first")})
        for name, systems in others(fused).items():
            test = tests[pair, name]
            weight = f"weight {fused.weights[pair]:.1f} of {label(pair[0])}; " if name == SUM else ""
            d, p = test.difference, p_value(test.p_permutation)
            records[-1][name] = cell(systems[pair], f"{weight}{signed(d.mean)} {interval(d.low, d.high, sign=True)}, p {p}")
    return page.records_table(
        f"{measure} by method; below the last two, their difference from the merge", records)


def compared(fused: Fused, dense: str, baseline: str) -> Systems:
    """What the discussion compares: RepBERT with BM25 in each way, the merge in its better order, and RepBERT alone; nothing
    without the pair."""
    for pair in fused.sums:
        if set(pair) == {dense, baseline}:
            return {"sum": fused.sums[pair], "ranks": fused.ranks[pair], "merge": fused.merged[order(fused, pair)],
                    "repbert": fused.alone[dense]}
    return {}


def expansion_signs(fused: Fused, dense: str, baseline: str) -> dict[str, bool]:
    """Where the learned expansion is among the stages: what its sum with RepBERT gains over BM25's."""
    sums = {frozenset(pair): system for pair, system in fused.sums.items()}
    own, plain_sum = (sums.get(frozenset((name, dense))) for name in (EXPANSION, baseline))
    if own is None or plain_sum is None:
        return {}
    gain = own.mean(fused.measure).mean - plain_sum.mean(fused.measure).mean
    return {"the weighted sums of RepBERT with the learned expansion and with BM25 are less than .01 apart": abs(gain) < 0.01}


def uncut_sentence(fused: Fused, dense: str, baseline: str, depth: int) -> Fragment:
    """What the cut costs, beside the study's two values (section 4.5.1)."""
    other = partner(fused, dense, baseline)
    pair = (dense, other) if (dense, other) in fused.uncut else (other, dense)
    if pair not in fused.uncut:
        return page.prose("With these stages there is no merge to leave uncut.")
    without, after = (published.value(STUDY, "text 4.5.1", "RepBERT+docTTTTTquery", column).printed
                      for column in ("Recall@2000 without truncation", "Recall@1000 after truncation"))
    whole, kept = fused.uncut[pair].mean(f"R@{2 * depth}").mean, fused.merged[dense, other].mean(f"R@{depth}").mean
    return page.prose(
        f"The cut drops what both lists hold together beyond {depth} texts: recall of {label(dense)} with {label(other)} is "
        f"{plain(kept)} after it and {plain(whole)} without it, where the study's RepBERT with docTTTTTquery has {after} and "
        f"{without}.")


def partner(fused: Fused, dense: str, baseline: str) -> str:
    """The stage that stands for docTTTTTquery beside RepBERT: itself, DeepCT, or the best of those that are neither RepBERT, BM25
    nor the book's own; empty without any."""
    rest = [name for name in exact_match(list(fused.alone), dense) if name != baseline]
    studied = [name for name in IMPROVED if name in rest]
    return studied[0] if studied else max(rest, key=lambda name: fused.alone[name].mean(fused.measure).mean, default="")


def claims_table(fused: Fused, dense: str, baseline: str, depth: int) -> Fragment:
    """The chapter's claims: RepBERT with an improved exact match beside itself, with BM25 beside each of the two alone and
    in either order, and BM25 with RepBERT beside BM25 with an improved exact match."""
    alone, needs = fused.alone, "needs RepBERT, or a run that stands for it, and"
    pairs: dict[str, claims.Measured] = {BEATS: f"{needs} an improved exact match",
                                         **dict.fromkeys((RAISES, BEGINS, GAINS), f"{needs} BM25")}
    if dense in alone:
        pairs[BEATS] = {label(stage): (fused.merged[dense, stage], alone[dense]) for stage in IMPROVED if stage in alone}
    if {dense, baseline} <= set(alone) and dense != baseline:
        pairs[RAISES] = {name: (fused.merged[dense, baseline], alone[stage])
                         for name, stage in zip(claims.rivals(RAISES), (dense, baseline), strict=True)}
        merged = fused.merged
        pairs[BEGINS] = (merged[dense, baseline], merged[baseline, dense])
        pairs[GAINS] = {label(stage): (merged[baseline, dense], merged[baseline, stage]) for stage in IMPROVED if stage in alone}
    return claims.judge("fusion", pairs, untested=stage_names.stand_in(dense, pairs), measures={RAISES: f"R@{depth}"})
