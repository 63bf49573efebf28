"""The chapter *The collection and BM25*."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data.collection_base import Collection
from helpers.data.statistics import median_length
from helpers.evaluation import measures, published, verdicts
from helpers.evaluation.significance import paired
from helpers.pages import compare, page, plots
from helpers.pages.compare import corrected_p
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, interval, p_value, plain, signed
from helpers.retrieval import tuning
from helpers.systems.evaluated import Evaluation, evaluate
from helpers.systems.testbed import Testbed

MEASURES = ["RR@10", "nDCG@10", "R@20", "R@100"]
STEENSLAND_BM25 = (("BM25", "k"), ("BM25", "b"))  # rows and columns of what section 4.2 states


def beds(collection: str, split: str, queries: int, seed: int) -> dict[str, Testbed]:
    """A testbed for each unit that the collection can rank."""
    from helpers.data.collection import open_collection

    units = open_collection(collection).units
    return {unit: Testbed(collection, unit, (split,), queries, seed=seed) for unit in units}


def statistics_table(source: Collection, statistics: dict[str, dict[str, Any]]) -> Fragment:
    """Texts, words and windows by unit."""
    rows = [[f"{unit}s", count(s["texts"]), count(s["words"]), count(median_length(s)), count(s["windows"]), count(s["empty"])]
            for unit, s in statistics.items()]
    return page.show_table(f"{source.name} ({source.licence})",
                           ("texts", "how many", "words", "median words", "windows", "without body"), rows)


def split_table(source: Collection) -> Fragment:
    """Queries and judgments by split and unit, with the grades."""
    found = {(split, unit): source.qrels(unit, split)["relevance"].value_counts()
             for split in source.splits for unit in source.units}
    grades = sorted({int(grade) for counts in found.values() for grade in counts.index}, reverse=True)
    rows = [[split, unit, count(len(source.queries(split))), *(count(int(counts.get(grade, 0))) for grade in grades)]
            for (split, unit), counts in found.items()]
    header = ("split", "unit", "queries", *(f"grade {grade}" for grade in grades))
    return page.show_table("Queries, and judgments by grade", header, rows, numeric_from=2)


def first_stages(beds: dict[str, Testbed], first_stage: str, k1: float, b: float, depth: int) -> dict[str, Evaluation]:
    """BM25 over each unit and over windows of the documents; a published run too, if one is given."""
    found: dict[str, Evaluation] = {}
    for unit, bed in beds.items():
        steps = {f"BM25, {unit}s": bed.bm25(k1, b, depth)}
        if unit == "document":
            steps["BM25, windows"] = bed.bm25(k1, b, depth, windows=True)
        if first_stage != "bm25":
            steps[f"published run {Path(first_stage).name}"] = bed.first_stage(first_stage, k1, b, depth)
        found |= {name: evaluate(name, step.value(), bed, MEASURES, step) for name, step in steps.items()}
    return found


def measures_table(systems: dict[str, Evaluation], caption: str) -> Fragment:
    """Means with intervals, a row a system, every number linked to its provenance."""
    return compare.measures_table(caption, systems, MEASURES)


def published_bm25() -> list[published.Entry]:
    """Every ranking measure that the five studies print for BM25."""
    return [entry for entry in published.everything()
            if entry.system == "bm25" and entry.measure.startswith(("RR", "R@", "nDCG", "AP")) and not entry.unit]


def found_by_the_studies() -> Fragment:
    """The lowest and the highest reciprocal rank that the studies print for BM25, in a sentence."""
    values = sorted((e for e in published_bm25() if e.measure == "RR@10"), key=lambda e: float(e.value))
    low, high = values[0], values[-1]
    return page.prose(f"For BM25 the studies print an MRR@10 from {low.printed} ({low.where}) to {high.printed} ({high.where}): "
                      "the same ranking function, on collections that differ in size and in how their queries were drawn.")


def bm25_elsewhere() -> Fragment:
    """What the five studies print for BM25, on their own collections."""
    rows = [[entry.where, entry.dataset or "", entry.column, entry.printed] for entry in published_bm25()]
    return page.show_table("BM25 as the five studies print it, each on its own data", ("where", "data", "measure", "value"), rows,
                           numeric_from=3)


def tune(collection: str, unit: str, split: str, queries: int, seed: int, k1s: list[float],
         bs: list[float]) -> pd.DataFrame | None:
    """RR@10 over the grid on the tuning split; None without one."""
    if not split:
        return None
    bed = Testbed(collection, unit, (split,), queries, seed=seed)
    return tuning.bm25_grid(bed.index, bed.query_step, bed.qrels_step, k1s, bs, "RR@10", bed.min_relevance, 10).value()


def tuning_figure(grid: pd.DataFrame | None, split: str) -> Fragment:
    """The grid as a heat map, or a sentence where nothing was tuned."""
    if grid is None:
        return page.prose("This collection has no split to tune on; nothing was tuned.")
    return plots.grid_heatmap(grid, "k1", "b", "RR@10", f"RR@10 on the split {split}, the best cell framed.")


def settings(k1: float, b: float, grid: pd.DataFrame | None) -> dict[str, tuple[float, float]]:
    """The settings of BM25 that are compared: this chapter's, Steensland's, and the tuned one."""
    steensland = [published.value("steensland2021", "text 4.2", row, column).value for row, column in STEENSLAND_BM25]
    found = {"this chapter": (k1, b), "Steensland (2021), section 4.2": (float(steensland[0]), float(steensland[1]))}
    return found if grid is None else found | {"tuned here": tuning.best(grid, "RR@10")}


def tuned(bed: Testbed, settings: dict[str, tuple[float, float]], measure: str, depth: int) -> dict[str, Evaluation]:
    """The test queries under several settings of k1 and b."""
    runs = {name: bed.bm25(k1, b, depth) for name, (k1, b) in settings.items()}
    return {name: evaluate(name, step.value(), bed, [measure], step) for name, step in runs.items()}


def tuned_table(systems: dict[str, Evaluation], settings: dict[str, tuple[float, float]], measure: str) -> Fragment:
    """The systems of `tuned`, each compared with the first."""
    base = next(iter(systems.values()))
    found = {name: system.against(base, measure) for name, system in systems.items() if system is not base}
    corrected = corrected_p(found)
    rows = []
    for name, system in systems.items():
        k1, b = settings[name]
        d = found[name].difference if name in found else None
        effect = f"{signed(d.mean)} {interval(d.low, d.high, sign=True)}" if d else ""
        rows.append([name, f"{k1:g}", f"{b:g}", plain(system.mean(measure).mean), effect,
                     p_value(corrected[name]) if name in corrected else ""])
    return page.show_table(f"{measure} on the test queries by setting, against the first row",
                           ("setting", "k1", "b", measure, "effect", "p (permutation, Holm)"), rows)


def recall_curve(systems: dict[str, Evaluation], beds: dict[str, Testbed], depths: Sequence[int]) -> dict[str, pd.Series]:
    """Recall at each depth, for every system: the ceiling of any re-ranker that takes that many candidates."""
    curves = {}
    for name, system in systems.items():
        bed = beds["passage" if "passage" in name or "document" not in beds else "document"]
        values = measures.per_query(system.run, bed.qrels, [f"R@{d}" for d in depths], bed.min_relevance, bed.judged).mean()
        curves[name] = pd.Series(values.to_numpy(), index=list(depths))
    return curves


def groups_of(bed: Testbed, label: str) -> pd.Series | None:
    """The query's label (answer_type, style), on the judged queries; None if the collection has no such label."""
    if label not in bed.query_frame:
        return None
    return bed.query_frame.set_index("query_id")[label].loc[bed.judged]


