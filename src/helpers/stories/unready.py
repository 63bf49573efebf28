"""RepBERT from starts that do not know the answer: what the method does where nobody has taught a model to compare texts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from helpers.pages import page, plots, stages, training
from helpers.pages.compare import above, differences_table, measures_table
from helpers.pages.fragments import Fragment
from helpers.systems import starting_points
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation, Systems, evaluate_seeds, evaluate_values
from helpers.systems.testbed import Testbed

MEASURE = "RR@10"
EPOCHS = 3  # passes over all training queries
RATE = 1e-4  # the peak: a start that has all to learn bears more than one that is nearly there
SEEDS = {starting_points.START: 2}  # of the starts that take long to train, so many; of the others all
CALLED = {"packaged:0,1,2": "three layers", starting_points.START: "masked words"}
SIGNS = {  # of a start, in the order of `_outcomes`
    "packaged:0,1,2": ("from three layers, the training adds much", "from three layers, RepBERT ends below BM25",
                       "from three layers, RepBERT's lists surely hold more than BM25's",
                       "from three layers, the held-out losses have levelled"),
    starting_points.START: ("from masked words, the training adds much", "from masked words, RepBERT ends below BM25",
                            "from masked words, RepBERT's lists surely hold more than BM25's",
                            "from masked words, the held-out losses have levelled")}
LEFT_OUT = "This run leaves the section out: it takes starts, `other_starts`."

Trained = Mapping[str, Sequence[BiEncoder]]  # by start, a training for each seed


def called(start: str) -> str:
    """A start in words, where the book has some for it."""
    return CALLED.get(start, start)


def untouched(start: str) -> str:
    """The name of a start's row before its training."""
    return f"the start ({called(start)})"


def trained_from(start: str) -> str:
    """The name of its row afterwards."""
    return f"RepBERT from {called(start)}"


def models(repbert: BiEncoder, starts: Sequence[str], seeds: Sequence[int]) -> dict[str, list[BiEncoder]]:
    """The training of RepBERT with all training queries from other starts, over seeds.

    Args:
        starts: backbones; `start` is the chapter *Condenser*'s, RepBERT's backbone after a long training on masked words.
    """
    def begun(start: str) -> BiEncoder:
        if start == starting_points.START:
            return replace(repbert, start=starting_points.chosen_start(repbert.backbone).model)
        return replace(repbert, backbone=start)

    return {start: [replace(begun(start), queries=0, epochs=EPOCHS, learning_rate=RATE, own_articles=True, seed=seed)
                    for seed in seeds[:SEEDS.get(start)]] for start in starts}


def systems(trained: Trained, bed: Testbed, depth: int) -> dict[str, Evaluation]:
    """Each start, of which the values are kept, and what became of it, over seeds."""
    measures, rows = stages.measures_at(depth), {}
    for start, own in trained.items():
        rows[untouched(start)] = evaluate_values(untouched(start), own[0].zero_shot().run(bed, depth), bed, measures)
        name = trained_from(start)
        rows[name] = evaluate_seeds(name, [encoder.run(bed, depth) for encoder in own], bed, measures)
    return rows


def taught(starts: Sequence[str], own: Systems) -> dict[str, Evaluation]:
    """What became of the starts, without these themselves."""
    return {name: own[name] for name in map(trained_from, starts)}


def curves(trained: Sequence[BiEncoder]) -> dict[str, pd.Series]:
    """The loss on held-out queries over the steps of every training."""
    return {f"seed {model.seed}": training.curve(model.log.value(), "eval_loss") for model in trained}


def losses(lines: Mapping[str, Mapping[str, pd.Series]]) -> Fragment:
    """These losses of every start in a figure: whether they fell, and levelled."""
    if not lines:
        return page.prose(LEFT_OUT)
    flat = {f"{called(start)}, {seed}": line for start, own in lines.items() for seed, line in own.items()}
    return plots.curves(flat, "optimiser steps", "multi-label margin loss", "Loss on held-out queries, by start and seed.")


def table(own: Systems, bm25: Evaluation) -> Fragment:
    """BM25, each start and what became of it, in all measures."""
    if not own:
        return page.prose()
    return measures_table("From starts that do not know the answer", {"BM25": bm25, **own}, [MEASURE, stages.recall_of(bm25)])


def comparisons(starts: Sequence[str], own: Systems, bm25: Evaluation) -> Fragment:
    """What the training adds, and whether that is enough to pass BM25: over trainings and queries together."""
    if not own:
        return page.prose()
    pairs = {f"{trained_from(start)}, and {what}": (own[trained_from(start)], other) for start in starts
             for what, other in (("the start", own[untouched(start)]), ("BM25", bm25))}
    return differences_table("What the training adds (first less second)", pairs, MEASURE)


def signs(lines: Mapping[str, Mapping[str, pd.Series]], own: Systems, bm25: Evaluation) -> dict[str, bool]:
    """What the discussion rests on, of each of the book's starts, and of both beside each other."""
    layers, words = (own.get(trained_from(start)) for start in CALLED)
    beside = {} if layers is None or words is None else {
        "RepBERT from masked words surely ranks above RepBERT from three layers": above(words, layers, MEASURE)}
    return beside | {sign: true for start in lines if start in SIGNS for sign, true in zip(
        SIGNS[start], _outcomes(own[trained_from(start)], own[untouched(start)], bm25, lines[start]), strict=True)}


def _outcomes(trained: Evaluation, start: Evaluation, bm25: Evaluation, lines: Mapping[str, pd.Series]) -> tuple[bool, ...]:
    return (above(trained, start, MEASURE), above(bm25, trained, MEASURE), above(trained, bm25, stages.recall_of(bm25)),
            all(training.levelled(line) for line in lines.values()))
