"""The third stage: the first documents of a re-ranker, compared in pairs by a pairwise model (Steensland 2021, section 3.1.2).

    stage = ThirdStage(trial, trial.second_stage(mono), duobert(mono).over_seeds([1, 2]), most=10)
    stage.by("sum", first=5)                            # an evaluation: the first five in the order of the sum
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from helpers.reranking.duo import in_pairs
from helpers.steps import Step
from helpers.systems.evaluated import Evaluation, evaluate
from helpers.systems.pairwise_reranker import PairwiseReranker
from helpers.systems.reranking_experiment import RerankingExperiment, together


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

    def by_relevance(self) -> Mapping[tuple[bool, bool], float]:
        """The mean probability that the first text of a pair is the more relevant one, over all models, by whether the first text
        is relevant and whether the second is."""
        scored = pd.concat([pairs.value() for pairs in self.pairs])
        answers = pd.MultiIndex.from_frame(self.trial.bed.relevant)
        sides = [pd.MultiIndex.from_frame(scored[["query_id", side]]).isin(answers) for side in ("doc_id", "other_id")]
        return scored.groupby(sides)["probability"].mean().to_dict()


def inferences(alone: int, first: int, compared: int | None = None) -> int:
    """A query's inferences: k0 + k1 (k1 - 1), or k0 + k1 m where each document is compared with m others alone."""
    return alone + first * ((first - 1) if compared is None else min(compared, first - 1))
