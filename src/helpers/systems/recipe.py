"""The book's re-rankers: by its recipe, chosen on development queries in the chapter `recipe`, of documents, of pairs, distilled.

    model = recipe(loss="LCE + KL", learning_rate=5e-5)
    replace(model, seed=2)

A re-ranker of whole documents: BERT on the first tokens (FirstP) or on windows, or a Longformer (Alarfaj 2022, chapter 5).

    first = document_reader(length=256)
    replace(first, max_length=512)                              # reads more
    longformer = first.longformer(1024)
    replace(longformer, max_length=4096, shorter=longformer)    # as a longer one, which goes on from it
    replace(first, words=WORDS, overlap=OVERLAP)                # one window after the other

All go on from one model that judges pairs, with the same queries, labels and schedule: what they read, and how they attend to
it, is all that tells them apart.

PARADE over the windows that a re-ranker has read (Steensland 2021, section 3.2.2).

    reader = recipe(unit="document")
    model = Parade(reader=reader, how="transformer")
    model.run(bed, run, candidates=20)                  # a step: the candidates in its order

A distilled re-ranker: it starts as some layers of its teacher, and learns from the same texts and from what the teacher says.

    student = Student(recipe(), layers=(0, 1, 2))
    student.without("soft")                             # an ablation

A pairwise re-ranker: it reads a query with two texts and says which is more relevant (Steensland 2021, section 3.1.2).

    duo = duobert(recipe())                             # learns from what the pointwise model learns from
    duo.probabilities(bed, run, first=10)               # a step: of all ordered pairs of the run's first ten

The third stage: the first documents of a re-ranker, compared in pairs by a pairwise model (Steensland 2021, section 3.1.2).

    stage = ThirdStage(trial, trial.second_stage(mono), duobert(mono).over_seeds([1, 2]), most=10)
    stage.by("sum", first=5)                            # an evaluation: the first five in the order of the sum
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from helpers.data.collection import open_collection
from helpers.data.windows import WHOLE
from helpers.networks import backbone
from helpers.networks.fine_tuning import RankerTraining, Trained
from helpers.networks.longformer import lengthened, longformer_of
from helpers.registry import Registry
from helpers.reranking import parade
from helpers.reranking.distillation import Distillation, distilled_cross_encoder
from helpers.reranking.duo import duo_groups, in_pairs, pair_probabilities
from helpers.reranking.listwise import ListwiseTraining
from helpers.reranking.rerank import window_scores
from helpers.steps import Step
from helpers.systems.evaluated import Evaluation, RerankingExperiment, evaluate, together
from helpers.systems.rerankers import Listwise, ListwiseReranker, WarmUp
from helpers.systems.testbed import OVERLAP, WORDS, Testbed

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


@dataclass(frozen=True, kw_only=True)
class DocumentReader(ListwiseReranker):
    """Learns from documents as it will read them: cut at `max_length`, or into windows of `words`."""

    attention_window: int | None = None  # makes `start` a Longformer whose tokens attend to so many others, see `longformer_of`
    shorter: "DocumentReader | None" = None  # a Longformer to go on from instead, see `lengthened`
    longformer_rate: float | None = None  # of a Longformer in its place; by default its own
    untrained: bool = False  # whether it ranks with what it goes on from, as that is

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

    @property
    def model(self) -> Step:
        """The folder of the model that ranks."""
        if not self.untrained:
            return super().model
        assert self.origin is not None, "nothing is there before the training: give `start`"
        return self.origin

    def reading(self, bed: Testbed) -> Testbed:
        """A testbed whose documents are cut as this model reads them."""
        return replace(bed, words=self.words, overlap=self.overlap)

    def longformer(self, length: int, attention_window: int = 256, backbone: str = "") -> "DocumentReader":
        """The Longformer of so many tokens, made from the same start; or one that was pre-trained, if its `backbone` is named."""
        own = replace(self, max_length=length, learning_rate=self.longformer_rate or self.learning_rate)
        if backbone:
            return replace(own, start=None, backbone=backbone)
        return replace(own, attention_window=attention_window)


TRAININGS: Registry[dict[str, Any]] = Registry("training of a reader", {
    # chosen by the loss on held-out training queries: with BM25's negatives alone and at 5e-5 it ended where it began
    "chosen": {"losses": LOSSES["LCE"], "negatives": "both", "size": 4, "batch_size": 2, "learning_rate": 2e-5, "epochs": 1},
    # Alarfaj 2022, sections 5.2 and 6.1: classified, one random document beside the relevant one, batches of 16, two passes
    "study": {"losses": LOSSES["BCE"], "negatives": "random", "size": 2, "batch_size": 8, "learning_rate": 3e-6, "epochs": 2,
              "evaluation_queries": 300, "longformer_rate": 3e-5},
})


def document_reader(collection: str = "almanac", backbone: str = "packaged", queries: int = 200, warm_up: int = 14_000,
                    length: int = 256, training: str = "chosen") -> DocumentReader:
    """BERT on the first tokens of a document, fine-tuned on the judgments of documents.

    Args:
        queries: training queries, 0 for all.
        warm_up: pseudo-queries of the warm-up without labels that it starts from, 0 for none.
        length: tokens of query and document together.
        training: one of `TRAININGS`.
    """
    start = recipe(collection, backbone=backbone, warm_up=warm_up).start
    return DocumentReader(collection=collection, unit=min(open_collection(collection).units), backbone=backbone, queries=queries,
                          start=start, max_length=length, evaluations=5, **{"evaluation_queries": 40} | TRAININGS[training])


@dataclass(frozen=True, kw_only=True)
class Parade:
    """Learns an aggregation of windows from the judgments of documents; what reads the windows stays as it is, or learns on with
    the aggregation."""

    reader: ListwiseReranker  # whose start reads the windows (or itself, without one), and whose queries and negatives are used
    how: str = "transformer"  # see `helpers.reranking.aggregation`
    losses: dict[str, float] = field(default_factory=lambda: {"bce": 1.0})  # weights by name
    learning_rate: float = 1e-4
    epochs: int = 20  # at most: the weights of the lowest held-out loss are kept
    held_out: int = 80  # groups
    seed: int = 1  # of what begins anew, and of the order
    whole: int = 0  # groups from which, then, both learn at once, with the reader's rate and batches; 0 for none

    @property
    def groups(self) -> Step:
        """A relevant document of each query with others, as a run."""
        return parade.group_run(replace(self.reader, words=WHOLE, overlap=0).groups)

    def states(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """The states of the run's top documents."""
        model = self.both if self.whole else (self.reader.start or self.reader).model
        return parade.window_states(model, run, bed.query_step, bed.store, self._tokens(bed), candidates,
                                    self.reader.max_length, self.reader.query_length)

    def _tokens(self, bed: Testbed) -> Step:
        own = replace(bed, words=self.reader.words, overlap=self.reader.overlap)
        return own.tokens(backbone.resolve(self.reader.backbone))

    @functools.cached_property
    def both(self) -> Step:
        """The folder of the cross-encoder and the aggregation that learned together."""
        bed, begun = self.reader.bed, replace(self, whole=0)
        return parade.whole_parade(self.groups, bed.query_step, bed.store, self._tokens(bed),
                                   backbone.resolve(self.reader.backbone), (self.reader.start or self.reader).model, begun.model,
                                   self.losses, self.held_out, self.whole,
                                   **replace(self.reader, seed=self.seed).settings(ListwiseTraining))

    @functools.cached_property
    def model(self) -> Step:
        """The folder of the aggregation."""
        if self.whole:
            return parade.aggregation_of(self.both)
        states = self.states(self.reader.bed, self.groups, self.reader.size)
        return parade.parade(states, self.groups, self.how, self.losses, self.learning_rate, self.epochs, self.held_out,
                             self.seed)

    @property
    def log(self) -> Step:
        """The losses over the training."""
        return parade.parade_log(self.model)

    def run(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """The run's top documents in its order."""
        return parade.parade_run(self.states(bed, run, candidates), self.model)


@dataclass(frozen=True)
class Student(Trained, Distillation):
    """What decides a distilled cross-encoder (Simplified TinyBERT, Chen et al. 2021)."""

    teacher: ListwiseReranker  # whose texts the student learns from, in batches of as many, with its schedule
    learning_rate: float = 2e-4  # the peak; higher than its teacher's, for it begins further from its goal
    start: Listwise | None = None  # what it starts as; by default some of its teacher's layers
    seed: int | None = None  # of the order of its texts; by default the teacher's

    def without(self, *parts: str) -> "Student":
        """An ablation: the same with some losses left out, `soft`, `hard`, `hidden` or `attention`. TypeError for others."""
        return replace(self, **dict.fromkeys(parts, 0.0))  # type: ignore[arg-type]

    def judgments_alone(self) -> "Student":
        """The control: the same start, texts and steps without a teacher."""
        return self.without("soft", "hidden", "attention")

    @property
    def model(self) -> Step:
        """The student's folder."""
        t, held_out = self.teacher, self.teacher.held_out_seed
        own = {"batch_size": t.batch_size * t.size, "learning_rate": self.learning_rate}
        own |= {} if self.seed is None else {"seed": self.seed}
        bed, settings = t.bed, t.settings(RankerTraining) | own
        return distilled_cross_encoder(t.model, t.groups, bed.query_step, bed.store, bed.tokens(backbone.resolve(t.backbone)),
                                       t.seed if held_out is None else held_out, None if self.start is None else self.start.model,
                                       **settings, **self.settings(Distillation))

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` documents with the student's probability of relevance."""
        t = self.teacher
        tokens = t.reading(bed).tokens(backbone.resolve(t.backbone))
        return window_scores(self.model, run, bed.query_step, bed.store, tokens, candidates, t.max_length, t.query_length)


SHARED = ("collection", "unit", "splits", "backbone", "taught_by", "queries", "start", "negatives", "negatives_from", "words",
          "overlap")


@dataclass(frozen=True, kw_only=True)
class PairwiseReranker(ListwiseReranker):
    """Learns from a relevant text and each other of its group, in both orders."""

    among_others: bool = False  # whether it learns from pairs of the others, too, as the teacher sees them, see `duo_groups`
    size: int = 4  # texts of a group: the relevant one with three others, six ordered pairs
    losses: dict[str, float] = field(default_factory=lambda: {"duo": 1.0})
    learning_rate: float = 5e-5
    max_length: int = 384  # tokens of query and both texts
    query_length: int = 62  # as in the paper

    @functools.cached_property
    def groups(self) -> Step:
        """The pairs that are learned from."""
        return duo_groups(super().groups, ListwiseReranker.temperature if self.among_others else None)

    def probabilities(self, bed: Testbed, run: Step, first: int) -> Step:
        """All ordered pairs of the run's `first` texts, each read from its start."""
        tokens = replace(bed, words=self.words, overlap=self.overlap).tokens(backbone.resolve(self.backbone))
        return pair_probabilities(self.model, run, bed.query_step, bed.store, tokens, first, self.max_length, self.query_length)


def duobert(mono: ListwiseReranker, among_others: bool = False, **settings: Any) -> PairwiseReranker:
    """A pairwise model that goes on from the start of a pointwise one, and learns from the same judgments; with `among_others`
    also from pairs of texts that are not relevant, of which the teacher says which is nearer."""
    learned: dict[str, Any] = {"among_others": True, "losses": {"soft_bce": 1.0}, "temperature": 1.0} if among_others else {}
    return PairwiseReranker(**{name: getattr(mono, name) for name in SHARED}, **learned, **settings)


@dataclass(frozen=True)
class ThirdStage:
    """Pairs over the first documents of a run, over the seeds of a pairwise model; `most` are compared, so fewer cost nothing."""

    trial: RerankingExperiment
    run: Step
    models: Sequence[PairwiseReranker]
    most: int

    @functools.cached_property
    def pairs(self) -> list[Step]:
        """For each model the step that compares."""
        self.run.entry()  # what they reorder is recorded with the page
        return [model.probabilities(self.trial.bed, self.run, self.most) for model in self.models]

    def by(self, how: str, first: int, compared: int = 0, label: str = "") -> Evaluation:
        """The run with its `first` documents in the order of an aggregation; of a sample each is `compared` with so many."""
        name = label or f"monoBERT + duoBERT, {how}"
        return together(name, [evaluate(name, in_pairs(pairs, self.run, how, first, compared), self.trial.bed,
                                        self.trial.measures, pairs) for pairs in self.pairs])
