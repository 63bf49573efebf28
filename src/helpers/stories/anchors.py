"""And today? RepBERT's start, trained by what came after: hard negatives without false ones, and a cross-encoder's margins.

Both learn from the first texts of RepBERT's own ranking, which the book's base re-ranker reads beside the relevant passage. They
train anew, as RepBERT did and for as many passes: going on from RepBERT would add the passes to what is compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from helpers.pages import page, stages
from helpers.pages.compare import above, differences_table, lead, measures_table
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import plain
from helpers.pages.training import levelled
from helpers.registry import Registry
from helpers.stories import late_interaction, unready
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation, Systems, evaluate_seeds
from helpers.systems.recipe import recipe
from helpers.systems.testbed import Testbed

LEFT_OUT = "This run leaves the rows out: `-p today '[\"hard negatives\", \"MarginMSE\"]'` trains them, once a seed."
READ = 10  # candidates of a training query that the cross-encoder reads
# RepBERT's margins over these are a quarter of the base's in the mean (training queries), so its inner products count fourfold
SCALE = 0.25
HARD, MARGINS = "hard negatives", "MarginMSE"
ANCHORS: Registry[dict[str, Any]] = Registry("anchor", {
    HARD: {},  # RepBERT's loss
    MARGINS: {"loss": "margin_mse", "temperature": SCALE},
})


def models(others: unready.Trained, names: Sequence[str]) -> dict[str, list[BiEncoder]]:
    """Each anchor from the first of the starts, over RepBERT's seeds, with the negatives of its first training, as these share
    their queries."""
    trained = next(iter(others.values()), ())
    if not trained or not names:
        return {}
    base = recipe(trained[0].collection, trained[0].unit).start
    hard = [replace(model, negatives=1, candidates=READ, negatives_from=trained[0], denoised_by=base) for model in trained]
    return {name: [replace(model, **ANCHORS[name]) for model in hard] for name in names if name != late_interaction.NAME}


def systems(trained: Mapping[str, Sequence[BiEncoder]], bed: Testbed, depth: int) -> dict[str, Evaluation]:
    """The anchors, over seeds."""
    return {name: evaluate_seeds(name, [model.run(bed, depth) for model in own], bed, stages.measures_at(depth))
            for name, own in trained.items()}


def table(anchors: Systems, taught: Systems, bm25: Evaluation) -> Fragment:
    """BM25, RepBERT from the same start, the first of those that were `taught`, and the anchors, in all measures."""
    if not anchors:
        return page.prose(LEFT_OUT)
    repbert = next(iter(taught.values()))
    return measures_table("And today?", {"BM25": bm25, repbert.label: repbert, **anchors},
                          [unready.MEASURE, stages.recall_of(bm25)])


def comparisons(anchors: Systems, taught: Systems) -> Fragment:
    """Each anchor less RepBERT: over trainings and queries together."""
    if not anchors:
        return page.prose()
    repbert = next(iter(taught.values()))
    pairs = {f"{name}, and {repbert.label}": (anchor, repbert) for name, anchor in anchors.items()}
    return differences_table("What each adds (first less second)", pairs, unready.MEASURE)


def curves(trained: Mapping[str, Sequence[BiEncoder]]) -> dict[str, dict[str, pd.Series]]:
    """The loss on held-out queries over the steps of every training, by anchor."""
    return {name: unready.curves(own) for name, own in trained.items()}


def learning_table(lines: Mapping[str, Mapping[str, pd.Series]]) -> Fragment:
    """Whether they learned; their losses are of different kinds, so that only the numbers of a row compare."""
    return page.records_table("Loss on held-out queries, each by its own measure", [
        {"encoder": name, "training": seed, "before": plain(losses.iloc[0]), "lowest": plain(losses.min()),
         "at the end": plain(losses.iloc[-1])} for name, own in lines.items() for seed, losses in own.items()])


def signs(anchors: Systems, taught: Systems, bm25: Evaluation, lines: Mapping[str, Mapping[str, pd.Series]]) -> dict[str, bool]:
    """What the discussion rests on; nothing of anchors that are not run."""
    found: dict[str, bool] = {}
    trained, measure = next(iter(taught.values()), None), unready.MEASURE
    if trained and (hard := anchors.get(HARD)):
        found |= {"hard negatives raise RepBERT's mean from the same start": lead(hard, trained, measure) > 0,
                  "with hard negatives, RepBERT surely ranks above RepBERT without them": above(hard, trained, measure),
                  "with hard negatives, RepBERT still ranks below BM25": above(bm25, hard, measure),
                  "with hard negatives, the held-out losses have levelled": all(map(levelled, lines[HARD].values()))}
    if trained and (margins := anchors.get(MARGINS)):
        found |= {"MarginMSE raises RepBERT's mean from the same start": lead(margins, trained, measure) > 0,
                  "with MarginMSE, the lists hold less in the mean": lead(margins, trained, stages.recall_of(bm25)) < 0}
    return found
