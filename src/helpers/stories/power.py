"""What share of a head a design could see, and what it would take to see as little as Gao & Callan's lead."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from helpers.evaluation.significance import Paired
from helpers.pages import page
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain
from helpers.steps import Step, provenance
from helpers.stories.gao_tables import columns, printed_lead
from helpers.stories.readiness import BySize, seed_means
from helpers.systems.evaluated import Evaluation, pretrainings, trainings
from helpers.systems.starting_points import CONDENSER, MLM

NO_GPU = ("In GPU hours it cannot be said honestly: this book has timed none of its trainings on a GPU, and the study names its "
          "GPUs and not their hours.")


@dataclass(frozen=True)
class Spent:
    """Seconds on one core that some runs took."""

    once: float = 0.0  # for what all of them share: the start, which is pre-trained once
    pretraining: float = 0.0  # for what each seed has of its own
    fine_tuning: float = 0.0

    def times(self, factor: int) -> "Spent":
        """With so many times the seeds."""
        return Spent(self.once, factor * self.pretraining, factor * self.fine_tuning)

    @property
    def whole(self) -> float:
        """All together."""
        return self.once + self.pretraining + self.fine_tuning

    def told(self) -> str:
        """In CPU hours: pre-trainings, and the rest where there is any."""
        before = f"{hours(self.once + self.pretraining)} of pre-training{', the start counted once' if self.once else ''}"
        return f"{before}, and {hours(self.fine_tuning)} of fine-tuning" if self.fine_tuning else before


def hours(seconds: float) -> str:
    """A duration on one core: `12.2 CPU hours`."""
    return f"{plain(seconds / 3600, 1)} CPU hours"


def of_systems(*systems: Evaluation) -> Spent:
    """What the trainings behind systems of several seeds took."""
    sources = [run.source for system in systems for run in system.runs]
    return spent(sources, sources)


def spent(runs: Sequence[Step], kept: Iterable[Step]) -> Spent:
    """What the trainings behind `runs` took, each counted once.

    Args:
        runs: a step for each seed of each system, which need not be kept itself.
        kept: steps whose entries tell the seconds of all that is below them.
    """
    known = {part.get("key", ""): part["seconds"] for step in kept for part in provenance.timed(step.entry().manifest)}
    behind = [trainings(run) for run in runs]
    every, once = frozenset[str]().union(*behind), frozenset[str].intersection(*behind) if len(behind) > 1 else frozenset[str]()
    before = frozenset[str]().union(*map(pretrainings, runs))

    def together(keys: Iterable[str]) -> float:
        return sum(known.get(key, 0.0) for key in keys)

    return Spent(together(once), together((every - once) & before), together(every - once - before))


def design(systems: BySize, names: Mapping[int, str], table: str, of_study: Sequence[str], measure: str, tested: str,
           cost: Callable[[Evaluation, Evaluation], Spent] = of_systems) -> Fragment:
    """For each training size the share that would be seen, the study's lead, and what it takes to see as little; nothing where
    the head's branch or its control is left out.

    Args:
        names: the training sizes of this run in words.
        of_study: the columns of the study's table, smallest size first.
        tested: what is measured on, in words.
    """
    sentences = []
    for size, column in columns(list(names), of_study).items():
        if {(CONDENSER, size), (MLM, size)} <= set(systems):
            both = systems[CONDENSER, size], systems[MLM, size]
            share, lead = both[0].against(both[1], measure), printed_lead(table, column)
            sentences += [seen(share, names[size]), published_lead(lead, column),
                          needed(share.detectable, lead, cost(*both), len(seed_means(both[0])), tested)]
    return page.prose(*explained(sentences))


def seen(share: Paired, where: str) -> str:
    """How small a share of the head would be found."""
    return f"With {where}, a share of the head of {plain(share.detectable)} would be seen in four of five such experiments."


def published_lead(lead: float, column: str) -> str:
    """What the study prints in a column, of Condenser and BERT."""
    size = column.rpartition(" / ")[2]
    return (f"The study's whole lead over BERT is {plain(lead)} there ({size})." if round(lead, 3) > 0 else
            f"The study prints no lead over BERT there ({size}), so there is none to look for.")


def needed(detectable: float, lead: float, cost: Spent, seeds: int, tested: str) -> str:
    """What it takes to see a share as large as a lead that the study prints; empty for none.

    Args:
        detectable: the share that would be seen as it is.
        cost: of the two branches that the share compares.
        seeds: how many each of them has.
    """
    if round(lead, 3) <= 0:
        return ""
    if detectable <= lead:
        return "As much would be seen here."
    times = math.ceil((detectable / lead) ** 2)
    return (f"An interval narrows with the root of what it rests on, so to see as little takes {count(times)} times as many "
            f"seeds, {count(times * seeds)} of each branch, and {count(times)} times as many {tested}. The seeds take "
            f"{cost.times(times).told()}, where those compared here took {hours(cost.whole)} in all.")


def explained(sentences: Iterable[str]) -> list[str]:
    """The sentences, and where they count CPU hours, why they count no GPU hours."""
    every = [sentence for sentence in sentences if sentence]
    return [*every, NO_GPU] if any("CPU hours" in sentence for sentence in every) else every
