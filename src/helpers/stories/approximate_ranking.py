"""What the chapter *Beyond flat search* finds: whether a ranking suffers, and from what size an approximate index pays."""

from collections.abc import Mapping

import pandas as pd

from helpers.encoders.nearest_neighbours import EXACT, HNSW, IVF, NO_SETTING, run_of, settings
from helpers.evaluation import published
from helpers.pages import page
from helpers.pages.compare import above, effect_columns
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, joined, plain
from helpers.pages.rates import speed_text
from helpers.stories.nearest_neighbours import NAMES, Searches, fastest, setting_text
from helpers.systems.evaluated import Evaluation, evaluate_frame

STUDY = "david2020"
MEASURE = "RR@10"
Case = tuple[str, int]  # a kind of index and its setting


def evaluations(searches: Searches) -> dict[Case, Evaluation]:
    """Every kind and setting as a ranking of the real collection."""
    step = searches.runs
    return {case: evaluate_frame(f"{case[0]} {setting_text(*case)}".strip(), run_of(step.value(), *case), searches.bed, [MEASURE],
                                 step)
            for case in settings(searches.ef_search, searches.nprobe)}


def effect_table(systems: Mapping[Case, Evaluation], real: pd.DataFrame) -> Fragment:
    """Whether a ranking suffers: RR@10 of every setting over the real collection, compared with exact search (Holm's p)."""
    recall = real.set_index(["kind", "setting"])["recall"]
    return page.records_table("Effectiveness over the real collection, compared with exact search", (
        {"index": NAMES[case[0]], "setting": setting_text(*case), "recall of the exact top ten": plain(recall[case]), **effect}
        for case, effect in effect_columns(systems, (EXACT, NO_SETTING), MEASURE).items()), numeric_from=2)


def finding(speeds: pd.DataFrame, target: float, encoding: float, dimensions: int) -> Fragment:
    """The chapter's last words, on the largest collection; encoding a query, in so many dimensions, takes so many seconds."""
    size = speeds["size"].max()
    exact, found = fastest(speeds, size, EXACT), {kind: fastest(speeds, size, kind, target) for kind in (HNSW, IVF)}
    text = [f"{kind} is {speed_text(best['alone'] / exact['alone'])} times as fast" if best is not None else
            f"{kind} does not reach it" for kind, best in found.items()]
    passages = published.value(STUDY, "text 4.4", "representation-focused models", "passages compared for each query")
    width = published.value(STUDY, "B.1", "all models", "hidden units size")
    study = float(passages.value) * 1e6 / size * float(width.value) / dimensions / exact["alone"]
    return page.prose(
        f"Over {count(size)} vectors exact search takes {1000 / exact['alone']:.1f} ms of one thread, and encoding a query "
        f"{1000 * encoding:.1f} ms; at a recall of {plain(target, 2)} {joined(text)}.",
        f"In proportion, exact search over the study's {passages.printed} million vectors of {width.printed} dimensions would "
        f"take {plain(study, 1)} s: an extrapolation, not a measurement.")


def signs(speeds: pd.DataFrame, systems: Mapping[Case, Evaluation], real: pd.DataFrame, target: float) -> dict[str, bool]:
    """What the discussion rests on."""
    base, recall = systems[EXACT, NO_SETTING], real.set_index(["kind", "setting"])["recall"]
    best = [[fastest(speeds, size, kind, target) for kind in (EXACT, HNSW, IVF)] for size in sorted(speeds["size"].unique())]
    exact, graph, _ = best[-1]
    widest, fewest = max(case for case in systems if case[0] == HNSW), min(case for case in systems if case[0] == IVF)
    kept = systems[fewest].mean(MEASURE).mean / base.mean(MEASURE).mean
    faster = [own is not None and bool(own["alone_low"] > whole["alone_high"]) for whole, own, _ in best]
    rates = [[0.0 if own is None else float(own["together"]) for own in kinds] for kinds in best]
    return {"in one call exact search is faster than IVF everywhere, and than HNSW in small collections":
                all(whole > clusters for whole, _, clusters in rates) and rates[0][0] > rates[0][1],
            "HNSW is the faster over the largest collection": faster[-1],
            "HNSW is the faster over every collection": all(faster),
            "building the graph takes as long as a thousand exact searches":
                graph is not None and bool(graph["build"] * exact["alone"] > 1000),
            "HNSW with the largest efSearch ranks as well as exact search": not above(base, systems[widest], MEASURE),
            "IVF with the smallest nprobe loses a smaller share of rank than of recall": bool(recall[fewest] < kept < 1)}
