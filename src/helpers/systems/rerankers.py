"""A re-ranker trained on groups of its own split's texts: a warm-up without labels, and a fine-tuning from it.

    base = WarmUp()
    more = base.further(7_000, learning_rate=5e-5)
    model = ListwiseReranker(start=base, learning_rate=3e-5)
    model.scores(bed, run, candidates=20)               # a step: windows with their logits

monoBERT with the thesis's own training: all windows of BM25's first forty documents for each training query.

    model = PointwiseReranker(start=WarmUp(unit="passage"), learning_rate=5e-5, seed=2)
    model.scores(bed, run, candidates=20)               # a step: windows with their probabilities
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any, Self

from helpers.data.windows import WHOLE
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.networks.backbone import width_of
from helpers.networks.fine_tuning import RankerTraining, Trained, training_log
from helpers.pretraining.masking import corpus
from helpers.pretraining.sentences import next_sentences, sentence_queries, sentence_store
from helpers.pretraining.training import narrowed_encoder
from helpers.reranking import groups, listwise
from helpers.reranking.losses import LOSSES
from helpers.reranking.rerank import window_logits, window_scores
from helpers.retrieval.bm25 import K1, B
from helpers.steps import Step
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.testbed import OVERLAP, WORDS, SplitTestbed, Testbed

TAUGHT = 256  # tokens that the packaged bi-encoder was trained on
FITTED_ON, PIECE = 600, 128  # texts to which a narrower encoder is fitted, and tokens of each
RATES = (5e-6, 5e-5)  # of Steensland 2021, table 4.1, the one that was chosen and the highest that was tried
NEGATIVES = {"bm25": ("bm25",), "dense": ("dense",), "both": ("bm25", "dense"), "random": ("random",)}


@dataclass(frozen=True, kw_only=True)
class Listwise(listwise.ListwiseTraining):
    """What a warm-up and a fine-tuning share."""

    collection: str = "almanac"  # whose training queries and texts are used
    unit: str = "passage"  # `passage` or `document`: whose labels are used, and whose texts are read
    splits: tuple[str, ...] = ("train",)  # of the queries and of the articles
    backbone: str = "packaged"  # see `helpers.networks.backbone.resolve`
    start: "WarmUp | None" = None  # the warm-up to go on from; None for the backbone
    taught_by: str = ""  # the bi-encoder that teaches, a backbone as it is; by default the model's own
    size: int = 8  # texts of a group
    # weights by name, see `helpers.reranking.losses`
    losses: dict[str, float] = field(default_factory=lambda: {"lce": 1.0, "kl": 1.0})
    data_seed: int = 1  # of queries and groups
    held_out_seed: int | None = None  # of the queries that are held out of the training; by default `seed`
    trainable: str | None = None  # what is adjusted, see `listwise_cross_encoder`; by default all but the word embeddings
    new_head: bool = False  # whether the output layer begins anew, with values that the seed draws
    words: int = WHOLE  # words of the windows that are read; by default texts are read whole, cut at `max_length`
    overlap: int = 0  # words shared by neighbouring windows
    batch_size: int = 4
    evaluation_queries: int = 100
    patience: int | None = None  # of early stopping, see `listwise_cross_encoder`
    stop_early: bool = False  # whether the model is the one that early stopping keeps; the training is the same

    @property
    def bed(self) -> SplitTestbed:
        """The training queries over the texts of their articles."""
        raise NotImplementedError

    @property
    def groups(self) -> Step:
        """What is learned from."""
        raise NotImplementedError

    @property
    def origin(self) -> Step | None:
        """The model to go on from."""
        return None if self.start is None else self.start.model

    @property
    def teacher(self) -> BiEncoder:
        """A backbone as it is; it reads no more than it was trained on."""
        return BiEncoder(self.collection, self.unit, backbone=self.taught_by or self.backbone, loss="none",
                         max_length=min(self.max_length, TAUGHT))

    @functools.cached_property
    def training(self) -> Step:
        """The whole training: the fine-tuned model's folder."""
        bed, encoder = self.bed, backbone.resolve(self.backbone)
        return listwise.listwise_cross_encoder(
            self.groups, bed.query_step, bed.store, bed.tokens(encoder), encoder, self.losses, self.origin, self.held_out_seed,
            self.trainable, self.new_head or None, self.patience, **self.settings(listwise.ListwiseTraining))

    @property
    def model(self) -> Step:
        """The folder of the model that ranks."""
        return listwise.early_stopped(self.training) if self.stop_early else self.training

    def over_seeds(self, seeds: Sequence[int]) -> list[Self]:
        """The same with other seeds of head and order, watched on the same held-out queries."""
        held_out = self.seed if self.held_out_seed is None else self.held_out_seed
        return [replace(self, seed=seed, held_out_seed=None if seed == held_out else held_out) for seed in seeds]

    def on(self, backbone: str) -> Self:
        """The same on another backbone, taught by this one's teacher."""
        return replace(self, backbone=backbone, taught_by=self.taught_by or self.backbone)

    @property
    def log(self) -> Step:
        """The losses over the training, and its size."""
        return training_log(self.training)

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` texts with its probability of relevance, if that is what was learned (binary
        cross-entropy), else with its logit."""
        tokens = self.reading(bed).tokens(backbone.resolve(self.backbone))
        step = window_scores if [*self.losses] == ["bce"] else window_logits
        return step(self.model, run, bed.query_step, bed.store, tokens, candidates, self.max_length, self.query_length)

    def reading(self, bed: Testbed) -> Testbed:
        """A testbed whose texts are cut into the windows that this model reads: by default the testbed's own."""
        return bed


@dataclass(frozen=True, kw_only=True)
class WarmUp(Listwise):
    """Learns to judge pairs from what the bi-encoder, or a re-ranker, says of pseudo-queries; no label is used."""

    reranker: "ListwiseReranker | None" = None  # who teaches, in place of the bi-encoder
    spans: int = 2  # pseudo-queries of each text besides its title and heading
    first: int = 14_000  # pseudo-queries in all, 0 for as many as there are
    depth: int = 60  # of the bi-encoder's rankings, from which groups are drawn
    size: int = 4
    losses: dict[str, float] = field(default_factory=lambda: {"kl": 1.0, "centred_mse": 0.05})
    batch_size: int = 8
    learning_rate: float = 1.2e-4
    width: int = 0  # dimensions of its states; 0 for the backbone's, with others it starts from an encoder fitted to that

    @property
    def origin(self) -> Step | None:
        """The warm-up before; or the narrower encoder, fitted on texts of its own articles."""
        if self.start is not None or not self.width:
            return super().origin
        bed, encoder = SplitTestbed(self.collection, self.unit, self.splits), backbone.resolve(self.backbone)
        return narrowed_encoder(corpus(bed.store), bed.store, bed.tokens(encoder), encoder, self.width, FITTED_ON, PIECE,
                                self.data_seed)

    @functools.cached_property
    def bed(self) -> SplitTestbed:
        """The pseudo-queries over the texts that they are made of."""
        bed = SplitTestbed(self.collection, self.unit, self.splits, words=self.words, overlap=self.overlap)
        made = groups.pseudo_queries(bed.store, bed.query_step, self.spans, self.first, self.data_seed)
        return replace(bed, adhoc_queries=made)

    @functools.cached_property
    def groups(self) -> Step:
        """Some texts of the bi-encoder's ranking for each pseudo-query, with its scores or the re-ranker's logits."""
        bed, by = self.bed, self.reranker
        drawn = groups.teacher_groups(self.teacher.run(bed, self.depth), self.size, self.data_seed)
        if by is None:
            return drawn
        tokens = bed.tokens(backbone.resolve(by.backbone))
        return groups.answered_groups(drawn, window_logits(by.model, groups.ranked_groups(drawn), bed.query_step, bed.store,
                                                           tokens, self.size, by.max_length, by.query_length))

    def further(self, first: int, **settings: Any) -> "WarmUp":
        """Going on from this one with so many pseudo-queries of another draw; a divergence is its only loss."""
        return replace(self, start=self, first=first, data_seed=self.data_seed + 1, losses={"kl": 1.0}, **settings)


@dataclass(frozen=True)
class SentenceTestbed(SplitTestbed):
    """The sentences of a split's articles, which are queries and texts alike."""

    @property
    def store(self) -> Step:
        """The text store of the sentences."""
        return sentence_store(super().store)

    @property
    def query_step(self) -> Step:
        """All of them."""
        return sentence_queries(self.store)


@dataclass(frozen=True, kw_only=True)
class NextSentence(WarmUp):
    """Learns whether a sentence follows another, as BERT does in pre-training (Devlin et al. 2019, section 3.1), at its rate.

    It reads neither a query nor a judgment: a start whose [CLS] has seen pairs, but no ranking.
    """

    unit: str = ""  # whose sentences follow each other; by default documents, if the collection has any
    first: int = 16_000  # sentences, or as many as there are
    size: int = 2  # the next sentence and one at random
    losses: dict[str, float] = field(default_factory=lambda: {"bce": 1.0})
    batch_size: int = 16
    learning_rate: float = 1e-4
    epochs: int = 2
    evaluation_queries: int = 300

    @functools.cached_property
    def bed(self) -> SentenceTestbed:
        """The sentences of the articles."""
        return SentenceTestbed(self.collection, self.unit, self.splits, words=self.words, overlap=self.overlap)

    @functools.cached_property
    def groups(self) -> Step:
        """Each sentence with the next and with another."""
        return next_sentences(self.bed.store, self.first, self.data_seed)


@dataclass(frozen=True, kw_only=True)
class ListwiseReranker(Listwise):
    """Learns from the judgments of training queries."""

    queries: int = 0  # how many of each split, 0 for all
    negatives: str = "both"  # which rankings they are drawn from, half and half where there are two
    candidates: int = 40  # of each ranking, its first texts
    negatives_from: BiEncoder | None = None  # whose ranking is the dense one; by default the teacher's
    # another, from which it is to differ in the source of negatives alone: both learn from the queries of which both have enough,
    # and what the teacher puts above the relevant text is left out of both, if it has a part in either
    beside: "ListwiseReranker | None" = None

    def __post_init__(self) -> None:
        if self.negatives not in NEGATIVES:
            raise BadInput(f"negatives {self.negatives!r}: one of {', '.join(NEGATIVES)}")

    @functools.cached_property
    def bed(self) -> SplitTestbed:
        """The training queries over the texts of their articles."""
        return SplitTestbed(self.collection, self.unit, self.splits, self.queries, words=self.words, overlap=self.overlap)

    def on(self, backbone: str) -> Self:
        """The same on another backbone, from a warm-up of its own; BadInput for a narrower one without."""
        spec, width = width_of(backbone)
        if width and self.start is None:
            raise BadInput(f"the backbone {backbone} needs a warm-up", mend="set `warm_up` to more than 0")
        start = self.start and self.start.on(spec)
        return replace(super().on(spec), start=replace(start, width=width) if start and width else start)

    @property
    def taught(self) -> bool:
        """Whether the bi-encoder has a part in it: in the negatives, in a loss, or in what stands beside it."""
        return "dense" in NEGATIVES[self.negatives] or any(
            "teacher" in signature(LOSSES[name]).parameters for name in self.losses) or (
            self.beside is not None and self.beside.taught)

    @functools.cached_property
    def groups(self) -> Step:
        """A relevant text of each query with others of its articles."""
        own = self.drawn(self.taught)
        return own if self.beside is None else groups.groups_in_common(own, self.beside.drawn(self.taught))

    def drawn(self, taught: bool) -> Step:
        """The groups of its own rankings; if `taught`, without the texts that the bi-encoder puts above the relevant one."""
        bed, depth = self.bed, self.candidates
        of = {"bm25": lambda: bed.candidates(K1, B, depth),
              "dense": lambda: bed.candidates(K1, B, depth, self.negatives_from or self.teacher),
              "random": lambda: groups.random_texts(bed.query_step, bed.store, depth, self.data_seed)}
        runs = [of[name]() for name in NEGATIVES[self.negatives]]
        vectors = (self.teacher.embeddings(bed), self.teacher.query_embeddings(bed)) if taught else ()
        return groups.labelled_groups(bed.query_step, bed.qrels_step, bed.min_relevance, runs, bed.store,
                                      bed.tokens(backbone.resolve(self.backbone)), self.size, depth, self.data_seed, *vectors)


@dataclass(frozen=True, kw_only=True)
class PointwiseReranker(Trained, RankerTraining):
    """What is learned from (Steensland 2021, section 4.1.2), and how, which `RankerTraining` has.

    The thesis asks BM25 with the training queries, takes the first 40 documents of each, and cuts them into windows of 150 words
    with 50 in common; a window is labelled 1 if its document is relevant. Nothing is balanced: about one document in forty is
    relevant, and the model's probabilities keep that ratio.
    """

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
        return listwise.candidate_windows(
            bed.query_step, bed.qrels_step, bed.min_relevance, bed.bm25(K1, B, self.candidates), bed.store,
            bed.tokens(backbone.resolve(self.backbone)), self.candidates)

    @functools.cached_property
    def model(self) -> Step:
        """The folder of the fine-tuned model."""
        bed, encoder = self.bed, backbone.resolve(self.backbone)
        return listwise.pointwise_cross_encoder(
            self.pairs, bed.query_step, bed.store, bed.tokens(encoder), encoder, None if self.start is None else self.start.model,
            self.held_out_seed, self.trainable, self.new_head or None, **self.settings(RankerTraining))

    def at_rates(self, numbers: Sequence[int]) -> dict[float, list[Self]]:
        """So many runs at each of `RATES`, their seeds from 1 on, without a rate that has none; no numbers for no runs. BadInput
        for other than one number a rate."""
        if len(numbers) not in (0, len(RATES)):
            raise BadInput(f"{len(numbers)} numbers of runs for {len(RATES)} rates", mend="give one for each, or []")
        return {rate: [replace(self, learning_rate=rate, seed=seed) for seed in range(1, number + 1)]
                for rate, number in zip(RATES, numbers, strict=False) if number}

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` texts with its probability of relevance."""
        tokens = bed.tokens(backbone.resolve(self.backbone))
        return window_scores(self.model, run, bed.query_step, bed.store, tokens, candidates, self.max_length, self.query_length)
