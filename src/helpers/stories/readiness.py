"""What the chapters on Condenser share: starting points, training sizes, curves over sizes, and the distance from the start."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import pandas as pd

from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.pages import page, plots
from helpers.pages.compare import above, differences_table, mean_link, measures_table, test_cells
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain
from helpers.steps import Step
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.starting_points import BRANCHES, CONDENSER, CONTINUED, MLM, NAMES, PRETRAININGS, START, Pretraining, made

STUDY = "gao2021"
# rows of tables 1 to 4, and of the branches that the study does not have the name of such a row
STUDIED = {START: "BERT", CONDENSER: "BERT + CD", CONTINUED: "BERT + CD + CT",
           **{branch: f"BERT {branch}" for branch in BRANCHES if branch != CONDENSER}}
HEADS = tuple(branch for branch in BRANCHES if branch != MLM)
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


def curves(systems: BySize, examples: Mapping[int, int], measure: str, what: str, caption: str, references: Systems = NONE,
           printed: Mapping[str, Mapping[int, float]] = NONE) -> Fragment:
    """The measure over the number of examples that each size stands for, a line for each starting point, with intervals over
    seeds; `what` are the examples. Flat lines are `references`, hollow points what the study printed (`printed_curves`). One size
    makes no curve: then the references make a table."""
    if not systems:
        return page.prose(LEFT_OUT)
    if len(examples) < 2:
        return measures_table("Encoders as they are, not fine-tuned", references, [measure])
    lines: dict[str, dict[int, pd.Series]] = {}
    for (start, size), system in systems.items():
        lines.setdefault(start, {})[examples[size]] = seed_means(system)[measure]
    frames = {start: pd.DataFrame(means).T.sort_index() for start, means in lines.items()}
    caption = f"{caption} Bars are t-intervals over the few seeds alone."
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


def gap_table(systems: BySize, sizes: Mapping[int, str], measure: str) -> Fragment:
    """For each size and starting point: mean, spread over seeds, difference from the start, p; no
    differences where the start is left out."""
    if not systems:
        return page.prose()
    tests = {(start, size): system.against(systems[START, size], measure)
             for (start, size), system in systems.items() if start != START and (START, size) in systems}
    places = sorted(systems, key=lambda place: (list(sizes).index(place[1]), NAMES.index(place[0])))
    rows = [[sizes[size], start, mean_link(systems[start, size], measure),
             plain(float(seed_means(systems[start, size])[measure].std())), *test_cells(tests.get((start, size)))]
            for start, size in places]
    header = ("training set", "starting point", measure, "standard deviation over seeds", "difference from the start",
              "p")
    return page.show_table(f"{measure} by training set and starting point", header, rows, numeric_from=2)


def share_table(systems: BySize, names: Mapping[int, str], measure: str) -> Fragment:
    """What each head adds after fine-tuning, for each size, over pre-trainings, fine-tunings and queries together."""
    pairs = {f"{head}, {names[size]}": (systems[head, size], systems[MLM, size]) for head in HEADS for size in names
             if {(head, size), (MLM, size)} <= set(systems)}
    if not pairs:
        return page.prose("Without both branches there is no share of the head to look for.")
    caption = f"What a head adds, in {measure}: the branch with it (first), masked words alone (second)"
    return differences_table(caption, pairs, measure)


def why_untrained(systems: BySize, sizes: Sequence[int], measure: str) -> str:
    """What shows that the fine-tunings failed: more training data lowered a starting point's score; empty if nothing does."""
    for small, large in pairwise(sizes if systems else ()):
        for start in {start for start, _ in systems}:
            before, after = systems[start, small], systems[start, large]
            if above(before, after, measure):
                return f"more training data lowered {measure}, from {scored(before, measure)} to {scored(after, measure)}"
    return ""


def scored(system: Evaluation, measure: str) -> str:
    """A system with its mean: `0.015 (backbone, 250)`."""
    return f"{plain(system.mean(measure).mean)} ({system.label})"


def size_names(sizes: Sequence[int], everything: int, what: str) -> dict[int, str]:
    """Training sizes in words: `250 queries`, `all 2,076 queries`."""
    return {size: f"{count(size)} {what}" if size else f"all {count(everything)} {what}" for size in sizes}
