"""A trial: many models that re-rank the same candidates of the same queries, so that they can be compared in pairs.

    trial = RerankingExperiment.of_bm25(Testbed("almanac", "passage"), candidates=20)
    trial.baseline()                          # the first stage itself
    trial.of("seed 7", replace(model, seed=7))
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from helpers.data.runs import cut
from helpers.reranking.aggregation import AGGREGATIONS, aggregate, reranked, windows_of
from helpers.retrieval.bm25 import K1, B
from helpers.retrieval.fusion import z_scored_sum
from helpers.steps import Step
from helpers.systems.evaluated import Evaluation, evaluate, evaluate_frame, evaluate_seeds, evaluate_values, together
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZeroShotReranker

DEPTH = 100
MEASURES = ("RR@10", "R@10", "nDCG@10")
TENTHS = [number / 10 for number in range(11)]


class Scorer(Protocol):
    """What can score the windows of candidates: a `Reranker`, a `Student`."""

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """The step that scores the windows of the run's top candidates."""


@dataclass(frozen=True)
class RerankingExperiment:
    """What all models of a comparison share."""

    bed: Testbed  # texts, queries and judgments
    run: Step  # the first stage
    candidates: int = 20  # texts re-ranked for each query (R in Steensland 2021)
    aggregation: str = "mean"  # from window scores to a text's score, see `helpers.reranking.aggregation`
    measures: tuple[str, ...] = MEASURES  # what is measured of each

    def __post_init__(self) -> None:
        AGGREGATIONS[self.aggregation]  # BadInput for an unknown one, before anything is computed

    @classmethod
    def of_bm25(cls, bed: Testbed, candidates: int, aggregation: str = "mean",
                measures: tuple[str, ...] = MEASURES) -> "RerankingExperiment":
        """A trial on the first candidates of BM25 with the study's settings; at least 100 of them are retrieved."""
        return cls(bed, bed.bm25(K1, B, depth=max(DEPTH, candidates)), candidates, aggregation, measures)

    def baseline(self, label: str = "BM25") -> Evaluation:
        """The first stage, not re-ranked."""
        return evaluate(label, self.run, self.bed, self.measures)

    def of(self, label: str, model: Scorer, candidates: int = 0) -> Evaluation:
        """A model on the trial's candidates, or on other numbers of them."""
        return self.aggregated(label, [model.scores(self.bed, self.run, candidates or self.candidates)])

    def zero_shot(self, backbone: str, candidates: int = 0) -> dict[str, Evaluation]:
        """The backbone as it is on the same candidates, or on other numbers of them, under its name."""
        encoder = ZeroShotReranker(backbone)
        return {encoder.label: self.of(encoder.label, encoder, candidates)}

    def aggregated(self, label: str, scores: Sequence[Step], first: int | None = None, shown: bool = True) -> Evaluation:
        """The documents of windows, or of the windows of each query's `first` candidates, which models scored that differ in the
        seed alone, as one system; a single model stands for itself. Of rankings that no page has `shown`, the values alone are
        kept with the book."""
        if isinstance(AGGREGATIONS[self.aggregation], str):
            run = None if first is None else self.run
            documents = [self.bed.documents(own, self.aggregation, run, first) for own in scores]
            if not shown:
                return together(label, [evaluate_values(label, own, self.bed, self.measures) for own in documents])
            return evaluate_seeds(label, documents, self.bed, self.measures, scores[0])
        # a reader's own function has no key: what it makes is not kept
        made = [aggregate(windows_of(own.value(), self.run.value(), first), self.aggregation) for own in scores]
        return together(label, [evaluate_frame(label, documents, self.bed, self.measures, own)
                                for documents, own in zip(made, scores, strict=True)])

    def second_stage(self, model: Scorer) -> Step:
        """The first stage's run with its first candidates in the order of a model, for a stage after it."""
        return reranked(model.scores(self.bed, self.run, self.candidates), self.aggregation, self.run)

    def at_depths(self, models: Sequence[Scorer], depths: Sequence[int], shown: bool = True) -> dict[int, Evaluation]:
        """A model, or one over its seeds, over the first R candidates for each R: every window is scored once."""
        scores = [model.scores(self.bed, self.run, max(depths)) for model in models]
        return {depth: self.aggregated(f"R = {depth}", scores, depth, shown) for depth in sorted(depths)}

    def fused(self, label: str, first: Evaluation, second: Evaluation, weight: float) -> Evaluation:
        """Two models of the trial's candidates, z-scored within a query: `weight` x first + (1 - `weight`) x second."""
        run = z_scored_sum(cut(first.run, self.candidates), cut(second.run, self.candidates), weight)
        return replace(evaluate_frame(label, run, self.bed, self.measures, first.source), also=(second.source,))

    def best_weight(self, first: Evaluation, second: Evaluation) -> float:
        """The weight of `fused`, in tenths, that is best in RR@10 on the trial's queries: meant for development queries."""
        return max(TENTHS, key=lambda weight: self.fused("", first, second, weight).mean("RR@10").mean)

    def over_seeds(self, label: str, models: Sequence[Scorer]) -> Evaluation:
        """One system from models that differ in the seed alone; a single model stands for itself."""
        return self.aggregated(label, [model.scores(self.bed, self.run, self.candidates) for model in models])
