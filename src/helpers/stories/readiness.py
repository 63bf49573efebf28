"""What the chapters on Condenser share: starting points, training sizes, curves over sizes, and where the gap closes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pandas as pd

from helpers.data.collection import open_collection
from helpers.errors import BadInput
from helpers.evaluation.verdicts import ALPHA
from helpers.pages import page, plots
from helpers.pages.compare import against_published, corrected_p, measured, test_cells
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain, signed
from helpers.steps import Step
from helpers.stories.wording import joined
from helpers.systems.evaluated import Evaluation
from helpers.systems.starting_points import BACKBONE, CONDENSER, CONTINUED, MLM, NAMES, Pretraining, portion, pretrainings

STUDY = "gao2021"
STUDIED = {BACKBONE: "BERT", MLM: "BERT + MLM", CONDENSER: "BERT + CD", CONTINUED: "BERT + CD + CT"}  # rows of tables 1 to 4
CONTINUED_EPOCHS, CONTINUED_RATE = 2, 5e-5  # of the continued pre-training; the rate is half of the first one's
MISSING = "it needs a starting point that these parameters leave out"

Systems = Mapping[tuple[str, int], Evaluation]  # by starting point and training size


def recipe(texts: str, unit: str, backbone: str, epochs: int) -> Pretraining:
    """The Condenser pre-training of all these chapters; what has no queries is read whole."""
    split = "test" if "test" in open_collection(portion(texts)[0]).splits else ""
    return Pretraining(texts, unit, split, backbone, epochs=epochs)


def starts(names: Sequence[str], pretraining: Pretraining, target: str,
           continued_epochs: int = CONTINUED_EPOCHS) -> dict[str, Step | None]:
    """The weights that each named starting point gives; None for the backbone's own.

    Args:
        names: of the starting points.
        pretraining: Condenser's.
        target: the collection that the continued pre-training reads.
        continued_epochs: passes over it.

    Raises:
        BadInput: for an unknown name, or none at all.
    """
    if unknown := set(names) - set(NAMES):
        raise BadInput(f"no starting point {sorted(unknown)[0]!r}", mend=f"choose from {', '.join(NAMES)}")
    if not names:
        raise BadInput("no starting point is given", mend=f"choose from {', '.join(NAMES)}")
    made = pretrainings(pretraining, target, continued_epochs, CONTINUED_RATE)
    return {name: None if name == BACKBONE else made[name].model for name in NAMES if name in names}


def study_rows(systems: Systems, size: int) -> dict[str, Evaluation]:
    """The systems of one training size by the study's row labels."""
    return {STUDIED[start]: system for (start, n), system in systems.items() if n == size}


def beside_the_study(systems: Systems, table: str, columns: Mapping[int, str], measure: str) -> Fragment:
    """A table of the study beside this run, a part for each training size.

    Args:
        systems: the backbone's must be among them.
        table: the study's table.
        columns: its column for each training size.
        measure: of the evaluations.
    """
    parts = [against_published(STUDY, table, column, measure, study_rows(systems, size), STUDIED[BACKBONE])
             for size, column in columns.items()]
    return Fragment("".join(part.html for part in parts),
                    data={"values": [value for part in parts for value in (part.data or {})["values"]]})


def columns(sizes: Sequence[int], of_study: Sequence[str]) -> dict[int, str]:
    """The study's column that stands for each size: the first for the smallest, the last for the largest.

    Raises:
        BadInput: for more sizes than the study has, or fewer than two: there would be nothing to compare.
    """
    if not 2 <= len(sizes) <= len(of_study):
        raise BadInput(f"{len(sizes)} training sizes", mend=f"give two to {len(of_study)}, smallest first, 0 for all")
    return dict(zip(sizes, [*of_study[:len(sizes) - 1], of_study[-1]], strict=True))


def curves(systems: Systems, examples: Mapping[int, int], measure: str, what: str, caption: str) -> Fragment:
    """The measure over the training size, a line for each starting point, with intervals over seeds.

    Args:
        systems: by starting point and size.
        examples: for each size, how many examples that is (0 stands for all of them).
        measure: of the evaluations.
        what: the axis counts.
        caption: the line below.
    """
    lines: dict[str, dict[int, pd.Series]] = {}
    for (start, size), system in systems.items():
        lines.setdefault(start, {})[examples[size]] = seed_means(system)[measure]
    frames = {start: pd.DataFrame(found).T.sort_index() for start, found in lines.items()}
    return plots.seed_curves(frames, what, measure, caption)


def seed_means(system: Evaluation) -> pd.DataFrame:
    """The means of each seed, a column a measure."""
    if system.seed_means is None:
        raise BadInput("one seed has no interval", mend="give at least two seeds")
    return system.seed_means


