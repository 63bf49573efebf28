"""The book's base model: trained once on labelled passages, shared by every chapter that needs a good re-ranker."""

from dataclasses import replace

from helpers.data.collection import open_collection
from helpers.data.windows import WHOLE
from helpers.systems.reranker import Reranker


def base_reranker(collection: str = "almanac", backbone: str = "packaged", queries: int = 1500, epochs: int = 3,
                  negatives: int = 3, learning_rate: float = 1e-4, seed: int = 1, unit: str = "") -> Reranker:
    """A cross-encoder fine-tuned on one relevant text and some of BM25's candidates for each training query.

    Args:
        queries: of the collection's training queries, 0 for all.
        negatives: candidates of a query that are not relevant.
        seed: of the head and the order of the pairs; the draws are the same for all.
        unit: `passage`, or `document` read in windows; by default passages, if the collection judges any.
    """
    unit = unit or max(open_collection(collection).units)
    return Reranker(collection, unit, queries=queries, positives=1, negatives=negatives, backbone=backbone,
                    learning_rate=learning_rate, evaluation_queries=200, seed=seed, data_seed=1).for_epochs(epochs)


def long_document_reranker(start: Reranker, length: int, queries: int, attention_window: int = 0, negatives: int = 2,
                 learning_rate: float = 3e-5, longformer: str = "") -> Reranker:
    """The base model trained on for one epoch on whole documents, cut at a length: BERT, or a Longformer made from it.

    Alarfaj (2022) trains his models from their pre-training on. Here both go on from one fine-tuned BERT, so that what they read,
    and how they attend to it, is all that tells them apart.

    Args:
        length: tokens of query and document together.
        queries: training queries, 0 for all.
        attention_window: of the Longformer; 0 for BERT.
        longformer: a pre-trained Longformer to fine-tune instead, as a backbone's spec such as `hub:<name>@<revision>`.
    """
    origin = start if not longformer else replace(start, backbone=longformer)
    return replace(origin, unit="", queries=queries, negatives=negatives, learning_rate=learning_rate, epochs=1,
                   evaluations=3, evaluation_queries=40, max_length=length, words=WHOLE, overlap=0,
                   start=None if longformer else start, attention_window=None if longformer else attention_window or None)
