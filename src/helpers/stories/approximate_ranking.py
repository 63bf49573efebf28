"""What the chapter *Beyond flat search* finds: whether a ranking suffers, and from what size an approximate index pays."""

from collections.abc import Mapping, Sequence

import pandas as pd

from helpers.encoders.nearest_neighbours import EXACT, HNSW, IVF, NO_SETTING, run_of
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


def evaluations(searches: Searches) -> dict[tuple[str, int], Evaluation]:
    """Every kind and setting as a ranking of the real collection."""
    step = searches.runs
    runs = step.value()
    return {case: evaluate(f"{case[0]} {setting_text(*case)}".strip(), run_of(runs, *case), searches.bed, [MEASURE], step)
            for case in searches.cases}


def effect_table(systems: Mapping[tuple[str, int], Evaluation], real: pd.DataFrame) -> Fragment:
    """Whether a ranking suffers: RR@10 of every setting, compared with exact search.

    Args:
        systems: by kind and setting.
        real: the measurements over the real collection.
    """
    compared, shares, rows = comparisons(systems), shares_of(real), []
    for case, system in systems.items():
        rows.append([NAMES[case[0]], setting_text(*case), plain(shares[case]), mean_cell(system, MEASURE),
                     *(test_cells(*compared[case]) if case in compared else ["baseline", ""])])
    return page.show_table("Effectiveness over the real collection, compared with exact search",
                           ("index", "setting", "recall of the exact top ten", MEASURE, "effect", "p (t, perm.)"), rows,
                           numeric_from=2)


def comparisons(systems: Mapping[tuple[str, int], Evaluation]) -> dict[tuple[str, int], tuple[Paired, float]]:
    """Every approximate search against the exact one, with its p-value, Holm-corrected over all of them."""
    base = systems[EXACT, NO_SETTING]
    pairs = {case: system.against(base, MEASURE) for case, system in systems.items() if case[0] != EXACT}
    corrected = corrected_p(pairs)
    return {case: (pair, corrected[case]) for case, pair in pairs.items()}


def shares_of(real: pd.DataFrame) -> dict[tuple[str, int], float]:
    """The recall of every kind and setting over the real collection."""
    return {(row["kind"], row["setting"]): row["recall"] for _, row in real.iterrows()}


def finding(found: pd.DataFrame, real: pd.DataFrame, systems: Mapping[tuple[str, int], Evaluation], target: float,
            encoding: float, dimensions: int) -> Fragment:
    """The chapter's last words.

    Args:
        found: the measurements at all sizes.
        real: those over the real collection.
        systems: the rankings of the real collection.
        target: the recall that an approximate index must reach.
        encoding: seconds of encoding a query.
        dimensions: of a vector.
    """
    sizes = sorted(found["size"].unique())
    exact = {size: fastest(found, size, EXACT, 0.0)["alone"] for size in sizes}
    text = [faster_from(found, sizes, kind, target) for kind in (HNSW, IVF)]
    longer = [size for size in sizes if 1 / exact[size] > encoding]
    most = f"{1000 / exact[sizes[-1]]:.1f} ms over {count(sizes[-1])} vectors"
    text.append(f"Encoding a query takes {1000 * encoding:.1f} ms on one thread; exact search takes "
                + (f"longer from {count(longer[0])} vectors on, {most}." if longer else f"less at every size here, {most}."))
    if (best := fastest(found, sizes[-1], HNSW, target)) is not None:
        slow, fast = (1000 * (encoding + 1 / speed) for speed in (exact[sizes[-1]], best["alone"]))
        text.append(f"Encoded and searched there, a query takes {slow:.1f} ms by exact search and {fast:.1f} ms by HNSW.")
    text.append(at_study_size(exact[sizes[-1]], sizes[-1], dimensions))
    text.append(suffering(systems, shares_of(real)))
    return page.prose(*text)


def suffering(systems: Mapping[tuple[str, int], Evaluation], shares: Mapping[tuple[str, int], float]) -> str:
    """How many settings rank worse than exact search, and up to which recall."""
    compared = comparisons(systems)
    worse = [case for case, (pair, p) in compared.items() if p < verdicts.ALPHA and pair.difference.mean < 0]
    text = ("Settings that rank the real collection significantly worse than exact search (p corrected): "
            f"{len(worse)} of {len(compared)}")
    if not worse:
        return f"{text}."
    best = max(worse, key=lambda case: shares[case])
    return (f"{text}. The one with the highest recall among them, {systems[best].label} with {plain(shares[best])}, changes "
            f"{MEASURE} by {effect(compared[best][0])}.")


def faster_from(found: pd.DataFrame, sizes: Sequence[int], kind: str, target: float) -> str:
    """From which size on an index is faster than exact search, beyond the quartiles of either, at every larger size too."""
    wins: list[int] = []
    for size in sizes:
        best, exact = fastest(found, size, kind, target), fastest(found, size, EXACT, 0.0)
        wins = [*wins, size] if best is not None and best["alone_low"] > exact["alone_high"] else []
    if not wins:
        return f"{kind} is at no size up to {count(sizes[-1])} surely faster than exact search, at recall {plain(target, 2)}."
    best, exact = (fastest(found, sizes[-1], name, share) for name, share in ((kind, target), (EXACT, 0.0)))
    return (f"At recall {plain(target, 2)} {kind} is faster than exact search from {count(wins[0])} vectors on, and "
            f"{speed_text(best['alone'] / exact['alone'])} times as fast over {count(sizes[-1])}; building it takes "
            f"{seconds(best['build'])}, what it saves in {pays_after(best, exact)}.")


def at_study_size(rate: float, size: int, dimensions: int) -> str:
    """What exact search would take over the study's collection and vectors, in proportion."""
    passages = published.value(STUDY, "text 4.4", "representation-focused models", "passages compared for each query")
    width = published.value(STUDY, "B.1", "all models", "hidden units size")
    long = float(passages.value) * 1e6 / size * float(width.value) / dimensions / rate
    return (f"In proportion, a query over the study's {passages.printed} million vectors of {width.printed} dimensions would "
            f"take one thread {plain(long, 1)} s: an extrapolation, not a measurement.")
