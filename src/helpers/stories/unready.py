"""RepBERT from a start that does not know the answer: what the method does where nobody has taught a model to compare texts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from helpers.pages import page, plots
from helpers.pages.compare import above, differences_table, measures_table
from helpers.pages.fragments import Fragment
from helpers.stories import stages, training
from helpers.stories.held_out import levelled
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation, Systems, evaluate_seeds
from helpers.systems.testbed import Testbed

MEASURE = "RR@10"
EPOCHS = 3  # passes over all training queries
RATE = 1e-4  # the peak: a start that has all to learn bears more than one that is nearly there
START, TRAINED = "the start as it is", "RepBERT from this start"
LEFT_OUT = "This run leaves the section out: it takes a start, `other_start`."


def models(repbert: BiEncoder, start: str, seeds: Sequence[int]) -> list[BiEncoder]:
    """The training of RepBERT on another backbone, over seeds, with all training queries; none without a start."""
    alike = replace(repbert, backbone=start, queries=0, epochs=EPOCHS, learning_rate=RATE, own_articles=True)
    return [replace(alike, seed=seed) for seed in seeds] if start else []


def systems(trained: Sequence[BiEncoder], bed: Testbed, depth: int) -> dict[str, Evaluation]:
    """The start and what became of it, over seeds; nothing without a training."""
    if not trained:
        return {}
    systems = {START: [trained[0].zero_shot()], TRAINED: trained}
    return {name: evaluate_seeds(name, [model.run(bed, depth) for model in models], bed, stages.measures_at(depth))
            for name, models in systems.items()}


def curves(trained: Sequence[BiEncoder]) -> dict[str, pd.Series]:
    """The loss on held-out queries over the steps of every training."""
    return {f"seed {model.seed}": training.curve(model.log.value(), "eval_loss") for model in trained}


def losses(lines: Mapping[str, pd.Series]) -> Fragment:
    """These losses in a figure: whether they fell, and levelled."""
    if not lines:
        return page.prose(LEFT_OUT)
    return plots.curves(lines, "optimiser steps", "multi-label margin loss", "Loss on held-out queries, from this start.")


def table(own: Systems, bm25: Evaluation) -> Fragment:
    """BM25, the start and what became of it, in all measures."""
    if not own:
        return page.prose("")
    return measures_table("From a start that does not know the answer", {"BM25": bm25, **own}, list(map(str, bm25.values)))


def comparisons(own: Systems, bm25: Evaluation) -> Fragment:
    """What the training adds, and whether that is enough to pass BM25: over trainings and queries together."""
    if not own:
        return page.prose("")
    pairs = {"trained, and the start": (own[TRAINED], own[START]), "trained, and BM25": (own[TRAINED], bm25)}
    return differences_table("What the training adds (first less second)", pairs, MEASURE)


def signs(own: Systems, bm25: Evaluation, lines: Mapping[str, pd.Series]) -> dict[str, bool]:
    """What the discussion rests on; none without a training."""
    if not own:
        return {}
    trained = own[TRAINED]
    return {"from a start that ranks badly, the training adds much": above(trained, own[START], MEASURE),
            "from a start that ranks badly, RepBERT ends above BM25": above(trained, bm25, MEASURE),
            "from a start that ranks badly, RepBERT ends below BM25": above(bm25, trained, MEASURE),
            "from a start that ranks badly, RepBERT's lists surely hold more than BM25's":
                above(trained, bm25, stages.recall_of(bm25)),
            "from a start that ranks badly, the held-out losses have levelled": all(levelled(line) for line in lines.values())}
