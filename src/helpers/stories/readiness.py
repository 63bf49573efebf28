"""What the chapters on Condenser share: starting points, training sizes, curves over sizes, and the distance from the start."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.evaluation.significance import Interval, Paired
from helpers.evaluation.verdicts import ALPHA
from helpers.pages import page, plots
from helpers.pages.compare import beside_published, corrected, differences_table, effects_beside, measured, test_cells
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain
from helpers.steps import Step
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.starting_points import CONDENSER, CONTINUED, MLM, NAMES, PRETRAININGS, START, Pretraining, made

STUDY = "gao2021"
STUDIED = {START: "BERT", MLM: "BERT + MLM", CONDENSER: "BERT + CD", CONTINUED: "BERT + CD + CT"}  # rows of tables 1 to 4
SUFFIXES = ("1K", "10K", "FULL")  # of the columns of tables 3 and 4: training sizes
CONTINUED_EPOCHS, CONTINUED_RATE = 1, 1e-4  # of the continued pre-training; the rate is a third of the first one's
LEFT_OUT = "It is left out in this run."
MISSING = "it needs a starting point that these parameters leave out"

NONE: Mapping[str, Any] = MappingProxyType({})
BySize = Mapping[tuple[str, int], Evaluation]  # by starting point and training size
Starts = Mapping[str, Mapping[int, Step | None]]  # weights by starting point and fine-tuning seed, None for the backbone's own


def starts(names: Sequence[str], pretraining: str, texts: str, backbone: str, seeds: Sequence[int],
           target: str = "") -> Starts:
    """The weights of each starting point, made as `starting_points.made` has it; each fine-tuning seed goes on from a
    pre-training of its own. The continued pre-training is on `target`. BadInput for an unknown name."""
    if unknown := set(names) - set(NAMES):
        raise BadInput(f"no starting point {sorted(unknown)[0]}", mend=f"choose from {', '.join(NAMES)}")
    start, by_seed = made(pretraining, texts, backbone, seeds)

    def weights(name: str, own: Mapping[str, Pretraining]) -> Step | None:
        if name == START:
            return start.model if start.epochs else None
        return (own[CONDENSER].continued(target, CONTINUED_EPOCHS, CONTINUED_RATE) if name == CONTINUED else own[name]).model

    return {name: {seed: weights(name, own) for seed, own in by_seed.items()} for name in NAMES if name in names}


def untouched(pretraining: str, backbone: str) -> str:
    """What the fine-tunings start from where nothing was pre-trained before the branches; empty else."""
    return "" if PRETRAININGS[pretraining]["start_epochs"] else backbone


def beside_the_study(systems: BySize, table: str, columns: Mapping[int, str], measure: str) -> Fragment:
    """A table of the study beside this run, a part for each training size, whose column `columns` names; the effects of all sizes
    in one figure."""
    if not systems:
        return page.prose()
    rows = {size: {STUDIED[start]: system for (start, n), system in systems.items() if n == size} for size in columns}
    base = STUDIED[START]
    parts: list[Fragment] = []
    effects: dict[str, tuple[float, Interval]] = {}
    for size, column in columns.items():
        parts.append(beside_published(STUDY, table, column, measure, rows[size], base, pictured=False))
        tests = {row: system.against(rows[size][base], measure) for row, system in rows[size].items() if row != base}
        own = effects_beside(STUDY, table, column, tests, base)
        effects |= {f"{row}, {column.rpartition(' / ')[2]}": pair for row, pair in own.items()}
    caption = f"Effects in {measure} by training set, published and measured."
    drawn = plots.forest(effects, f"difference from {base}", caption).html if effects else ""
    return Fragment("".join(part.html for part in parts) + drawn,
                    data={"values": [value for part in parts for value in part.data["values"]]})


def columns(sizes: Sequence[int], of_study: Sequence[str]) -> dict[int, str]:
    """The study's column that stands for each size: the first for the smallest of several, the last for the largest."""
    if not 1 <= len(sizes) <= len(of_study):
        raise BadInput(f"{len(sizes)} training sizes", mend=f"give one to {len(of_study)}, smallest first, 0 for all")
    return dict(zip(sizes, [*of_study[:len(sizes) - 1], of_study[-1]], strict=True))


def rest_of_table(table: str, measures: Mapping[str, str], systems: BySize, references: Systems,
                  sizes: Mapping[int, str]) -> Fragment:
    """The other columns of a table of the study, with what this run measured of them.

    Args:
        measures: what stands for a column here; empty for one that was not run.
        references: by the study's names of their rows.
        sizes: the training sizes of this run in words.
    """
    printed, records = published.cells(STUDY, table), []
    for column, measure in measures.items():
        for row in dict.fromkeys(row for row, own in printed if own.startswith(column)):
            starts = [start for start, studied in STUDIED.items() if studied == row]
            record: dict[str, Any] = {"column": column, "system": row, "published": _shown(printed.get((row, column)))}
            record |= {suffix: _shown(printed.get((row, f"{column} / {suffix}"))) for suffix in SUFFIXES}
            for size, name in sizes.items():
                system = references.get(row) or next((systems[start, size] for start in starts if (start, size) in systems), None)
                record[f"here, {name}"] = measured(plain(system.mean(measure).mean), system) if measure and system else "not run"
            records.append(record)
    return page.records_table(f"{published.published_name(STUDY)}, table {table}: the other columns, published and here", records,
                              numeric_from=2)


