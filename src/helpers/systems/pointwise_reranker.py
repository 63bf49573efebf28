"""monoBERT with the thesis's own training: all windows of BM25's first forty documents for each training query.

    model = PointwiseReranker(start=WarmUp(unit="passage"), learning_rate=5e-5, seed=2)
    model.scores(bed, run, candidates=20)               # a step: windows with their probabilities
"""

import functools
from dataclasses import dataclass

from helpers.networks import backbone
from helpers.networks.fine_tuning import training_log
from helpers.reranking.aggregation import window_scores
from helpers.reranking.listwise import PointwiseTraining, candidate_windows, pointwise_cross_encoder
from helpers.retrieval.bm25 import K1, B
from helpers.steps import Step
from helpers.systems.listwise_reranker import WarmUp
from helpers.systems.testbed import OVERLAP, WORDS, SplitTestbed, Testbed


@dataclass(frozen=True, kw_only=True)
class PointwiseReranker(PointwiseTraining):
    """What is learned from (Steensland 2021, section 4.1.2), and how, which `PointwiseTraining` has."""

    collection: str = "almanac"  # whose training queries and texts are used
    unit: str = "document"
    splits: tuple[str, ...] = ("train",)  # of the queries and of the articles
    queries: int = 400  # training queries, 0 for all
    candidates: int = 40  # of BM25, whose windows are learned from
    backbone: str = "packaged"  # see `helpers.networks.backbone.resolve`
    start: WarmUp | None = None  # the warm-up to go on from; None for the backbone
    held_out_seed: int | None = 1  # of the queries that are held out, the same for all seeds
    trainable: str | None = None  # what is adjusted, see `listwise.adjust`; by default all but the word embeddings
    new_head: bool = False  # whether the output layer begins anew
    words: int = WORDS
    overlap: int = OVERLAP
    epochs: int = 3
    learning_rate: float = 5e-5
    dropout: float = 0.1
    evaluation_queries: int = 40

    @property
    def bed(self) -> SplitTestbed:
        """The training queries over the texts of their articles."""
        return SplitTestbed(self.collection, self.unit, self.splits, self.queries, words=self.words, overlap=self.overlap)

    @property
    def pairs(self) -> Step:
        """What is learned from."""
        bed = self.bed
        return candidate_windows(bed.query_step, bed.qrels_step, bed.min_relevance, bed.bm25(K1, B, self.candidates), bed.store,
                                 bed.tokens(backbone.resolve(self.backbone)), self.candidates)

    @functools.cached_property
    def model(self) -> Step:
        """The folder of the fine-tuned model."""
        bed, encoder = self.bed, backbone.resolve(self.backbone)
        return pointwise_cross_encoder(self.pairs, bed.query_step, bed.store, bed.tokens(encoder), encoder,
                                       None if self.start is None else self.start.model, self.held_out_seed, self.trainable,
                                       self.new_head or None, **self.settings(PointwiseTraining))

    @property
    def log(self) -> Step:
        """The losses over the training, and its size."""
        return training_log(self.model)

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` texts with its probability of relevance."""
        tokens = bed.tokens(backbone.resolve(self.backbone))
        return window_scores(self.model, run, bed.query_step, bed.store, tokens, candidates, self.max_length, self.query_length)