def gap_table(systems: Systems, sizes: Mapping[int, str], measure: str) -> Fragment:
    """For each size and starting point: mean, spread over seeds, difference from the backbone, tests (Holm over the table)."""
    pairs = [(size, start) for size in sizes for start, n in systems if n == size and start != BACKBONE]
    found = {(size, start): systems[start, size].against(systems[BACKBONE, size], measure) for size, start in pairs}
    corrected = corrected_p(found)
    rows = []
    for start, size in sorted(systems, key=lambda place: (list(sizes).index(place[1]), NAMES.index(place[0]))):
        system, spread = systems[start, size], seed_means(systems[start, size])[measure].std()
        tests = ["", ""] if start == BACKBONE else test_cells(found[size, start], corrected[size, start])
        rows.append([sizes[size], start, measured(plain(system.mean(measure).mean), system), plain(float(spread)), *tests])
    header = ("training set", "starting point", measure, "standard deviation over seeds", "difference from the backbone",
              "p (t, perm.)")
    return page.show_table(f"{measure} by training set and starting point", header, rows, numeric_from=2)


def gap_sentence(systems: Systems, sizes: Mapping[int, str], measure: str, start: str = CONDENSER) -> str:
    """Where the gap between a starting point and the backbone closes, in words."""
    if (start, next(iter(sizes))) not in systems:
        return ""
    found = {size: systems[start, size].against(systems[BACKBONE, size], measure) for size in sizes}
    corrected = corrected_p(found)
    told = joined([f"{signed(found[size].difference.mean)} ({sizes[size]})" for size in sizes])
    leads = [size for size in sizes if corrected[size] < ALPHA and found[size].difference.mean > 0]
    lags = [size for size in sizes if corrected[size] < ALPHA and found[size].difference.mean < 0]
    said = f"*{start}* against the backbone, {measure}: {told}."
    if lags:
        return f"{said} Where the difference is significant it is against {start} ({joined([sizes[size] for size in lags])})."
    if not leads:
        return f"{said} None of these is significant: there is no gap to close."
    last = list(sizes)[-1]
    return f"{said} The lead is significant with {joined([sizes[size] for size in leads])}" + (
        ", with the largest training set too: it has not closed." if last in leads else
        f"; with {sizes[last]} it is not any more.")


def why_untrained(systems: Systems, sizes: Sequence[int], measure: str, bar: Evaluation | None = None) -> str:
    """What shows that the fine-tunings failed; empty if nothing does.

    Args:
        systems: by starting point and size.
        sizes: smallest first.
        measure: of the evaluations.
        bar: a baseline that the study's fine-tuned models pass; with the largest set one of these should reach it. Without one
            more training data should not lower the score of a starting point.
    """
    if bar is None:
        for small, large in pairwise(sizes):
            for start in {start for start, _ in systems}:
                before, after = systems[start, small], systems[start, large]
                if is_below(after, before, measure):
                    return f"more training data lowered {measure}, from {scored(before, measure)} to {scored(after, measure)}"
        return ""
    best = max((system for (_, n), system in systems.items() if n == sizes[-1]), key=lambda system: system.mean(measure).mean)
    return "" if not is_below(best, bar, measure) else (
        f"{measure} of the best, {scored(best, measure)}, is far below {scored(bar, measure)}, which the study's models pass")


def is_below(system: Evaluation, other: Evaluation, measure: str) -> bool:
    """Whether a system is significantly below another."""
    found = system.against(other, measure)
    return found.difference.mean < 0 and found.p_permutation < ALPHA


def scored(system: Evaluation, measure: str) -> str:
    """A system with its mean: `0.015 (backbone, 250)`."""
    return f"{plain(system.mean(measure).mean)} ({system.label})"


def lead(systems: Systems, size: int, measure: str, start: str = CONDENSER) -> Evaluation:
    """The lead over the backbone with one training size, as a value for each query: for a difference of differences."""
    ours, base = systems[start, size], systems[BACKBONE, size]
    return ours.less(base)


def size_names(sizes: Sequence[int], everything: int, what: str) -> dict[int, str]:
    """Training sizes in words: `250 queries`, `all 2,076 queries`."""
    return {size: f"{count(size)} {what}" if size else f"all {count(everything)} {what}" for size in sizes}


def scale_note() -> Fragment:
    """What so small a pre-training can show, and what not."""
    return page.prose(
        "The study's pre-training reads billions of words on four GPUs for many days; this one reads a tiny fraction of that on "
        "two processor cores in minutes. A lead of Condenser here would say that the head helps even so. No lead says nothing "
        "about the study's own scale: the head starts from random weights and has hardly begun to learn when the pre-training "
        "ends. What can be read off these pages is what so small a budget does to a good encoder, and whether the head does "
        "anything that masked words alone do not.")
