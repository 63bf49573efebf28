"""What the chapter *Beyond flat search* says of vectors in fewer bytes: what is saved, and what the ranking loses."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from helpers.costs.compressed_speed import compressed_speed
from helpers.encoders.compressed import WHOLE, compressed_runs, run_of
from helpers.evaluation import published
from helpers.pages import figures, page
from helpers.pages.compare import above, corrected, mean_cell, test_cells
from helpers.pages.fragments import Fragment, linked
from helpers.pages.numbers import count, plain, seconds
from helpers.steps import Step
from helpers.stories.approximate_ranking import MEASURE, STUDY
from helpers.stories.nearest_neighbours import Searches, rate
from helpers.systems.evaluated import Evaluation, evaluate_frame

FAMILIES = {"SQ": ("fewer bits of each dimension", "s"), "PQ": ("one byte for several dimensions", "o"),
            "PCA": ("fewer dimensions, the principal ones", "^"), "first": ("fewer dimensions, the first ones", "v")}
OTHER = ("every dimension in 32 bits, and other codes", "*")


def measured(searches: Searches, codes: Sequence[str]) -> Step:
    """Size, speed and recall of every code over the real collection."""
    bed, encoder = searches.bed, searches.encoder
    return compressed_speed(encoder.embeddings(bed), encoder.query_embeddings(bed), list(codes), searches.timed, searches.rounds,
                            searches.seed).here(searches.live)


def evaluations(searches: Searches, codes: Sequence[str]) -> dict[str, Evaluation]:
    """Every code as a ranking of the real collection, exact search first."""
    bed, names = searches.bed, list(dict.fromkeys([WHOLE, *codes]))
    vectors = searches.encoder.embeddings(bed), searches.encoder.query_embeddings(bed)
    step = compressed_runs(*vectors, bed.store, bed.query_step, names, searches.seed)
    return {code: evaluate_frame(code, run_of(step.value(), code), bed, [MEASURE], step) for code in names}


def family(code: str) -> tuple[str, str]:
    """What a code saves on, in words, and its marker."""
    return next((known for start, known in FAMILIES.items() if code.startswith(start)), OTHER)


def frontier(systems: Mapping[str, Evaluation], sizes: pd.DataFrame) -> Fragment:
    """RR@10 over the bytes of a vector; up and to the left is better."""
    bytes_of, texts = dict(zip(sizes["code"], sizes["bytes"], strict=True)), []
    figure, (axis,) = figures.new()
    drawn: dict[str, list[tuple[int, float]]] = {}
    for code, system in systems.items():
        point = int(bytes_of[code]), system.mean(MEASURE).mean
        drawn.setdefault(family(code)[0], []).append(point)
        above_or_below = (4, -10) if code.startswith("PCA") else (4, 5)  # apart from rounded dimensions of the same size
        axis.annotate(code, point, textcoords="offset points", xytext=above_or_below, fontsize=7)
        texts.append(f"{code}: {plain(point[1])} with {point[0]} bytes")
    markers = dict([*FAMILIES.values(), OTHER])
    for number, (label, points) in enumerate(drawn.items()):
        axis.plot(*zip(*points, strict=True), ls="none", marker=markers[label], label=label,
                  color=figures.COLOURS[number % len(figures.COLOURS)])
    axis.set(xlabel="bytes of a vector", ylabel=MEASURE)
    figures.logarithmic(axis)
    axis.margins(0.14)
    figures.legend(figure)
    return figures.show(figure, f"{MEASURE} over the bytes of a vector. {'; '.join(texts)}.",
                        f"{MEASURE} of exact search among shortened vectors, by the bytes that each of them takes.")


def effect_table(systems: Mapping[str, Evaluation], sizes: pd.DataFrame, step: Step) -> Fragment:
    """Each code beside the whole vectors: bytes, what the study's collection would take, recall, RR@10, time (Holm's p)."""
    base, passages = systems[WHOLE], published.value(STUDY, "text 4.4", "representation-focused models",
                                                     "passages compared for each query")
    tests = corrected({code: system.against(base, MEASURE) for code, system in systems.items() if code != WHOLE})

    def row(code: str, system: Evaluation, known: Any) -> dict[str, Any]:
        effect, probability = test_cells(tests[code]) if code in tests else ["baseline", ""]
        return {"code": code, "bytes": linked(count(int(known["bytes"])), step),
                f"{passages.printed} million": f"{plain(float(passages.value) * known['bytes'] / 1e3, 1)} GB",
                "recall of the exact top ten": plain(known["recall"]), MEASURE: mean_cell(system, MEASURE), "effect": effect,
                "p (t, perm.)": probability, "queries a second, one by one": rate(known), "building": seconds(known["build"])}

    known = sizes.set_index("code")
    return page.records_table("Vectors in fewer bytes, compared with whole ones",
                              (row(code, system, known.loc[code]) for code, system in systems.items()), numeric_from=1)


def signs(systems: Mapping[str, Evaluation], sizes: pd.DataFrame) -> dict[str, bool]:
    """What the discussion rests on; false where a profile leaves the code out."""
    base, low, high = systems[WHOLE], *(dict(zip(sizes["code"], sizes[f"alone_{end}"], strict=True)) for end in ("low", "high"))

    def keeps(code: str) -> bool:
        return code in systems and not above(base, systems[code], MEASURE)

    def loses(code: str) -> bool:
        return code in systems and above(base, systems[code], MEASURE)

    faster = [code for code in systems if low[code] > high[WHOLE]]
    return {"a byte for each dimension ranks as well as four": keeps("SQ8"),
            "one byte for four dimensions is not told from whole vectors": keeps("PQ96"),
            "dimensions that are dropped cost rank": loses("PCA96,Flat") and loses("first96,Flat"),
            "some code is searched faster than whole vectors": bool(faster)}
