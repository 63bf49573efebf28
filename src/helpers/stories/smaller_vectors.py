"""What the chapter *Beyond flat search* says of vectors in fewer bytes: what is saved, and what the ranking loses."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from helpers.costs.speed import compressed_speed
from helpers.encoders.nearest_neighbours import WHOLE, compressed_run, compressed_runs
from helpers.evaluation import published
from helpers.pages import page, scatter
from helpers.pages.compare import above, effect_columns
from helpers.pages.fragments import Fragment, linked
from helpers.pages.numbers import count, plain, seconds
from helpers.steps import Step
from helpers.stories.approximate_ranking import MEASURE, STUDY
from helpers.stories.nearest_neighbours import Searches, rate
from helpers.systems.evaluated import Evaluation, evaluate_frame

FAMILIES = {"SQ": "fewer bits of each dimension", "PQ": "one byte for several dimensions",
            "PCA": "fewer dimensions, the principal ones", "first": "fewer dimensions, the first ones"}
OTHER = "every dimension in 32 bits, and other codes"


def measured(searches: Searches, codes: Sequence[str]) -> Step:
    """Size, speed and recall of every code over the real collection."""
    return compressed_speed(*searches.vectors, list(codes), searches.timed, searches.rounds, searches.seed).here(searches.live)


def evaluations(searches: Searches, codes: Sequence[str]) -> dict[str, Evaluation]:
    """Every code as a ranking of the real collection, exact search first."""
    bed, names = searches.bed, list(dict.fromkeys([WHOLE, *codes]))
    step = compressed_runs(*searches.vectors, bed.store, bed.query_step, names, searches.seed)
    return {code: evaluate_frame(code, compressed_run(step.value(), code), bed, [MEASURE], step) for code in names}


def family(code: str) -> str:
    """What a code saves on, in words."""
    return next((saved for start, saved in FAMILIES.items() if code.startswith(start)), OTHER)


def frontier(systems: Mapping[str, Evaluation], sizes: pd.DataFrame) -> Fragment:
    """RR@10 over the bytes of a vector; up and to the left is better."""
    size, bytes_of = "bytes of a vector", sizes.set_index("code")["bytes"]
    places = pd.DataFrame({size: [int(bytes_of[code]) for code in systems],
                           MEASURE: [system.mean(MEASURE).mean for system in systems.values()],
                           "saved": [family(code) for code in systems]}, index=list(systems))
    caption = f"{MEASURE} of exact search among shortened vectors, by the bytes that each of them takes."
    return scatter.points(places, size, MEASURE, caption, log=True, of="saved")


def effect_table(systems: Mapping[str, Evaluation], sizes: pd.DataFrame, step: Step) -> Fragment:
    """Each code beside the whole vectors: bytes, what the study's collection would take, recall, RR@10, time (Holm's p)."""
    passages = published.value(STUDY, "text 4.4", "representation-focused models", "passages compared for each query")
    sized: dict[Any, Any] = sizes.set_index("code").to_dict("index")
    caption = ("Vectors in fewer bytes, compared with whole ones (all times of one machine, which need not be that of the tables "
               "above)")
    return page.records_table(caption, (
        {"code": code, "bytes": linked(count(int(known["bytes"])), step),
         f"{passages.printed} million vectors of this width":
             f"{plain(float(passages.value) * known['bytes'] / 1e3, 1)} GB",
         "recall of the exact top ten": plain(known["recall"]), **effect, "queries a second, one by one": rate(known),
         "building": seconds(known["build"])}
        for code, effect in effect_columns(systems, WHOLE, MEASURE).items() for known in [sized[code]]))


def signs(systems: Mapping[str, Evaluation]) -> dict[str, bool]:
    """What the discussion rests on; false where a profile leaves the code out."""
    loses = {code: above(systems[WHOLE], system, MEASURE) for code, system in systems.items()}
    return {"a byte for each dimension ranks as well as four": not loses.get("SQ8", True),
            "dimensions that are dropped cost rank": loses.get("PCA96,Flat", False) and loses.get("first96,Flat", False)}
