"""What the chapter *Beyond flat search* finds: whether a ranking suffers, and from what size an approximate index pays."""

from collections.abc import Mapping

import pandas as pd

from helpers.encoders.nearest_neighbours import EXACT, HNSW, IVF, NO_SETTING, run_of, settings
from helpers.evaluation import published
from helpers.pages import page
from helpers.pages.compare import above, corrected, mean_cell, test_cells
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain, seconds
from helpers.stories.model_size import speed_text
from helpers.stories.nearest_neighbours import NAMES, Searches, fastest, pays_after, setting_text
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
    base, recall = systems[EXACT, NO_SETTING], real.set_index(["kind", "setting"])["recall"]
    tests = corrected({case: system.against(base, MEASURE) for case, system in systems.items() if case[0] != EXACT})
    return page.show_table(
        "Effectiveness over the real collection, compared with exact search",
        ("index", "setting", "recall of the exact top ten", MEASURE, "effect", "p (t, perm.)"),
        [[NAMES[case[0]], setting_text(*case), plain(recall[case]), mean_cell(system, MEASURE),
          *(test_cells(tests[case]) if case in tests else ["baseline", ""])]
         for case, system in systems.items()], numeric_from=2)


def finding(speeds: pd.DataFrame, target: float, encoding: float, dimensions: int) -> Fragment:
    """The chapter's last words.

    Speeds are measured at all sizes, where an approximate index must reach the recall; encoding a query as a vector of so many
    dimensions takes so many seconds.
    """
    exact = {size: 1 / fastest(speeds, size, EXACT)["alone"] for size in sorted(speeds["size"].unique())}
    largest, slowest = list(exact.items())[-1]
    text = [faster_from(speeds, kind, target) for kind in (HNSW, IVF)]
    longer = [size for size, time in exact.items() if time > encoding]
    most = f"{1000 * slowest:.1f} ms over {count(largest)} vectors"
    text.append(f"Encoding a query takes {1000 * encoding:.1f} ms on one thread; exact search takes "
                + (f"longer from {count(longer[0])} vectors on, {most}." if longer else f"less at every size here, {most}."))
    passages = published.value(STUDY, "text 4.4", "representation-focused models", "passages compared for each query")
    width = published.value(STUDY, "B.1", "all models", "hidden units size")
    study = float(passages.value) * 1e6 / largest * float(width.value) / dimensions * slowest
    text.append(f"In proportion, a query over the study's {passages.printed} million vectors of {width.printed} dimensions would "
                f"take one thread {plain(study, 1)} s: an extrapolation, not a measurement.")
    return page.prose(*text)


def signs(speeds: pd.DataFrame, systems: Mapping[Case, Evaluation], real: pd.DataFrame, target: float) -> dict[str, bool]:
    """What the discussion rests on."""
    base, recall = systems[EXACT, NO_SETTING], real.set_index(["kind", "setting"])["recall"]
    best = [(fastest(speeds, size, HNSW, target), fastest(speeds, size, EXACT)) for size in sorted(speeds["size"].unique())]
    graph, exact = best[-1]
    widest, fewest = max(case for case in systems if case[0] == HNSW), min(case for case in systems if case[0] == IVF)
    kept = systems[fewest].mean(MEASURE).mean / base.mean(MEASURE).mean
    faster = [own is not None and bool(own["alone_low"] > other["alone_high"]) for own, other in best]
    return {"HNSW is the faster over the largest collection": faster[-1],
            "HNSW is the faster over every collection": all(faster),
            "building the graph takes as long as a thousand exact searches":
                graph is not None and bool(graph["build"] * exact["alone"] > 1000),
            "HNSW with the largest efSearch ranks as well as exact search": not above(base, systems[widest], MEASURE),
            "IVF with the smallest nprobe loses a smaller share of rank than of recall": bool(recall[fewest] < kept < 1)}


def faster_from(speeds: pd.DataFrame, kind: str, target: float) -> str:
    """From which size on an index is faster than exact search, beyond the quartiles of either, at every larger size too."""
    wins: list[int] = []
    sizes = sorted(speeds["size"].unique())
    for size in sizes:
        best, exact = fastest(speeds, size, kind, target), fastest(speeds, size, EXACT)
        wins = [*wins, size] if best is not None and best["alone_low"] > exact["alone_high"] else []
    if not wins:
        return f"{kind} is at no size up to {count(sizes[-1])} surely faster than exact search, at recall {plain(target, 2)}."
    return (f"At recall {plain(target, 2)} {kind} is faster than exact search from {count(wins[0])} vectors on, and "
            f"{speed_text(best['alone'] / exact['alone'])} times as fast over {count(sizes[-1])}; building it takes "
            f"{seconds(best['build'])}, what it saves in {pays_after(best, exact)}.")
