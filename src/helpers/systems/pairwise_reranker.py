"""A pairwise re-ranker: it reads a query with two texts and says which is more relevant (Steensland 2021, section 3.1.2).

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

from helpers.networks import backbone
from helpers.reranking.duo import duo_groups, in_pairs, pair_probabilities
from helpers.steps import Step
from helpers.systems.evaluated import Evaluation, evaluate, together
from helpers.systems.rerankers import ListwiseReranker
from helpers.systems.reranking_experiment import RerankingExperiment
from helpers.systems.testbed import Testbed

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
