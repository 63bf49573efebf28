"""A re-ranker as one value: all that decides a fine-tuned cross-encoder, and the steps from it to a run.

    model = Reranker(backbone="packaged", epochs=1)
    scores = model.scores(bed, bed.bm25(1.2, 0.75, 100), candidates=20)     # a step: windows with their scores
    aggregate(scores.value(), "mean")                                       # a run of documents
    Student(model, layers=(0, 1, 2))                                        # likewise; `soft=0.0` is an ablation

Defaults are the book's base model; the chapters change one field at a time with `dataclasses.replace`.
"""

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING

from helpers.encoders.dense import dense_window_scores
from helpers.networks import backbone
from helpers.networks.training_settings import RankerTraining
from helpers.reranking.cross_encoder import cross_encoder, early_stopped, training_log
from helpers.reranking.distillation import Distillation, distilled_cross_encoder
from helpers.reranking.pairs import training_pairs
from helpers.reranking.rerank import window_scores
from helpers.retrieval.bm25 import K1, B
from helpers.steps import Step
from helpers.systems.testbed import OVERLAP, WORDS, Testbed

if TYPE_CHECKING:
    from helpers.systems.bi_encoder import BiEncoder

EVALUATIONS_PER_EPOCH = 3
ZERO_SHOT = "zero-shot MiniLM"  # how tables name the encoder


@dataclass(frozen=True)
class Reranker(RankerTraining):
    """Training data and backbone of a cross-encoder; how it is trained, `RankerTraining` has."""

    collection: str = "almanac"  # whose training queries are used
    unit: str = ""  # `document` or `passage`, whose windows it is trained on; by default documents, if the collection has any
    splits: tuple[str, ...] = ("train",)  # their splits
    queries: int = 0  # how many of each split, 0 for all
    k1: float = K1  # of the BM25 run that the candidates come from
    b: float = B  # likewise
    candidates: int = 40  # training candidates a query (Steensland 2021: 40)
    positives: int = 2  # windows drawn from relevant candidates of a query, 0 for all
    negatives: int = 4  # windows drawn from its other candidates, 0 for all
    backbone: str = "packaged"  # see `helpers.networks.backbone.resolve`
    _: KW_ONLY
    epochs: int = 2
    data_seed: int | None = None  # of the draws of windows and of the held-out queries; by default `seed`
    start: "Reranker | None" = None  # a re-ranker to go on training from, instead of the backbone
    patience: int | None = None  # of early stopping, see `cross_encoder`
    stop_early: bool = False  # whether the model is the one that early stopping keeps; the training is the same
    words: int = WORDS  # words of the windows that it reads
    overlap: int = OVERLAP  # words shared by neighbouring windows
    negatives_from: "BiEncoder | None" = None  # a bi-encoder whose ranking the training candidates come from, instead of BM25's

    @property
    def bed(self) -> Testbed:
        """The testbed of the training queries."""
        return self.reading(Testbed(self.collection, self.unit, splits=self.splits, queries=self.queries))

    def reading(self, bed: Testbed) -> Testbed:
        """A testbed whose texts are cut into the windows that this model reads."""
        return replace(bed, words=self.words, overlap=self.overlap)

    @property
    def origin(self) -> Step | None:
        """The model that the training goes on from; None for the backbone."""
        return None if self.start is None else self.start.model

    @property
    def pairs(self) -> Step:
        """The labelled pairs."""
        bed, encoder = self.bed, backbone.resolve(self.backbone)
        run = bed.candidates(self.k1, self.b, self.candidates, self.negatives_from)
        return training_pairs(run, bed.qrels_step, bed.store,
                              bed.tokens(encoder), self.candidates, bed.min_relevance, self.positives, self.negatives,
                              self.seed if self.data_seed is None else self.data_seed)

    @property
    def training(self) -> Step:
        """The whole training: the fine-tuned model's folder."""
        bed, encoder = self.bed, backbone.resolve(self.backbone)
        return cross_encoder(self.pairs, bed.query_step, bed.store, bed.tokens(encoder), encoder, self.origin,
                             self.data_seed, self.patience, **self.settings(RankerTraining))

    @property
    def model(self) -> Step:
        """The folder of the model that ranks."""
        return early_stopped(self.training) if self.stop_early else self.training

    @property
    def log(self) -> Step:
        """The losses over the training, and its size."""
        return training_log(self.training)

    def for_epochs(self, epochs: int) -> "Reranker":
        """The same for so many epochs, with as many points of the loss curves in each."""
        return replace(self, epochs=epochs, evaluations=EVALUATIONS_PER_EPOCH * epochs)

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` documents with its probability of relevance."""
        tokens = self.reading(bed).tokens(backbone.resolve(self.backbone))
        return window_scores(self.model, run, bed.query_step, bed.store, tokens, candidates, self.max_length,
                             self.query_length)


@dataclass(frozen=True)
class Student(Distillation):
    """What decides a distilled cross-encoder (Simplified TinyBERT, Chen et al. 2021)."""

    teacher: Reranker  # the fine-tuned re-ranker; the student is trained on its pairs, with its schedule

    @property
    def model(self) -> Step:
        """The student's folder."""
        t = self.teacher
        bed, encoder = t.bed, backbone.resolve(t.backbone)
        return distilled_cross_encoder(
            t.model, t.pairs, bed.query_step, bed.store, bed.tokens(encoder), t.seed if t.data_seed is None else t.data_seed,
            **t.settings(RankerTraining), **self.settings(Distillation))

    @property
    def log(self) -> Step:
        """The losses over the training with their parts, and its size."""
        return training_log(self.model)

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` documents with the student's probability of relevance."""
        tokens = bed.tokens(backbone.resolve(self.teacher.backbone))
        return window_scores(self.model, run, bed.query_step, bed.store, tokens, candidates, self.teacher.max_length,
                             self.teacher.query_length)


@dataclass(frozen=True)
class ZeroShotReranker:
    """A backbone as it is, as a re-ranker: the cosine of its embeddings, without any fine-tuning."""

    backbone: str = "packaged"
    max_length: int = 256  # tokens of a window or a query

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` documents with the cosine of its embedding and the query's."""
        encoder = backbone.resolve(self.backbone)
        return dense_window_scores(encoder, run, bed.query_step, bed.store, bed.tokens(encoder), candidates, self.max_length)
