"""A bi-encoder as one value: all that decides a fine-tuned encoder, and the steps from it to a run.

    encoder = BiEncoder(pooling="cls")
    run = encoder.run(Testbed("almanac", "passage", queries=400), depth=100)    # exact search over the whole collection
    replace(encoder, loss="none")                                               # the backbone as it is

Defaults are those of David (2020); the chapters change one field at a time with `dataclasses.replace`.

An encoder that was distilled and not cut, as one value: layers of a backbone that learned to have the states of all of them.

    student = DistilledEncoder("packaged:0,2,5")
    student.of(BiEncoder()).zero_shot().run(Testbed("almanac", "passage", queries=400), depth=100)
"""

import functools
import inspect
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from helpers.data.windows import WHOLE
from helpers.encoders.bi_encoder import LOSSES, BiEncoderTraining, candidates_with_positives, denoised_pairs, training_pairs
from helpers.encoders.embeddings import MAX_SIM, max_sim_run, passage_embeddings, query_embeddings
from helpers.encoders.nearest_neighbours import exact_search
from helpers.encoders.training import StateTraining, bi_encoder, distilled_encoder
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.networks.encoder import POOLINGS
from helpers.networks.fine_tuning import Trained, training_log
from helpers.reranking.groups import random_texts
from helpers.retrieval.bm25 import K1, B
from helpers.steps import Step
from helpers.systems.evaluated import Scorer
from helpers.systems.testbed import SplitTestbed, Testbed

UNTRAINED, RANDOM = "none", "random"
SIMILARITIES = ("cosine", "dot", MAX_SIM)
ALL = 1_000_000  # candidates of a query: all that there are