def finding(systems: dict[str, Evaluation], beds: dict[str, Testbed]) -> Fragment:
    """The chapter's last words: which unit ranks best, and what a re-ranker can hope for."""
    said = []
    whole, pieces = systems.get("BM25, documents"), systems.get("BM25, windows")
    if whole is not None and pieces is not None:
        found = paired(pieces.values["RR@10"], whole.values["RR@10"])
        better = "helps" if found.difference.mean > 0 else "hurts"
        sure = "" if found.p_permutation < verdicts.ALPHA else ", though the queries do not settle it"
        said.append(f"Indexing windows instead of whole documents {better} BM25: RR@10 changes by "
                    f"{signed(found.difference.mean)} {interval(found.difference.low, found.difference.high, sign=True)} "
                    f"(permutation p {p_value(found.p_permutation)}){sure}.")
    first = whole or next(iter(systems.values()))
    said.append(f"The first stage ({first.label}) finds {plain(first.mean('R@20').mean)} of the relevant texts in its top 20 and "
                f"{plain(first.mean('R@100').mean)} in its top 100: no re-ranker of that many candidates can find more.")
    return page.prose(*said)


def group_finding(values: pd.Series, bed: Testbed, label: str) -> Fragment:
    """Which group of queries BM25 serves best and worst."""
    groups = groups_of(bed, label)
    if groups is None:
        return page.prose("")
    means = values.groupby(groups).mean().sort_values()
    worst, best = means.index[0], means.index[-1]
    return page.prose(f"BM25 serves *{best}* queries best ({plain(means.iloc[-1])}) and *{worst}* queries worst "
                      f"({plain(means.iloc[0])}).")


def by_group(values: pd.DataFrame, bed: Testbed, label: str, caption: str) -> Fragment:
    """RR@10 of systems (columns) within groups of queries, or a sentence where the collection has no such label."""
    groups = groups_of(bed, label)
    if groups is None:
        return page.prose(f"This collection does not label its queries by {label.replace('_', ' ')}.")
    return plots.means_by_group(values, groups, "RR@10", caption)
