"""Tables 1 to 4 of Gao & Callan (2021) beside systems by starting point and training size."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import pandas as pd

from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.evaluation.published import Entry
from helpers.pages import page, plots
from helpers.pages.compare import above, mean_link, table_value
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import plain
from helpers.pages.results import Results, differences
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.starting_points import BRANCHES, CONDENSER, CONTINUED, MLM, START

STUDY = "gao2021"
# rows of tables 1 to 4, and of the branches that the study does not have the name of such a row
STUDIED = {START: "BERT", CONDENSER: "BERT + CD", CONTINUED: "BERT + CD + CT",
           **{branch: f"BERT {branch}" for branch in BRANCHES if branch != CONDENSER}}
BySize = Mapping[tuple[str, int], Evaluation]  # by starting point and training size, 0 for all
NONE: Mapping[str, Any] = MappingProxyType({})


def columns(sizes: Sequence[int], group: str, of_study: Sequence[str] = ("1K", "10K", "FULL")) -> dict[int, str]:
    """The study's column that stands for each size: the first for the smallest of several, the last for the largest. BadInput for
    more sizes than it has."""
    if not 1 <= len(sizes) <= len(of_study):
        raise BadInput(f"{len(sizes)} training sizes", mend=f"give one to {len(of_study)}, smallest first, 0 for all")
    return {size: f"{group} / {own}" for size, own in zip(sizes, [*of_study[:len(sizes) - 1], of_study[-1]], strict=True)}


def in_study(table: str, by_size: Mapping[int, str]) -> Callable[[tuple[str, int]], Entry | None]:
    """The study's value of a starting point and a size, whose column `by_size` names."""
    cells = published.cells(STUDY, table)
    return lambda key: cells.get((STUDIED[key[0]], by_size[key[1]]))


def printed_lead(table: str, column: str) -> float:
    """Condenser's lead over BERT in a column of the study."""
    condenser, bert = (published.value(STUDY, table, STUDIED[name], column).amount for name in (CONDENSER, START))
    return condenser - bert


def of_size(systems: BySize, size: int) -> Systems:
    """Those of one size, by starting point."""
    return {start: system for (start, own), system in systems.items() if own == size}


def curve(systems: BySize, examples: Mapping[int, int], measure: str, what: str, caption: str, references: Systems = NONE,
          table: str = "", places: Mapping[str, int] = NONE) -> Fragment:
    """The measure over the number of examples that each size stands for, a line for each starting point, with t-intervals over
    seeds; `what` are the examples. Flat lines are `references`, hollow points the study's, whose columns stand at `places`.
    BadInput for one seed."""
    frames: dict[str, dict[int, pd.Series]] = {}
    for (start, size), system in systems.items():
        if system.seed_means is None:
            raise BadInput("one seed has no interval", mend="give at least two seeds")
        frames.setdefault(start, {})[examples[size]] = system.seed_means[measure]
    cells = published.cells(STUDY, table) if table else {}
    theirs = {start: pd.Series({place: cells[STUDIED[start], column].amount for column, place in places.items()})
              for start in frames if all((STUDIED[start], column) in cells for column in places)}
    return plots.seed_curves({start: pd.DataFrame(means).T.sort_index() for start, means in frames.items()}, what, measure,
                             f"{caption} Bars are t-intervals over the few seeds alone.",
                             {name: own.mean(measure).mean for name, own in references.items()}, theirs if places else NONE)


def by_start(caption: str, systems: Results[tuple[str, int]], names: Mapping[int, str], measure: str, table: str,
             by_size: Mapping[int, str]) -> Fragment:
    """A row a starting point, a column a training size: the mean, its difference from the start, and the study's value."""
    starts = {start: start for start, _ in systems}
    return systems.grid(caption, measure, starts, names, "starting point", lambda key: (START, key[1]), in_study(table, by_size))


def shares(caption: str, systems: BySize, names: Mapping[int, str], measure: str) -> Fragment:
    """What each head adds after fine-tuning: its branch (first) and masked words alone (second), by training size."""
    return differences(caption, {f"{start}, {names[size]}": (system, systems[MLM, size])
                                 for (start, size), system in systems.items()
                                 if start not in (START, MLM) and (MLM, size) in systems}, measure)


def in_full(table: str, groups: Mapping[str, Mapping[int, str]], measures: Mapping[str, str], systems: BySize,
            references: Systems = NONE) -> Fragment:
    """Every value that a table of the study prints, and beside it what this run measured for it, or that it did not.

    Args:
        groups: for a group of columns, `Natural Question / Top-20`, the column of each size (`columns`).
        measures: what stands here for a group.
        references: what needs no training, by the study's names of their rows.
    """
    ours = {(STUDIED[start], own[size]): (system, measures[group]) for group, own in groups.items()
            for (start, size), system in systems.items()}
    ours |= {(row, group): (system, measures[group]) for group in groups for row, system in references.items()}
    records: list[dict[str, Any]] = []
    values = []
    for (row, column), entry in published.cells(STUDY, table).items():
        records.append({"system": row, "column": column, "published": entry.shown, "here": "not run"})
        if found := ours.get((row, column)):
            system, measure = found
            records[-1]["here"] = mean_link(system, measure)
            values.append(table_value(entry, measure, system.mean(measure).mean, system.source))
    return page.records_table(f"{published.published_name(STUDY)}, table {table} in full, published and here", records,
                              numeric_from=2, values=values)


def why_untrained(systems: BySize, sizes: Sequence[int], measure: str) -> str:
    """What shows that the fine-tunings failed: more training data lowered a starting point's score; empty if nothing does."""
    for small, large in pairwise(sizes):
        for start in of_size(systems, large):
            before, after = systems[start, small], systems[start, large]
            if above(before, after, measure):
                return f"more training data lowered {measure}, from {scored(before, measure)} to {scored(after, measure)}"
    return ""


def scored(system: Evaluation, measure: str) -> str:
    """A system with its mean: `0.015 (backbone, 250)`."""
    return f"{plain(system.mean(measure).mean)} ({system.label})"
