"""What the chapter *Beyond flat search* finds: whether a ranking suffers, and from what size an approximate index pays."""

from collections.abc import Mapping

import pandas as pd

from helpers.encoders.nearest_neighbours import EXACT, HNSW, IVF, NO_SETTING, run_of, settings
from helpers.evaluation import published, verdicts
from helpers.evaluation.significance import Paired
from helpers.pages import page
from helpers.pages.compare import corrected_p, mean_cell, test_cells
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain, seconds
from helpers.stories.model_size import speed_text
from helpers.stories.nearest_neighbours import NAMES, Searches, fastest, pays_after, setting_text
from helpers.stories.wording import effect
from helpers.systems.evaluated import Evaluation, evaluate

STUDY = "david2020"
MEASURE = "RR@10"
Case = tuple[str, int]  # a kind of index and its setting


def evaluations(searches: Searches) -> dict[Case, Evaluation]:
    """Every kind and setting as a ranking of the real collection."""
    step = searches.runs
    return {case: evaluate(f"{case[0]} {setting_text(*case)}".strip(), run_of(step.value(), *case), searches.bed, [MEASURE], step)
            for case in settings(searches.ef_search, searches.nprobe)}


def recalls(real: pd.DataFrame) -> pd.Series:
    """The recall of every kind and setting, of the measurements over the real collection."""
    return real.set_index(["kind", "setting"])["recall"]


def effect_table(systems: Mapping[Case, Evaluation], real: pd.DataFrame) -> Fragment:
    """Whether a ranking suffers: RR@10 of every setting over the real collection, compared with exact search."""
    compared, recall = comparisons(systems), recalls(real)
    return page.show_table(
        "Effectiveness over the real collection, compared with exact search",
        ("index", "setting", "recall of the exact top ten", MEASURE, "effect", "p (t, perm.)"),
        [[NAMES[case[0]], setting_text(*case), plain(recall[case]), mean_cell(system, MEASURE),
          *(test_cells(*compared[case]) if case in compared else ["baseline", ""])] for case, system in systems.items()],
        numeric_from=2)


def comparisons(systems: Mapping[Case, Evaluation]) -> dict[Case, tuple[Paired, float]]:
    """Every approximate search against the exact one, with its p-value, Holm-corrected over all of them."""
    base = systems[EXACT, NO_SETTING]
    pairs = {case: system.against(base, MEASURE) for case, system in systems.items() if case[0] != EXACT}
    corrected = corrected_p(pairs)
    return {case: (pair, corrected[case]) for case, pair in pairs.items()}


def finding(speeds: pd.DataFrame, real: pd.DataFrame, systems: Mapping[Case, Evaluation], target: float, encoding: float,
            dimensions: int) -> Fragment:
    """The chapter's last words.

    Speeds are measured at all sizes, where an approximate index must reach the recall, systems rank the real collection, and
    encoding a query as a vector of so many dimensions takes so many seconds.
    """
    exact = {size: 1 / fastest(speeds, size, EXACT)["alone"] for size in sorted(speeds["size"].unique())}
    largest, slowest = list(exact.items())[-1]
    text = [faster_from(speeds, kind, target) for kind in (HNSW, IVF)]
    longer = [size for size, time in exact.items() if time > encoding]
    most = f"{1000 * slowest:.1f} ms over {count(largest)} vectors"
    text.append(f"Encoding a query takes {1000 * encoding:.1f} ms on one thread; exact search takes "
                + (f"longer from {count(longer[0])} vectors on, {most}." if longer else f"less at every size here, {most}."))
    if (best := fastest(speeds, largest, HNSW, target)) is not None:
        text.append(f"Encoded and searched there, a query takes {1000 * (encoding + slowest):.1f} ms by exact search and "
                    f"{1000 * (encoding + 1 / best['alone']):.1f} ms by HNSW.")
    passages = published.value(STUDY, "text 4.4", "representation-focused models", "passages compared for each query")
    width = published.value(STUDY, "B.1", "all models", "hidden units size")
    study = float(passages.value) * 1e6 / largest * float(width.value) / dimensions * slowest
    text.append(f"In proportion, a query over the study's {passages.printed} million vectors of {width.printed} dimensions would "
                f"take one thread {plain(study, 1)} s: an extrapolation, not a measurement.")
    return page.prose(*text, suffering(systems, recalls(real)))


def suffering(systems: Mapping[Case, Evaluation], recall: pd.Series) -> str:
    """How many settings rank worse than exact search, and up to which recall."""
    compared = comparisons(systems)
    worse = [case for case, (pair, p) in compared.items() if p < verdicts.ALPHA and pair.difference.mean < 0]
    text = ("Settings that rank the real collection significantly worse than exact search (p corrected): "
            f"{len(worse)} of {len(compared)}.")
    if not worse:
        return text
    best = max(worse, key=lambda case: recall[case])
    return (f"{text} The one with the highest recall among them, {systems[best].label} with {plain(recall[best])}, changes "
            f"{MEASURE} by {effect(compared[best][0])}.")


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
