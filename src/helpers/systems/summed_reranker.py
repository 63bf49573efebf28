"""Two re-rankers as one: the scores that both give to a window, standardised within a query and summed.

    Pipeline(SummedReranker(), aggregation="max").search("why does bread turn brown")

The book's base learned from the zero-shot encoder's scores, on one collection. Of other texts and queries the encoder knows what
the base has not met, and their sum ranks near the better of the two or above it (chapter `human_judgments`).
"""

from dataclasses import dataclass, field

from helpers.retrieval.fusion import z_scored
from helpers.steps import Step
from helpers.systems.listwise_reranker import WarmUp
from helpers.systems.reranking_experiment import Scorer
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZeroShotReranker

ALL = 10**9  # windows of a query: all that were scored


@dataclass(frozen=True)
class SummedReranker:
    """`weight` x first + (1 - `weight`) x second."""

    first: Scorer = field(default_factory=WarmUp)
    second: Scorer = field(default_factory=ZeroShotReranker)
    weight: float = 0.5  # nothing is known of a reader's own queries that would favour one

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` texts with the sum."""
        return z_scored(self.first.scores(bed, run, candidates), self.second.scores(bed, run, candidates), ALL, self.weight)
