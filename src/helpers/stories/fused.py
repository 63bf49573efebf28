"""Every pair of first stages fused in every way, for the chapter *Fusion*."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from helpers.retrieval.fusion import FIRST, RRF, SECOND, SUM, UNCUT, best_weight, fusion_weight_grid, fusions
from helpers.steps import Step
from helpers.stories.stages import evaluations, label, measures_at, published_stages
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.first_stages import FirstStages
from helpers.systems.testbed import Testbed

WEIGHTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]


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


def weights(recipes: FirstStages, names: Sequence[str], bed: Testbed | None, depth: int,
            measure: str) -> dict[tuple[str, str], float]:
    """The weight of each pair's first stage that ranks best on development queries; one half each where there are none."""
    pairs = list(combinations(names, 2))
    if bed is None:
        return dict.fromkeys(pairs, 0.5)
    runs = {name: recipes.run(name, bed, depth) for name in names}
    grids = {(a, b): fusion_weight_grid(runs[a], runs[b], bed.query_step, bed.qrels_step, bed.min_relevance, measure, WEIGHTS,
                                        depth)
             for a, b in pairs}
    return {pair: best_weight(grid.value(), measure) for pair, grid in grids.items()}


def tuning_bed(collection: str, unit: str, split: str, queries: int, names: Sequence[str]) -> Testbed | None:
    """The development queries; None without a split, or with a published run among the stages, which has no other queries."""
    return Testbed(collection, unit, splits=(split,), queries=queries) if split and not published_stages(names) else None


def fuse(runs: Mapping[str, Step], bed: Testbed, depth: int, weight_of: Mapping[tuple[str, str], float], measure: str) -> Fused:
    """Every pair of stages, fused in every way."""
    names = list(dict.fromkeys([measure, *measures_at(depth), f"R@{2 * depth}"]))
    systems: dict[str, dict[tuple[str, str], Evaluation]] = {method: {} for method in (FIRST, SECOND, RRF, SUM, UNCUT)}
    for (a, b), weight in weight_of.items():
        step = fusions(runs[a], runs[b], bed.query_step, bed.qrels_step, bed.min_relevance, names, weight, depth)
        table = step.value()
        for method in systems:
            values = table[table["method"] == method].set_index("query_id")[names].loc[bed.judged]
            both = f"{label(a)} + {label(b)}"
            systems[method][a, b] = Evaluation(both, pd.DataFrame(), values, step, name=f"{both}, {method}")
    turned = {(b, a): system for (a, b), system in systems[SECOND].items()}
    return Fused(evaluations(runs, bed, depth, measure), {**systems[FIRST], **turned}, systems[RRF], systems[SUM], systems[UNCUT],
                 weight_of, measure)
