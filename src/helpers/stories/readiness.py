"""What the chapters on Condenser share: starting points, training sizes, curves over sizes, and the gap to the backbone."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from helpers.data.collection import open_collection
from helpers.errors import BadInput
from helpers.evaluation.significance import Interval, Paired
from helpers.evaluation.verdicts import ALPHA
from helpers.pages import page, plots
from helpers.pages.compare import beside_published, corrected, effects_beside, measured, test_cells
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain
from helpers.steps import Step
from helpers.systems.evaluated import Evaluation
from helpers.systems.starting_points import BACKBONE, CONDENSER, CONTINUED, MLM, NAMES, Pretraining, portion, pretrainings

STUDY = "gao2021"
STUDIED = {BACKBONE: "BERT", MLM: "BERT + MLM", CONDENSER: "BERT + CD", CONTINUED: "BERT + CD + CT"}  # rows of tables 1 to 4
CONTINUED_EPOCHS, CONTINUED_RATE = 2, 5e-5  # of the continued pre-training; the rate is half of the first one's
MISSING = "it needs a starting point that these parameters leave out"

BySize = Mapping[tuple[str, int], Evaluation]  # by starting point and training size


def recipe(texts: str, unit: str, backbone: str, epochs: int) -> Pretraining:
    """The Condenser pre-training of all these chapters; what has no queries is read whole."""
    split = "test" if "test" in open_collection(portion(texts)[0][0]).splits else ""
    return Pretraining(texts, unit, split, backbone, epochs=epochs)


def starts(names: Sequence[str], pretraining: Pretraining, target: str,
           continued_epochs: int = CONTINUED_EPOCHS) -> dict[str, Step | None]:
    """The weights of each starting point, None for the backbone's own; the continued pre-training is on `target`. BadInput for an
    unknown name, or none at all."""
    if not names or set(names) - set(NAMES):
        raise BadInput(f"no starting point {', '.join(names) or 'is given'}", mend=f"choose from {', '.join(NAMES)}")
    made = pretrainings(pretraining, target, continued_epochs, CONTINUED_RATE)
    return {name: None if name == BACKBONE else made[name].model for name in NAMES if name in names}


def beside_the_study(systems: BySize, table: str, columns: Mapping[int, str], measure: str) -> Fragment:
    """A table of the study beside this run, a part for each training size, whose column `columns` names; the effects of all sizes
    in one figure."""
    rows = {size: {STUDIED[start]: system for (start, n), system in systems.items() if n == size} for size in columns}
    base = STUDIED[BACKBONE]
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
    """The study's column that stands for each of two sizes or more: the first for the smallest, the last for the largest."""
    if not 2 <= len(sizes) <= len(of_study):
        raise BadInput(f"{len(sizes)} training sizes", mend=f"give two to {len(of_study)}, smallest first, 0 for all")
    return dict(zip(sizes, [*of_study[:len(sizes) - 1], of_study[-1]], strict=True))


def curves(systems: BySize, examples: Mapping[int, int], measure: str, what: str, caption: str) -> Fragment:
    """The measure over the number of examples that each size stands for, a line for each starting point, with intervals over
    seeds; `what` are the examples."""
    lines: dict[str, dict[int, pd.Series]] = {}
    for (start, size), system in systems.items():
        lines.setdefault(start, {})[examples[size]] = seed_means(system)[measure]
    frames = {start: pd.DataFrame(means).T.sort_index() for start, means in lines.items()}
    return plots.seed_curves(frames, what, measure, caption)


def seed_means(system: Evaluation) -> pd.DataFrame:
    """The means of each seed, a column a measure."""
    if system.seed_means is None:
        raise BadInput("one seed has no interval", mend="give at least two seeds")
    return system.seed_means


def leads(systems: BySize, sizes: Mapping[int, str], measure: str) -> dict[tuple[str, int], Paired]:
    """Every starting point compared with the backbone at the same size, with p corrected by Holm's method over all of them."""
    return corrected({(start, size): system.against(systems[BACKBONE, size], measure) for size in sizes
                      for (start, n), system in systems.items() if n == size and start != BACKBONE})


def gap_table(systems: BySize, sizes: Mapping[int, str], measure: str) -> Fragment:
    """For each size and starting point: mean, spread over seeds, difference from the backbone, tests (Holm over the table)."""
    tests, rows = leads(systems, sizes, measure), []
    for start, size in sorted(systems, key=lambda place: (list(sizes).index(place[1]), NAMES.index(place[0]))):
        system = systems[start, size]
        rows.append([sizes[size], start, measured(plain(system.mean(measure).mean), system),
                     plain(float(seed_means(system)[measure].std())), *test_cells(tests.get((start, size)))])
    header = ("training set", "starting point", measure, "standard deviation over seeds", "difference from the backbone",
              "p (t, perm.)")
    return page.show_table(f"{measure} by training set and starting point", header, rows, numeric_from=2)


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
