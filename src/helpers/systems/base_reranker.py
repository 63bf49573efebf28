"""The book's base model: trained once on labelled passages, shared by every chapter that needs a good re-ranker."""

from helpers.data.collection import open_collection
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
