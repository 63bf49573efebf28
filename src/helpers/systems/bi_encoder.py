"""A bi-encoder as one value: all that decides a fine-tuned encoder, and the steps from it to a run.

    encoder = BiEncoder(pooling="cls")
    run = encoder.run(Testbed("almanac", "passage", queries=400), depth=100)    # exact search over the whole collection
    replace(encoder, loss="none")                                               # the backbone as it is

Defaults are those of David (2020); the chapters change one field at a time with `dataclasses.replace`.
"""

import functools
from dataclasses import dataclass, replace

from helpers.data.windows import WHOLE
from helpers.encoders.bi_encoder_losses import LOSSES
from helpers.encoders.bi_encoder_training import bi_encoder
from helpers.encoders.candidates_with_positives import candidates_with_positives
from helpers.encoders.embeddings import passage_embeddings, query_embeddings
from helpers.encoders.exact_search import exact_search
from helpers.networks import backbone
from helpers.networks.pooling import POOLINGS
from helpers.reranking.cross_encoder import training_log
from helpers.reranking.pairs import training_pairs
from helpers.retrieval.bm25 import K1, B
from helpers.steps import Step
from helpers.systems.testbed import Testbed

UNTRAINED = "none"
SIMILARITIES = ("cosine", "dot")
ALL = 1_000_000  # candidates of a query: all that there are


@dataclass(frozen=True)
class BiEncoder:
    """Training data, backbone and optimisation of a bi-encoder, and how it compares texts.

    Args:
        collection: whose training queries are used.
        unit: `passage` or `document`, read as one text.
        splits: their splits.
        queries: how many of each split, 0 for all.
        k1: of the BM25 run that negatives come from.
        b: likewise.
        candidates: passages of that run a query.
        negatives: drawn from its non-relevant candidates for each query; 0 for the passages of other queries alone.
        backbone: see `helpers.networks.backbone.resolve`.
        pooling: see `helpers.networks.pooling` (the study's AVG is `mean`).
        loss: see `helpers.encoders.bi_encoder_losses`; `none` leaves the backbone as it is.
        margin: of the triplet loss.
        similarity: `cosine` (vectors of length 1) or `dot`.
        token_types: whether passages have another token type than queries (RepBERT), where the architecture has two.
        epochs: passes over the training queries.
        learning_rate: the peak.
        batch_size: queries a step.
        warmup: share of the steps.
        weight_decay: AdamW's.
        dropout: of hidden states and attention.
        max_length: tokens of a passage, special tokens included.
        query_length: tokens of a query, special tokens included.
        evaluation_queries: training queries held out for the evaluation loss and the accuracy.
        evaluations: how often they are logged.
        seed: of the order of the queries and of dropout.
        data_seed: of the draws and of the held-out queries; by default `seed`.
        negatives_from: an encoder from whose own ranking the negatives come, instead of BM25's.
        temperature: of the contrastive loss.
        start: the folder of a pre-trained encoder to start from instead of the backbone's weights
            (`helpers.systems.starting_points`).
        answer_types: of the training queries, where the collection labels them; all if empty.
        sample_seed: of the choice of the training queries.
    """

    collection: str = "almanac"
    unit: str = "passage"
    splits: tuple[str, ...] = ("train",)
    queries: int = 0
    k1: float = K1
    b: float = B
    candidates: int = 40
    negatives: int = 1
    backbone: str = "packaged"
    pooling: str = "mean"
    loss: str = "triplet"
    margin: float = 1.0
    similarity: str = "cosine"
    token_types: bool = False
    epochs: int = 1
    learning_rate: float = 2e-5
    batch_size: int = 16
    warmup: float = 0.1
    weight_decay: float = 0.01
    dropout: float = 0.0
    max_length: int = 128
    query_length: int = 64
    evaluation_queries: int = 100
    evaluations: int = 10
    seed: int = 1
    data_seed: int | None = None
    negatives_from: "BiEncoder | None" = None
    temperature: float = 1.0
    start: Step | None = None
    answer_types: tuple[str, ...] = ()
    sample_seed: int = 1

    def __post_init__(self) -> None:
        for name, known in (("pooling", POOLINGS), ("loss", (*LOSSES, UNTRAINED)), ("similarity", SIMILARITIES)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} {getattr(self, name)!r}: one of {', '.join(known)}")

    @functools.cached_property  # as below: a step's key takes the digests of all its data
    def bed(self) -> Testbed:
        """The testbed of the training queries."""
        return reading(Testbed(self.collection, self.unit, splits=self.splits, queries=self.queries, seed=self.sample_seed,
                               answer_types=self.answer_types))

    @functools.cached_property
    def pairs(self) -> Step:
        """The draws: a relevant passage a query, and its negatives (at least one, for the accuracy)."""
        bed = self.bed
        run = bed.candidates(self.k1, self.b, self.candidates, self.negatives_from)
        return training_pairs(candidates_with_positives(run, bed.qrels_step, bed.store, self.candidates, bed.min_relevance),
                              bed.qrels_step,
                              bed.store, self._tokens, ALL, bed.min_relevance, 1, max(1, self.negatives), self._data_seed)

    @functools.cached_property
    def model(self) -> Step | None:
        """The folder of the fine-tuned encoder; of the pre-trained one, or None, where nothing is fine-tuned."""
        if self.loss == UNTRAINED:
            return self.start
        bed = self.bed
        return bi_encoder(self.pairs, bed.qrels_step, bed.min_relevance, bed.query_step, bed.store, self._tokens,
                          backbone.resolve(self.backbone), self.pooling, self.loss, self.margin, self.temperature,
                          self.similarity, self.token_types, self.negatives, self.epochs, self.learning_rate, self.batch_size,
                          self.warmup, self.weight_decay, self.dropout, self.max_length, self.query_length,
                          self.evaluation_queries, self.evaluations, self.seed, self._data_seed, self.start)

    @property
    def log(self) -> Step:
        """The losses and the accuracy over the training, and its size.

        Raises:
            ValueError: where nothing is trained.
        """
        if self.model is None or self.loss == UNTRAINED:
            raise ValueError("a backbone as it is has no training log")
        return training_log(self.model)

    def zero_shot(self) -> "BiEncoder":
        """The backbone as it is, compared in the same way."""
        return replace(self, loss=UNTRAINED)

    def embeddings(self, bed: Testbed) -> Step:
        """The folder of the passages' vectors, in the text store's order."""
        encoder = backbone.resolve(self.backbone)
        return passage_embeddings(bed.store, reading(bed).tokens(encoder), encoder, self.pooling, self._normalise,
                                  self.token_types, self.max_length, self.model)

    def query_embeddings(self, bed: Testbed) -> Step:
        """The folder of the vectors of the testbed's queries, in their order."""
        return query_embeddings(bed.query_step, backbone.resolve(self.backbone), self.pooling, self._normalise, self.token_types,
                                self.query_length, self.model)

    def run(self, bed: Testbed, depth: int) -> Step:
        """The passages of the largest similarity with each query, of all that there are."""
        return exact_search(self.embeddings(bed), self.query_embeddings(bed), bed.store, bed.query_step, depth)

    @functools.cached_property
    def _tokens(self) -> Step:
        return self.bed.tokens(backbone.resolve(self.backbone))

    @property
    def _normalise(self) -> bool:
        return self.similarity == "cosine"

    @property
    def _data_seed(self) -> int:
        return self.seed if self.data_seed is None else self.data_seed


def reading(bed: Testbed) -> Testbed:
    """A testbed whose texts are read whole."""
    return replace(bed, words=WHOLE, overlap=0)