def _shown(entry: published.Entry | None) -> str:
    return entry.shown if entry else ""


def curves(systems: BySize, examples: Mapping[int, int], measure: str, what: str, caption: str, references: Systems = NONE,
           printed: Mapping[str, Mapping[int, float]] = NONE) -> Fragment:
    """The measure over the number of examples that each size stands for, a line for each starting point, with intervals over
    seeds; `what` are the examples. Flat lines are `references`, hollow points what the study printed (`printed_curves`). One size
    makes no curve."""
    if not systems or len(examples) < 2:
        return page.prose("" if systems else LEFT_OUT)
    lines: dict[str, dict[int, pd.Series]] = {}
    for (start, size), system in systems.items():
        lines.setdefault(start, {})[examples[size]] = seed_means(system)[measure]
    frames = {start: pd.DataFrame(means).T.sort_index() for start, means in lines.items()}
    return plots.seed_curves(frames, what, measure, caption, {name: own.mean(measure).mean for name, own in references.items()},
                             {start: pd.Series(own) for start, own in printed.items() if start in lines})


def printed_curves(table: str, columns: Mapping[str, int]) -> dict[str, dict[int, float]]:
    """What the study printed of each starting point, by the number of its examples: `columns` has that of each column."""
    cells = published.cells(STUDY, table)
    return {start: {examples: cells[row, column].amount for column, examples in columns.items()}
            for start, row in STUDIED.items() if all((row, column) in cells for column in columns)}


def seed_means(system: Evaluation) -> pd.DataFrame:
    """The means of each seed, a column a measure."""
    if system.seed_means is None:
        raise BadInput("one seed has no interval", mend="give at least two seeds")
    return system.seed_means


def leads(systems: BySize, sizes: Mapping[int, str], measure: str) -> dict[tuple[str, int], Paired]:
    """Every starting point compared with the start at the same size, with p corrected by Holm's method over all of them."""
    return corrected({(start, size): system.against(systems[START, size], measure) for size in sizes
                      for (start, n), system in systems.items() if n == size and start != START})


def gap_table(systems: BySize, sizes: Mapping[int, str], measure: str) -> Fragment:
    """For each size and starting point: mean, spread over seeds, difference from the start, tests (Holm over the table)."""
    if not systems:
        return page.prose()
    tests, rows = leads(systems, sizes, measure), []
    for start, size in sorted(systems, key=lambda place: (list(sizes).index(place[1]), NAMES.index(place[0]))):
        system = systems[start, size]
        rows.append([sizes[size], start, measured(plain(system.mean(measure).mean), system),
                     plain(float(seed_means(system)[measure].std())), *test_cells(tests.get((start, size)))])
    header = ("training set", "starting point", measure, "standard deviation over seeds", "difference from the start",
              "p (t, perm.)")
    return page.show_table(f"{measure} by training set and starting point", header, rows, numeric_from=2)


def share_table(systems: BySize, names: Mapping[int, str], measure: str) -> Fragment:
    """What the head adds after fine-tuning, for each size, over pre-trainings, fine-tunings and queries together."""
    pairs = {names[size]: (systems[CONDENSER, size], systems[MLM, size]) for size in names
             if {(CONDENSER, size), (MLM, size)} <= set(systems)}
    if not pairs:
        return page.prose("Without both branches there is no share of the head to look for.")
    return differences_table(f"What the head adds, in {measure}: Condenser (first), masked words alone (second)", pairs, measure)


def why_untrained(systems: BySize, sizes: Sequence[int], measure: str, bar: Evaluation | None = None) -> str:
    """What shows that the fine-tunings failed; empty if nothing does.

    With the largest set (the last size) one of them should reach `bar`, a baseline that the study's models pass; without a bar
    more training data should not lower the score of a starting point.
    """
    if bar is None:
        for small, large in pairwise(sizes):
            for start in {start for start, _ in systems}:
                before, after = systems[start, small], systems[start, large]
                if sure_sign(after, before, measure) < 0:
                    return f"more training data lowered {measure}, from {scored(before, measure)} to {scored(after, measure)}"
        return ""
    best = max((system for (_, n), system in systems.items() if n == sizes[-1]), key=lambda system: system.mean(measure).mean)
    return "" if sure_sign(best, bar, measure) >= 0 else (
        f"{measure} of the best, {scored(best, measure)}, is far below {scored(bar, measure)}, which the study's models pass")


def sure_sign(system: Evaluation, other: Evaluation, measure: str) -> int:
    """1 for a system that is significantly above another, -1 for one that is below, 0 for neither."""
    comparison = system.against(other, measure)
    return int(np.sign(comparison.difference.mean)) if comparison.p_permutation < ALPHA else 0


def scored(system: Evaluation, measure: str) -> str:
    """A system with its mean: `0.015 (backbone, 250)`."""
    return f"{plain(system.mean(measure).mean)} ({system.label})"


def size_names(sizes: Sequence[int], everything: int, what: str) -> dict[int, str]:
    """Training sizes in words: `250 queries`, `all 2,076 queries`."""
    return {size: f"{count(size)} {what}" if size else f"all {count(everything)} {what}" for size in sizes}
