"""The recipe of the book's re-rankers: chosen on development queries in the chapter `recipe`, a parameter elsewhere.

    model = recipe(loss="LCE + KL", learning_rate=5e-5)
    replace(model, seed=2)
"""

from dataclasses import replace

from helpers.data.collection import open_collection
from helpers.registry import Registry
from helpers.systems.listwise_reranker import ListwiseReranker, WarmUp
from helpers.systems.testbed import OVERLAP, WORDS

LOSSES: Registry[dict[str, float]] = Registry("recipe's loss", {
    "BCE": {"bce": 1.0},  # the study's
    "LCE": {"lce": 1.0},
    "MarginMSE": {"margin_mse": 0.05},
    "KL": {"kl": 1.0},
    "LCE + KL": {"lce": 1.0, "kl": 1.0},
    "LCE + MarginMSE": {"lce": 1.0, "margin_mse": 0.05},
})


GENERAL_TEXT = "dictionaries"


def recipe(collection: str = "almanac", unit: str = "", backbone: str = "packaged", queries: int = 800, warm_up: int = 14_000,
           loss: str = "BCE", negatives: str = "both", size: int = 8, learning_rate: float = 5e-5,
           epochs: int = 1) -> ListwiseReranker:
    """A re-ranker that is fine-tuned on labelled passages, or on documents where a collection judges nothing else.

    Args:
        unit: `passage`, or `document` read in windows; by default passages, if the collection judges any.
        queries: training queries, 0 for all.
        warm_up: pseudo-queries of the warm-up without labels that it starts from, 0 for none.
        loss: one of `LOSSES`; for the negatives see `ListwiseReranker`.
    """
    source = open_collection(collection)
    finest = max(source.units)  # `passage` comes after `document`
    start = WarmUp(collection=source.home, unit=finest, backbone=backbone, first=warm_up) if warm_up else None
    model = ListwiseReranker(collection=collection, unit=unit or finest, backbone=backbone, queries=queries, start=start,
                             losses=LOSSES[loss], negatives=negatives, size=size, learning_rate=learning_rate, epochs=epochs)
    return model if model.unit == "passage" else replace(model, words=WORDS, overlap=OVERLAP)


def with_general_text(model: ListwiseReranker, text: str = GENERAL_TEXT, queries: int = 12_000) -> ListwiseReranker:
    """The same, whose base has gone on, without labels, with so many pseudo-queries of a collection of general text before it
    was fine-tuned (chapter `human_judgments`); all of them for 0."""
    return replace(model, start=WarmUp(collection=text, backbone=model.backbone, start=model.start, first=queries))


def general_reranker() -> ListwiseReranker:
    """The book's own with general text; BadInput, before anything is computed, where it is not kept and has no text to read."""
    model = with_general_text(recipe())
    if model.model.lookup()[0] is None:
        next(open_collection(GENERAL_TEXT).texts("passage"))
    return model
