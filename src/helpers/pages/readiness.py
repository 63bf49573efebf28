"""Tables 1 to 4 of Gao & Callan (2021) beside systems by starting point and training size; what share of a head a design could
see, and what seeing as little as their lead would take; whether a pre-training's head uses [CLS], and where [CLS] looks (section
4.2; their later version)."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.evaluation.significance import Paired
from helpers.pages import page, plots, training
from helpers.pages.fragments import Fragment, count, plain
from helpers.pages.results import Results, above, differences, mean_link, table_value
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.starting_points import BRANCHES, CONDENSER, CONTINUED, MLM, START, made

STUDY = "gao2021"
# rows of tables 1 to 4, and of the branches that the study does not have the name of such a row
STUDIED = {START: "BERT", CONDENSER: "BERT + CD", CONTINUED: "BERT + CD + CT",
           **{branch: f"BERT {branch}" for branch in BRANCHES if branch != CONDENSER}}
BySize = Mapping[tuple[str, int], Evaluation]  # by starting point and training size, 0 for all


def columns(sizes: Sequence[int], group: str, of_study: Sequence[str] = ("1K", "10K", "FULL")) -> dict[int, str]:
    """The study's column that stands for each size: the first for the smallest of several, the last for the largest. BadInput for
    more sizes than it has."""
    if not 1 <= len(sizes) <= len(of_study):
        raise BadInput(f"{len(sizes)} training sizes", mend=f"give one to {len(of_study)}, smallest first, 0 for all")
    return {size: f"{group} / {own}" for size, own in zip(sizes, [*of_study[:len(sizes) - 1], of_study[-1]], strict=True)}


def in_study(table: str, by_size: Mapping[int, str]) -> Callable[[tuple[str, int]], published.Entry | None]:
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


def curve(systems: BySize, examples: Mapping[int, int], measure: str, what: str, caption: str,
          references: Systems = plots.NOTHING, table: str = "", places: Mapping[str, int] = plots.NOTHING) -> Fragment:
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
                             {name: own.mean(measure).mean for name, own in references.items()}, theirs if places else {})


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
            references: Systems = plots.NOTHING) -> Fragment:
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
                high, low = (f"{plain(system.mean(measure).mean)} ({system.label})" for system in (before, after))
                return f"more training data lowered {measure}, from {high} to {low}"
    return ""


def design(share: Paired, lead: float, where: str, seeds: int, tested: str) -> str:
    """How small a gain by the head would be found, and what it takes to find one as small as a lead that the study prints.

    Args:
        share: the comparison of the branch with the head and the branch without it, which have so many `seeds` each.
        lead: the study's lead, in its column `where`.
        tested: what is measured on, in words.
    """
    seen = f"A gain of {plain(share.detectable)} by the head would be seen in four of five such experiments"
    if round(lead, 3) <= 0:
        return f"{seen}. The study prints no lead over BERT ({where})."
    both = f"{seen}; the study's whole lead over BERT is {plain(lead)} ({where})."
    if share.detectable <= lead:
        return both
    times = math.ceil((share.detectable / lead) ** 2)
    return (f"{both} An interval narrows with the root of what it rests on, so to see as little would take "
            f"{count(times * seeds)} seeds of each branch and {count(times)} times as many {tested}.")


def by_size(systems: BySize, names: Mapping[int, str], table: str, columns: Mapping[int, str], measure: str,
            tested: str) -> Fragment:
    """The same for each training size, whose column `columns` names; nothing where one of both branches is left out."""
    pairs = {size: (systems[CONDENSER, size], systems[MLM, size]) for size in names
             if {(CONDENSER, size), (MLM, size)} <= set(systems)}
    return page.prose(*(f"With {names[size]}: " + design(
        first.against(second, measure), printed_lead(table, columns[size]), columns[size].rpartition(" / ")[2],
        len(first.runs), tested) for size, (first, second) in pairs.items()))


USES = 0.1  # nats: a head that loses less by another text's [CLS] does not use it
Attention = Mapping[str, Mapping[str, Sequence[float]]]  # by encoder: `entropy` and `words`, each a value a layer


def exchange(log: dict[str, Any]) -> pd.Series:
    """What the head loses when every text has another's [CLS], in nats a masked piece, over the optimiser steps."""
    return training.curve(log, "eval_exchanged") - training.curve(log, "eval_head")


def uses_cls(logs: Sequence[dict[str, Any]]) -> bool:
    """Whether a head uses [CLS]: with every seed, another text's costs it at least `USES`."""
    return bool(min(exchange(log).iloc[-1] for log in logs) >= USES)


def unused_head(pretraining: str, texts: str, backbone: str, seeds: Sequence[int], branch: str = CONDENSER) -> str:
    """Why claims on a head are not tested: it makes no use of [CLS], so there was no treatment; empty if it does."""
    logs = [branches[branch].log.value() for branches in made(pretraining, texts, backbone, seeds)[1].values()]
    rise = min(exchange(log).iloc[-1] for log in logs)
    return "" if uses_cls(logs) else (
        f"the head does not use [CLS]: another text's costs it {plain(abs(rise))} nats a masked piece, less than {USES}")


def halves(layers: Sequence[float]) -> tuple[float, float]:
    """The means over the early half of the layers and over the late half, which has the middle one."""
    middle = len(layers) // 2
    return float(np.mean(layers[:middle])), float(np.mean(layers[middle:]))


def attention_figure(found: Attention) -> Fragment:
    """The entropy of [CLS]'s attention by layer."""
    lines = {name: pd.Series(own["entropy"], index=range(1, len(own["entropy"]) + 1)) for name, own in found.items()}
    return plots.curves(lines, "layer", "entropy of [CLS]'s attention", "How evenly [CLS] attends to the tokens of a text: 1 is "
                        "all alike, 0 one alone. Means over texts and all heads, first seed.") if lines else Fragment()


def attention_table(found: Attention) -> Fragment:
    """Entropy and the words' share, means over the early half of the layers and over the late one."""
    return page.records_table("The attention of [CLS]; what words do not get goes to [CLS] itself and to [SEP]", (
        {"encoder": name, **{f"{what}, {half} layers": plain(value) for what, key in (("entropy", "entropy"), ("words", "words"))
                             for half, value in zip(("early", "late"), halves(own[key]), strict=True)}}
        for name, own in found.items()))
