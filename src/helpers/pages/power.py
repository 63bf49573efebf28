"""What share of a head a design could see, and what seeing as little as Gao & Callan's lead would take."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from helpers.evaluation.significance import Paired
from helpers.pages import page
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain
from helpers.pages.readiness import BySize, printed_lead
from helpers.steps import Step, ledger
from helpers.systems.evaluated import Evaluation, trainings
from helpers.systems.starting_points import CONDENSER, MLM


class Spent(NamedTuple):
    """Seconds on one core that some runs took."""

    once: float  # of what all of them share: the start, which is pre-trained once
    each: float  # of what each seed has of its own


def spent(runs: Sequence[Step], kept: Iterable[Step]) -> Spent:
    """What the trainings behind `runs` took, each counted once.

    Args:
        runs: a step for each seed of each system, which need not be kept itself.
        kept: steps whose entries tell the seconds of all that is below them.
    """
    known = {part.get("key", ""): part["seconds"] for step in kept for part in ledger.timed(step.entry().manifest)}
    behind = [trainings(run) for run in runs]
    once = frozenset[str].intersection(*behind) if len(behind) > 1 else frozenset[str]()
    own = frozenset[str]().union(*behind) - once
    return Spent(*(sum(known.get(key, 0.0) for key in keys) for keys in (once, own)))


def of_systems(*systems: Evaluation) -> Spent:
    """What the trainings behind systems of several seeds took."""
    sources = [run.source for system in systems for run in system.runs]
    return spent(sources, sources)


def design(share: Paired, lead: float, where: str, cost: Spent, seeds: int, tested: str) -> str:
    """How small a share of the head would be found, and what it takes to find one as small as a lead that the study prints.

    Args:
        share: the comparison of the branch with the head and the branch without it.
        lead: the study's lead, in its column `where`.
        cost: of both branches, which have so many `seeds` each.
        tested: what is measured on, in words.
    """
    seen = f"A share of the head of {plain(share.detectable)} would be seen in four of five such experiments"
    if round(lead, 3) <= 0:
        return f"{seen}. The study prints no lead over BERT ({where})."
    both = f"{seen}; the study's whole lead over BERT is {plain(lead)} ({where})."
    if share.detectable <= lead:
        return both
    times = math.ceil((share.detectable / lead) ** 2)
    return (f"{both} An interval narrows with the root of what it rests on, so to see as little takes {count(times * seeds)} "
            f"seeds of each branch, {count(times)} times as many, and {count(times)} times as many {tested}. The seeds take "
            f"{_hours(cost.once + times * cost.each)} (no training was timed on a GPU), and those compared here took "
            f"{_hours(cost.once + cost.each)}.")


def by_size(systems: BySize, names: Mapping[int, str], table: str, columns: Mapping[int, str], measure: str, tested: str,
            cost: Callable[[Any, Any], Spent] = of_systems) -> Fragment:
    """The same for each training size, whose column `columns` names; nothing where one of both branches is left out."""
    pairs = {size: (systems[CONDENSER, size], systems[MLM, size]) for size in names
             if {(CONDENSER, size), (MLM, size)} <= set(systems)}
    return page.prose(*(f"With {names[size]}: " + design(
        first.against(second, measure), printed_lead(table, columns[size]), columns[size].rpartition(" / ")[2],
        cost(first, second), len(first.runs), tested) for size, (first, second) in pairs.items()))


def _hours(seconds: float) -> str:
    return f"{plain(seconds / 3600, 1)} CPU hours"
