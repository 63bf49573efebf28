"""A re-ranker of whole documents: BERT on the first tokens (FirstP) or on windows, or a Longformer (Alarfaj 2022, chapter 5).

    first = document_reader(length=256)
    replace(first, max_length=512)                              # reads more
    longformer = first.longformer(1024)
    replace(longformer, max_length=4096, shorter=longformer)    # as a longer one, which goes on from it
    replace(first, words=WORDS, overlap=OVERLAP)                # one window after the other

All go on from one model that judges pairs, with the same queries, labels and schedule: what they read, and how they attend to
it, is all that tells them apart.
"""

from dataclasses import dataclass, replace
from typing import Any

from helpers.data.collection import open_collection
from helpers.networks.longformer import lengthened, longformer_of
from helpers.registry import Registry
from helpers.steps import Step
from helpers.systems.listwise_reranker import ListwiseReranker
from helpers.systems.recipe import LOSSES, recipe
from helpers.systems.testbed import Testbed


@dataclass(frozen=True, kw_only=True)
class DocumentReader(ListwiseReranker):
    """Learns from documents as it will read them: cut at `max_length`, or into windows of `words`."""

    attention_window: int | None = None  # makes `start` a Longformer whose tokens attend to so many others, see `longformer_of`
    shorter: "DocumentReader | None" = None  # a Longformer to go on from instead, see `lengthened`

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.attention_window is not None and self.start is None:
            raise ValueError("a Longformer is made from a model that judges pairs: give `start`")

    @property
    def origin(self) -> Step | None:
        """The shorter Longformer's model, or that of `start`, as a Longformer if it is to become one."""
        if self.shorter is not None:
            return lengthened(self.shorter.model, self.max_length)
        if self.start is None or self.attention_window is None:
            return super().origin
        return longformer_of(self.start.model, self.attention_window, self.max_length)

    def reading(self, bed: Testbed) -> Testbed:
        """A testbed whose documents are cut as this model reads them."""
        return replace(bed, words=self.words, overlap=self.overlap)

    def longformer(self, length: int, attention_window: int = 256, backbone: str = "") -> "DocumentReader":
        """The Longformer of so many tokens, made from the same start; or one that was pre-trained, if its `backbone` is named."""
        if backbone:
            return replace(self, max_length=length, start=None, backbone=backbone)
        return replace(self, max_length=length, attention_window=attention_window)


TRAININGS: Registry[dict[str, Any]] = Registry("training of a reader", {
    # chosen by the loss on held-out training queries: with BM25's negatives alone and at 5e-5 it ended where it began
    "chosen": {"negatives": "both", "size": 4, "batch_size": 2, "learning_rate": 2e-5},
    # Alarfaj 2022, section 6.1.1: one random document beside the relevant one, batches of 16 documents
    "study": {"negatives": "random", "size": 2, "batch_size": 8, "learning_rate": 3e-6},
})


def document_reader(collection: str = "almanac", backbone: str = "packaged", queries: int = 200, warm_up: int = 14_000,
                    length: int = 256, epochs: int = 1, training: str = "chosen") -> DocumentReader:
    """BERT on the first tokens of a document, fine-tuned on the judgments of documents.

    Args:
        queries: training queries, 0 for all.
        warm_up: pseudo-queries of the warm-up without labels that it starts from, 0 for none.
        length: tokens of query and document together.
        training: one of `TRAININGS`.
    """
    start = recipe(collection, backbone=backbone, warm_up=warm_up).start
    return DocumentReader(collection=collection, unit=min(open_collection(collection).units), backbone=backbone, queries=queries,
                          start=start, losses=LOSSES["LCE"], max_length=length, epochs=epochs, evaluations=5,
                          evaluation_queries=40, **TRAININGS[training])
