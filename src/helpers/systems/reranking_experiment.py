"""A trial: many models that re-rank the same candidates of the same queries, so that they can be compared in pairs.

    trial = RerankingExperiment.of_bm25(Testbed("almanac", "passage"), candidates=20)
    trial.baseline()                          # the first stage itself
    trial.of("seed 7", replace(model, seed=7))
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from helpers.reranking.aggregation import aggregate
from helpers.retrieval.bm25 import K1, B
from helpers.steps import Step
from helpers.systems.evaluated import Evaluation, evaluate, over_seeds
from helpers.systems.testbed import Testbed

DEPTH = 100
MEASURES = ("RR@10", "R@10", "nDCG@10")


class Scorer(Protocol):
    """What can score the windows of candidates: a `Reranker`, a `Student`."""

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """The step that scores the windows of the run's top candidates."""


@dataclass(frozen=True)
class RerankingExperiment:
    """What all models of a comparison share.

    Args:
        bed: texts, queries and judgments.
        run: the first stage.
        candidates: texts re-ranked for each query (R in Steensland 2021).
        aggregation: from window scores to a text's score, see `helpers.reranking.aggregation`.
        measures: what is measured of each.
    """

    bed: Testbed
    run: Step
    candidates: int = 20
    aggregation: str = "mean"
    measures: tuple[str, ...] = MEASURES

    @classmethod
    def of_bm25(cls, bed: Testbed, candidates: int, aggregation: str = "mean") -> "RerankingExperiment":
        """A trial on the first candidates of BM25 with the study's settings; at least 100 of them are retrieved."""
        return cls(bed, bed.bm25(K1, B, depth=max(DEPTH, candidates)), candidates, aggregation)

    def baseline(self, label: str = "BM25") -> Evaluation:
        """The first stage, not re-ranked."""
        return evaluate(label, self.run.value(), self.bed, self.measures, self.run)

    def of(self, label: str, model: Scorer, candidates: int = 0) -> Evaluation:
        """A model on the trial's candidates, or on other numbers of them."""
        scores = model.scores(self.bed, self.run, candidates or self.candidates)
        return evaluate(label, aggregate(scores.value(), self.aggregation), self.bed, self.measures, scores)

    def over_seeds(self, label: str, models: Sequence[Scorer]) -> Evaluation:
        """One system from models that differ in the seed alone; a single model stands for itself."""
        runs = [self.of(label, model) for model in models]
        return over_seeds(label, runs) if len(runs) > 1 else runs[0]
