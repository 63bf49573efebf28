"""DeepCT: term weights from context, in an ordinary inverted index (Dai & Callan 2019, arXiv:1910.10687).

    model = DeepCT(queries=1500)
    run = model.run(Testbed("almanac", "passage"), depth=100)     # BM25 over term frequencies that the model predicts

A linear layer over the backbone's last states estimates each word's query-term recall (`term_recall`); the estimate becomes a
term frequency: the word is repeated so often in what Lucene indexes.
"""

from dataclasses import dataclass

from helpers.networks import backbone
from helpers.reranking.cross_encoder import training_log
from helpers.retrieval.bm25 import bm25_run
from helpers.retrieval.deepct_training import deepct
from helpers.retrieval.term_recall import term_recall
from helpers.retrieval.word_weights import SMOOTHINGS, weighted_index, word_weights
from helpers.steps import Step
from helpers.systems.testbed import Testbed


@dataclass(frozen=True)
class DeepCT:
    """Training data, backbone and optimisation of the term weights, and how they are indexed and searched.

    Args:
        collection: whose training queries are used.
        unit: `passage`; of a longer text the words beyond `max_length` are not indexed.
        splits: their splits.
        queries: how many of each split, 0 for all.
        backbone: see `helpers.networks.backbone.resolve`.
        epochs: passes over the relevant passages.
        learning_rate: the peak.
        batch_size: passages a step.
        warmup: share of the steps.
        weight_decay: AdamW's.
        dropout: of hidden states and attention.
        max_length: tokens of a passage.
        evaluation_passages: passages held out for the evaluation loss, at most a tenth.
        evaluations: how often the losses are logged.
        seed: of the output layer, the order and the held-out passages.
        scale: the term frequency of a weight of 1 (N in the study: 100).
        smoothing: `sqrt` takes the square root of a weight before it is scaled, as the authors' later code does; `none`.
        k1: of BM25 over these frequencies, which are larger than counts.
        b: likewise.
    """

    collection: str = "almanac"
    unit: str = "passage"
    splits: tuple[str, ...] = ("train",)
    queries: int = 0
    backbone: str = "packaged"
    epochs: int = 1
    learning_rate: float = 1e-4
    batch_size: int = 16
    warmup: float = 0.1
    weight_decay: float = 0.01
    dropout: float = 0.0
    max_length: int = 256
    evaluation_passages: int = 100
    evaluations: int = 10
    seed: int = 1
    scale: int = 100
    smoothing: str = "sqrt"
    k1: float = 20.0
    b: float = 0.75

    def __post_init__(self) -> None:
        if self.smoothing not in SMOOTHINGS:
            raise ValueError(f"smoothing {self.smoothing!r}: one of {', '.join(SMOOTHINGS)}")

    @property
    def targets(self) -> Step:
        """The query-term recall of the words of the training queries' relevant passages."""
        bed = Testbed(self.collection, self.unit, splits=self.splits, queries=self.queries)
        return term_recall(bed.query_step, bed.qrels_step, bed.min_relevance, bed.store)

    @property
    def model(self) -> Step:
        """The folder of the fine-tuned model."""
        bed = Testbed(self.collection, self.unit, splits=self.splits, queries=self.queries)
        return deepct(self.targets, bed.store, backbone.resolve(self.backbone), self.epochs, self.learning_rate, self.batch_size,
                      self.warmup, self.weight_decay, self.dropout, self.max_length, self.evaluation_passages, self.evaluations,
                      self.seed)

    @property
    def log(self) -> Step:
        """The losses over the training, and its size."""
        return training_log(self.model)

    def weights(self, bed: Testbed) -> Step:
        """The weighted words of every text of a testbed."""
        return word_weights(self.model, bed.store, self.max_length)

    def index(self, bed: Testbed) -> Step:
        """The Lucene index of the weights."""
        return weighted_index(self.weights(bed), self.scale, self.smoothing)

    def run(self, bed: Testbed, depth: int) -> Step:
        """BM25 over that index."""
        return bm25_run(self.index(bed), bed.query_step, self.k1, self.b, depth)
