"""The chapter *The collection and BM25*."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data.collection import open_collection
from helpers.data.collection_base import Collection
from helpers.data.statistics import median_length
from helpers.evaluation import published
from helpers.evaluation.comparable import as_label
from helpers.pages import matrices, page, plots
from helpers.pages.compare import above, tests_against
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, interval, p_value, plain, signed
from helpers.pages.slider import slider
from helpers.retrieval import bm25
from helpers.systems.evaluated import Evaluation, Systems, evaluate
from helpers.systems.testbed import Testbed, tuning_bed

MEASURES = ["RR@10", "nDCG@10", "R@20", "R@100"]

Beds = Mapping[str, Testbed]  # by unit


def beds(collection: str, split: str, queries: int, seed: int) -> dict[str, Testbed]:
    """A testbed for each unit that the collection can rank."""
    return {unit: Testbed(collection, unit, (split,), queries, seed=seed) for unit in open_collection(collection).units}


def statistics_table(source: Collection, statistics: Mapping[str, dict[str, Any]]) -> Fragment:
    """Texts, words and windows by unit."""
    return page.records_table(f"{source.name} ({source.licence})", (
        {"texts": f"{unit}s", "how many": count(s["texts"]), "words": count(s["words"]), "median words": count(median_length(s)),
         "windows": count(s["windows"]), "without body": count(s["empty"])} for unit, s in statistics.items()))


def split_table(source: Collection) -> Fragment:
    """Queries and judgments by split and unit, with the grades."""
    counts = {(split, unit): dict(source.qrels(unit, split)["relevance"].value_counts()) if source.is_judged(unit, split) else {}
              for split in source.splits for unit in source.units}
    grades = sorted({int(grade) for own in counts.values() for grade in own}, reverse=True)
    return page.records_table("Queries, and judgments by grade", (
        {"split": split, "unit": unit, "queries": count(len(source.queries(split))),
         **{f"grade {grade}": count(int(own.get(grade, 0))) for grade in grades},
         "relevant from grade": source.relevant_from(unit, split) if own else ""}
        for (split, unit), own in counts.items()), numeric_from=2)


def first_stages(beds: Beds, first_stage: str, k1: float, b: float, depth: int) -> dict[str, Evaluation]:
    """BM25 over each unit and over windows of the documents; a published run too, if one is given."""
    systems: dict[str, Evaluation] = {}
    for unit, bed in beds.items():
        steps = {f"BM25, {unit}s": bed.bm25(k1, b, depth)}
        if unit == "document":
            steps["BM25, windows"] = bed.bm25(k1, b, depth, windows=True)
        if first_stage != "bm25":
            steps[f"published run {as_label(Path(first_stage).name)}"] = bed.first_stage(first_stage, k1, b, depth)
        systems |= {name: evaluate(name, step, bed, MEASURES) for name, step in steps.items()}
    return systems


def published_bm25() -> list[published.Entry]:
    """Every ranking measure that the five studies print for BM25."""
    return [entry for entry in published.everything()
            if entry.system == "bm25" and entry.measure.startswith(("RR", "R@", "nDCG", "AP")) and not entry.unit]


def published_range() -> Fragment:
    """The lowest and the highest reciprocal rank that the studies print for BM25, in a sentence."""
    low, *_, high = sorted((e for e in published_bm25() if e.measure == "RR@10"), key=lambda e: float(e.value))
    return page.prose(f"For BM25 the studies print an MRR@10 from {low.printed} ({low.where}) to {high.printed} ({high.where}): "
                      "the same ranking function, on collections that differ in size and in how their queries were drawn.")


def bm25_elsewhere() -> Fragment:
    """What the five studies print for BM25, on their own collections."""
    return page.records_table("BM25 as the five studies print it, each on its own data", (
        {"where": entry.where, "column": entry.column, "data": entry.dataset or "", "measure": entry.measure,
         "value": entry.printed} for entry in published_bm25()), numeric_from=4)


def tune(collection: str, unit: str, split: str, queries: int, seed: int, k1s: list[float],
         bs: list[float]) -> pd.DataFrame | None:
    """RR@10 over the grid on the tuning split; None without one."""
    bed = tuning_bed(collection, unit, split, queries, seed)
    if bed is None:
        return None
    return bm25.bm25_grid(bed.index, bed.query_step, bed.qrels_step, k1s, bs, "RR@10", bed.min_relevance, 10).value()


def tuning_figure(grid: pd.DataFrame | None, split: str) -> Fragment:
    """The grid as a heat map with a slider for k1 and one for b, or a sentence where nothing was tuned."""
    if grid is None:
        return page.prose("This collection has no split to tune on; nothing was tuned.")
    drawn = matrices.grid_heatmap(grid, "k1", "b", "RR@10", f"RR@10 on the split {split}, the best cell framed.")
    return slider(drawn, grid.set_index(["k1", "b"])[["RR@10"]], bm25.best(grid, "RR@10"))


def settings(k1: float, b: float, grid: pd.DataFrame | None) -> dict[str, tuple[float, float]]:
    """The settings of BM25 that are compared: this chapter's, Steensland's, and the tuned one."""
    k, steensland_b = (float(published.value("steensland2021", "text 4.2", "BM25", name).value) for name in ("k", "b"))
    tuned = {} if grid is None else {"tuned here": bm25.best(grid, "RR@10")}
    return {"this chapter": (k1, b), "Steensland (2021), section 4.2": (k, steensland_b), **tuned}


def tuned(bed: Testbed, settings: Mapping[str, tuple[float, float]], measure: str, depth: int) -> dict[str, Evaluation]:
    """The test queries under several settings of k1 and b."""
    runs = {name: bed.bm25(k1, b, depth) for name, (k1, b) in settings.items()}
    return {name: evaluate(name, step, bed, [measure]) for name, step in runs.items()}


def tuned_table(systems: Systems, settings: Mapping[str, tuple[float, float]], measure: str) -> Fragment:
    """The systems of `tuned`, each compared with the first."""
    effects = {name: {"effect": f"{signed(d.mean)} {interval(d.low, d.high, sign=True)}", "p": p_value(p)}
               for name, test in tests_against(systems, next(iter(systems)), measure).items()
               for d, p in [(test.difference, test.p_permutation)]}
    return page.records_table(f"{measure} on the test queries by setting, compared with the first row", (
        {"setting": name, "k1": f"{settings[name][0]:g}", "b": f"{settings[name][1]:g}",
         measure: plain(system.mean(measure).mean), **effects.get(name, {})} for name, system in systems.items()))


def recall_curve(systems: Systems, beds: Beds, depths: Sequence[int]) -> dict[str, pd.Series]:
    """Recall at each depth, for every system: the ceiling of any re-ranker that takes that many candidates."""
    curves = {}
    for name, system in systems.items():
        bed = beds["passage" if "passage" in name or "document" not in beds else "document"]
        recall = bed.kept_values(system.source, [f"R@{depth}" for depth in depths]).mean()
        curves[name] = pd.Series(recall.to_numpy(), index=list(depths))
    return curves


def recall_figure(curves: Mapping[str, pd.Series]) -> Fragment:
    """Recall over depth, beside what Steensland prints for BM25 over documents (table 5.1, section 5.1)."""
    study = [published.value("steensland2021", *place).amount for place in (("5.1", "BM25", "Recall@10"),
                                                                           ("text 5.1", "BM25", "Recall@20"))]
    return plots.curves(curves, "candidates", "recall", "Recall by number of candidates; hollow, what Steensland prints for BM25 "
                        "over documents.", log=True, printed={"BM25, documents": pd.Series(study, index=[10, 20])})


def groups_of(bed: Testbed, label: str) -> pd.Series | None:
    """The query's label (answer_type, style), on the judged queries; None if the collection has no such label."""
    if label not in bed.query_frame:
        return None
    return bed.query_frame.set_index("query_id")[label].loc[bed.judged]


def signs(systems: Systems, tuned: Systems, values: pd.DataFrame, bed: Testbed) -> dict[str, bool]:
    """What the discussion rests on."""
    whole, pieces, styles = systems.get("BM25, documents"), systems.get("BM25, windows"), groups_of(bed, "style")
    first, *others = tuned.values()
    order = [] if styles is None else list(values.iloc[:, 0].groupby(styles).mean().sort_values().index)
    return {"over four fifths of the relevant documents are among the first twenty":
                bool(whole and whole.mean("R@20").mean > 0.8),
            "whole documents rank better than their windows": bool(whole and pieces and above(whole, pieces, "RR@10")),
            "no other k1 and b rank better": not any(above(other, first, "RR@10") for other in others),
            "plain queries are the easiest and oblique ones the hardest": order == ["oblique", "paraphrase", "plain"]}


def by_group(values: pd.DataFrame, bed: Testbed, label: str, caption: str) -> Fragment:
    """RR@10 of systems (columns) within groups of queries, or a sentence where the collection has no such label."""
    groups = groups_of(bed, label)
    if groups is None:
        return page.prose(f"This collection does not label its queries by {label.replace('_', ' ')}.")
    return plots.means_by_group(values, groups, "RR@10", caption)
