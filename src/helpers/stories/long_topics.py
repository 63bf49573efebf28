"""The chapter *Long documents* on broad topics: queries that many articles answer, so that no part of a document is the one to be
found (Alarfaj 2022, sections 5.3.2 and 6.3)."""

from itertools import pairwise

from helpers.pages import compare, judgments, page
from helpers.pages.compare import above, lead
from helpers.pages.fragments import Fragment
from helpers.stories.alarfaj import BM25, row
from helpers.stories.first_passage import MEASURES, WINDOWS
from helpers.stories.long_documents import BEST, MEASURE, Places
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import zero_shot_in

LEFT_OUT = "This run leaves them out. `-p topics topics` adds them."


def topics(places: Places, split: str) -> dict[str, Evaluation]:
    """The same readers on broad topics, over the last of the collections; none without a split."""
    place = list(places.values())[-1]
    return place.evaluations(Testbed(place.collection, "document", (split,))) if split else {}


def table(systems: Systems) -> Fragment:
    """What they show; where there are none, how to have them."""
    return compare.measures_table("Broad topics", systems, MEASURES) if systems else page.prose(LEFT_OUT)


def differences(systems: Systems) -> Fragment:
    """Every reader of topics less BM25."""
    pairs = {name: (system, systems[BM25]) for name, system in systems.items() if name != BM25}
    return compare.differences_table("Broad topics (the reader less BM25)", pairs, MEASURE) if pairs else page.prose()


def judged(systems: Systems) -> Fragment:
    """How far the numbers of topics rest on judgments."""
    return judgments.judged_table(systems, BM25) if systems else page.prose()


def signs(places: Places, systems: Systems) -> dict[str, bool]:
    """What the discussion of topics rests on; nothing without them."""
    if not systems:
        return {}
    lengths, bm25, untrained = list(places.values())[-1].lengths, systems[BM25], zero_shot_in(systems)
    by_length = [systems[row(length)].mean(MEASURE).mean for length in sorted(lengths)]
    trained = [system for system in systems.values() if system not in (bm25, untrained)]
    return {"on broad topics each longer input ranks higher": all(a < b for a, b in pairwise(by_length)),
            "on broad topics the mean and the sum of windows rank above BM25": all(
                lead(systems[way], bm25, MEASURE) > 0 for way in WINDOWS if way != BEST),
            "on broad topics the best window leads the trained readers": all(
                lead(systems[BEST], system, MEASURE) > 0 for system in trained if system is not systems[BEST]),
            "on broad topics no trained reader is told from BM25": not any(
                above(a, b, MEASURE) for system in trained for a, b in ((system, bm25), (bm25, system))),
            "on broad topics the zero-shot encoder surely ranks above BM25": above(untrained, bm25, MEASURE)}