@dataclass(frozen=True)
class BiEncoder(BiEncoderTraining):
    """Training data and backbone of a bi-encoder; how it is trained and compares texts, `BiEncoderTraining` has. The loss `none`
    leaves the backbone as it is."""

    collection: str = "almanac"  # whose training queries are used
    unit: str = "passage"  # `passage` or `document`, read as one text
    splits: tuple[str, ...] = ("train",)  # their splits
    queries: int = 0  # how many of each split, 0 for all
    candidates: int = 40  # passages a query of the ranking that negatives come from
    backbone: str = "packaged"
    _: KW_ONLY
    learning_rate: float = 2e-5
    max_length: int = 128
    query_length: int = 64
    evaluation_queries: int = 100
    data_seed: int | None = None  # of the draws and of the held-out queries; by default `seed`
    # instead of BM25's ranking, an encoder whose own gives the negatives; `random`: any text does (David 2020, section 3.3)
    negatives_from: "BiEncoder | str | None" = None
    # a cross-encoder that reads the candidates and the relevant passages: what it scores as high as these is no negative
    denoised_by: Scorer | None = None
    # the folder of a pre-trained encoder to start from instead of the backbone's weights (`helpers.systems.starting_points`)
    start: Step | None = None
    answer_types: tuple[str, ...] = ()  # of the training queries, where the collection labels them; all if empty
    own_articles: bool = True  # whether it sees the articles of its splits alone, where a collection is split by article
    sample_seed: int = 1  # of the choice of the training queries

    def __post_init__(self) -> None:
        for name, known in (("pooling", POOLINGS), ("loss", (*LOSSES, UNTRAINED)), ("similarity", SIMILARITIES)):
            if getattr(self, name) not in known:
                raise BadInput(f"{name} {getattr(self, name)!r}: one of {', '.join(known)}")
        if isinstance(self.negatives_from, str) and self.negatives_from != RANDOM:
            raise BadInput(f"negatives from {self.negatives_from!r}", mend="draw them at random, `random`")
        if self.denoised_by is None and self.loss in LOSSES and "teacher" in inspect.signature(LOSSES[self.loss]).parameters:
            raise BadInput(f"the {self.loss} loss learns from a cross-encoder: name one, `denoised_by`")

    @functools.cached_property  # as below: a step's key takes the digests of all its data
    def bed(self) -> Testbed:
        """The testbed of the training queries."""
        kind = SplitTestbed if self.own_articles else Testbed
        return reading(kind(self.collection, self.unit, splits=self.splits, queries=self.queries, seed=self.sample_seed,
                            answer_types=self.answer_types))

    @functools.cached_property
    def pairs(self) -> Step:
        """The draws: a relevant passage a query, and its negatives (at least one, for the accuracy)."""
        bed = self.bed
        run = random_texts(bed.query_step, bed.store, self.candidates, self._data_seed) if self.negatives_from == RANDOM \
            else bed.candidates(K1, B, self.candidates, self.negatives_from)
        run = candidates_with_positives(run, bed.qrels_step, bed.store, self.candidates, bed.min_relevance)
        negatives = max(1, self.negatives)
        if self.denoised_by is not None:
            return denoised_pairs(self.denoised_by.scores(bed, run, ALL), bed.qrels_step, bed.min_relevance, negatives,
                                  self._data_seed)
        return training_pairs(run, bed.qrels_step, bed.store, self._tokens, ALL, bed.min_relevance, 1, negatives,
                              self._data_seed)

    @functools.cached_property
    def model(self) -> Step | None:
        """The folder of the fine-tuned encoder; of the pre-trained one, or None, where nothing is fine-tuned."""
        if self.loss == UNTRAINED:
            return self.start
        bed = self.bed
        return bi_encoder(self.pairs, bed.qrels_step, bed.min_relevance, bed.query_step, bed.store, self._tokens,
                          backbone.resolve(self.backbone), self._data_seed, self.start, **self.settings(BiEncoderTraining))

    @property
    def log(self) -> Step:
        """The losses and the accuracy over the training, and its size; ValueError where nothing is trained."""
        if self.model is None or self.loss == UNTRAINED:
            raise ValueError("a backbone as it is has no training log")
        return training_log(self.model)

    def zero_shot(self) -> "BiEncoder":
        """The backbone as it is, compared in the same way."""
        return replace(self, loss=UNTRAINED)

    def embeddings(self, bed: Testbed) -> Step:
        """The folder of the passages' vectors, in the text store's order."""
        encoder = backbone.resolve(self.backbone)
        return passage_embeddings(bed.store, reading(bed).tokens(encoder), encoder, self.pooling, self.similarity == "cosine",
                                  self.token_types, self.max_length, self.model)

    def query_embeddings(self, bed: Testbed) -> Step:
        """The folder of the vectors of the testbed's queries, in their order."""
        return query_embeddings(bed.query_step, backbone.resolve(self.backbone), self.pooling, self.similarity == "cosine",
                                self.token_types, self.query_length, self.model)

    def run(self, bed: Testbed, depth: int) -> Step:
        """The passages of the largest similarity with each query, of all there are; BadInput where texts have no one vector."""
        if self.similarity == MAX_SIM:
            raise BadInput("MaxSim compares a vector for each word", mend="let it order a list: `ordered`")
        return exact_search(self.embeddings(bed), self.query_embeddings(bed), bed.store, bed.query_step, depth)

    def ordered(self, run: Step, bed: Testbed, candidates: int) -> Step:
        """The top candidates of a run, ordered anew by MaxSim over the states of the encoder's tokens."""
        encoder = backbone.resolve(self.backbone)
        return max_sim_run(encoder, run, bed.query_step, bed.store, reading(bed).tokens(encoder), candidates, self.max_length,
                           self.query_length, self.model)

    def timed(self, bed: Testbed) -> dict[str, Any]:
        """Its settings for `costs.latency.latencies`."""
        return {"passages": self.embeddings(bed), "query_length": self.query_length, "model": self.model,
                "backbone": backbone.resolve(self.backbone), "pooling": self.pooling,
                "normalise": self.similarity == "cosine", "token_types": self.token_types}

    @functools.cached_property
    def _tokens(self) -> Step:
        return self.bed.tokens(backbone.resolve(self.backbone))

    @property
    def _data_seed(self) -> int:
        return self.seed if self.data_seed is None else self.data_seed


def reading(bed: Testbed) -> Testbed:
    """A testbed whose texts are read whole."""
    return replace(bed, words=WHOLE, overlap=0)


@dataclass(frozen=True)
class DistilledEncoder(Trained, StateTraining):
    """What decides a student; its teacher is the whole of its backbone. BadInput for a backbone that is whole itself."""

    backbone: str = "packaged:0,2,5"  # the layers that it begins as: DistilBERT has every other one of BERT's
    collection: str = "almanac"  # whose training queries are read, and the texts of their articles alone
    unit: str = "passage"
    splits: tuple[str, ...] = ("train",)
    _: KW_ONLY
    steps: int | None = 700
    batch_size: int = 32
    learning_rate: float = 5e-4
    max_length: int = 128

    def __post_init__(self) -> None:
        if backbone.resolve(self.backbone).layers is None:
            raise BadInput(f"a student {self.backbone!r} has all the layers of its teacher",
                           mend="name those that it keeps: packaged:0,2,5")

    @functools.cached_property  # a step's key takes the digests of all its data
    def model(self) -> Step:
        """The folder of the student, which loads wherever its backbone does."""
        bed = reading(SplitTestbed(self.collection, self.unit, self.splits))
        layers = backbone.resolve(self.backbone)
        return distilled_encoder(bed.query_step, bed.store, bed.tokens(layers), layers, **self.settings(StateTraining))

    def of(self, encoder: BiEncoder) -> BiEncoder:
        """A bi-encoder that starts as the student."""
        return replace(encoder, backbone=self.backbone, start=self.model)
