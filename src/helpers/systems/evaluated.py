"""An evaluation: a labelled system with its per-query values and the step that they came from.

A trial: many models that re-rank the same candidates of the same queries, so that they can be compared in pairs.

    trial = RerankingExperiment.of_bm25(Testbed("almanac", "passage"), candidates=20)
    trial.baseline()                          # the first stage itself
    trial.of("seed 7", replace(model, seed=7))
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pandas as pd

from helpers.data.runs import cut
from helpers.evaluation.hierarchical import Rows, training_noise
from helpers.evaluation.pools import with_judgments
from helpers.evaluation.significance import Interval, Paired, TrainingNoise, mean_interval, paired
from helpers.reranking.aggregation import AGGREGATIONS, aggregate, reranked, windows_of
from helpers.retrieval.bm25 import K1, B
from helpers.retrieval.fusion import z_scored_sum
from helpers.steps import Step, recipe, registry
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZeroShotReranker

PRETRAINING = "pretrained"
AGGREGATION = "parade"
WARM_UP = "teacher_groups"  # of a start that has judged pairs
CROSS_ENCODERS = {"listwise_cross_encoder", "pointwise_cross_encoder", "distilled_cross_encoder"}
BI_ENCODERS = {"bi_encoder", "distilled_encoder", "predicted_similarity", "triplet_accuracy"}  # the last two train and measure
LEXICAL = "BM25 over learned texts"
OTHER_KINDS = {**dict.fromkeys(("query_writer", "generated_queries", "word_expansion", "deepct"), LEXICAL),
               PRETRAINING: "pre-training alone"}


@dataclass(frozen=True, eq=False)  # tables of two do not compare; one is itself
class Evaluation:
    """Per-query values of one system."""

    label: str  # as the tables name it, `BERT-Mean`
    ranking: pd.DataFrame | Step  # the ranked run, or the step that keeps it
    values: pd.DataFrame  # a row a query, a column a measure
    source: Step  # the step whose value was measured: the provenance of every number
    seeds: "tuple[Evaluation, ...]" = ()  # for a system averaged over seeds, its runs, each with the same queries; else none
    unit: str = "queries"  # what the rows of the values are
    name: str = ""  # its name among all systems of a page, where another has the same label
    also: tuple[Step, ...] = ()  # other steps that the values rest on, of a system that was subtracted

    @functools.cached_property
    def run(self) -> pd.DataFrame:
        """The ranked run, read when it is first asked for: most tables want the values alone."""
        return self.ranking if isinstance(self.ranking, pd.DataFrame) else self.ranking.value()

    @property
    def seed_means(self) -> pd.DataFrame | None:
        """A row a seed with its means, a column a measure; None for a single run."""
        return pd.DataFrame([run.values.mean() for run in self.seeds]) if self.seeds else None

    @property
    def runs(self) -> "tuple[Evaluation, ...]":
        """The runs of its seeds, or the one that it is."""
        return self.seeds or (self,)

    def trainings(self) -> tuple[frozenset[str], ...]:
        """The trainings behind each of its runs."""
        return tuple(frozenset[str]().union(*map(trainings, (run.source, *run.also))) for run in self.runs)

    def rows(self, measure: str, queries: pd.Index, elsewhere: frozenset[str] = frozenset()) -> Rows:
        """The values of each run in the order of the queries, for inference over trainings and queries; what trainings add that
        lie behind the system compared with, too (`elsewhere`), cancels."""
        values = np.array([run.values[measure].loc[queries].to_numpy(dtype=float) for run in self.runs])
        first = self.runs[0]
        trained = sum(bool(trainings(step) - elsewhere) for step in (first.source, *first.also))
        groups = [sorted(key for name, key, _ in _seeded(run.source) if name == PRETRAINING) for run in self.runs]
        return Rows(values, trained, tuple(map(" ".join, groups)), kind_of(first.source, elsewhere),
                    tuple(seeds_of(run.source, elsewhere) for run in self.runs))

    def mean(self, measure: str) -> Interval:
        """Mean and 95 % bootstrap interval over queries."""
        return mean_interval(self.values[measure])

    def against(self, baseline: "Evaluation", measure: str, drawn: bool = True) -> Paired:
        """The comparison with another system on the same queries, over trainings and queries together; with `drawn` false no
        other training is drawn, for a statement on just these trained models."""
        first, second, shared = self.both_rows(baseline, measure)
        noise = (training_noise(first, second, measure, shared) if drawn else
                 TrainingNoise(assumption="of just these trained models"))
        return replace(paired(first.values.mean(axis=0), second.values.mean(axis=0), noise), unit=self.unit)

    def both_rows(self, baseline: "Evaluation", measure: str) -> tuple[Rows, Rows, bool]:
        """The values of two systems on the same queries in each run, for inference over trainings and queries; and whether both
        come out of the same trainings."""
        queries, ours, theirs = self.values.index, self.trainings(), baseline.trainings()
        return (self.rows(measure, queries, frozenset[str]().union(*theirs)),
                baseline.rows(measure, queries, frozenset[str]().union(*ours)), ours == theirs and any(ours))

    def less(self, base: "Evaluation") -> "Evaluation":
        """Its lead over another system on the same queries, seed by seed where both have as many, or the other has none; for a
        difference of leads."""
        others = base.seeds or (base,) * len(self.seeds)
        both = zip(self.seeds, others, strict=True) if len(self.seeds) == len(others) else ()
        return replace(self, values=self.values - base.values.loc[self.values.index], also=(*self.also, base.source, *base.also),
                       seeds=tuple(run.less(other) for run, other in both))

    def mapped(self, of: Callable[[pd.DataFrame], pd.DataFrame]) -> "Evaluation":
        """The same system with another value made of each, in every run: a part of it, or whether it is a first place. Its own
        values are the runs' means: a mean of first and second places is neither."""
        runs = tuple(run.mapped(of) for run in self.seeds)
        values = [run.values for run in runs] or [of(self.values).astype(float)]
        return replace(self, values=pd.concat(values).groupby(level=0, sort=False).mean(), seeds=runs)

    def on(self, queries: Sequence[str]) -> "Evaluation":
        """The same system on some of its queries."""
        return replace(self, values=self.values.loc[list(queries)], seeds=tuple(run.on(queries) for run in self.seeds))


Systems = Mapping[str, Evaluation]  # by the name that tables give them


def evaluate(label: str, ranking: Step, bed: Testbed, measures: Sequence[str], source: Step | None = None) -> Evaluation:
    """Measure the run of a step on a testbed; the values are kept, and the run is not read where they are there. The numbers are
    traced to `source`, where the ranking is only put together from it; by default to the ranking."""
    names = with_judgments(list(measures), bed.qrels)
    (source or ranking).entry()  # a page that shows its values has used it
    return Evaluation(label, ranking, bed.measured(ranking, names).value().set_index("query_id"), source or ranking)


def evaluate_values(label: str, ranking: Step, bed: Testbed, measures: Sequence[str]) -> Evaluation:
    """The values alone, to which the numbers are traced: for a ranking that no page shows, and that is not kept with the book."""
    values = bed.measured(ranking, list(measures))
    return Evaluation(label, pd.DataFrame(), values.value().set_index("query_id"), values)


def evaluate_seeds(label: str, rankings: Sequence[Step], bed: Testbed, measures: Sequence[str],
                   source: Step | None = None) -> Evaluation:
    """One system over its seeds; a single one stands for itself. Tables that look at a ranking take the first's, whose `source`
    is that of `evaluate`, so that of the others the values are all that is kept with the book."""
    first, *others = rankings
    names = with_judgments(list(measures), bed.qrels)
    return together(label, [evaluate(label, first, bed, measures, source),
                            *(evaluate_values(label, other, bed, names) for other in others)])


def evaluate_frame(label: str, run: pd.DataFrame, bed: Testbed, measures: Sequence[str], source: Step) -> Evaluation:
    """Measure a run that no step keeps."""
    return Evaluation(label, run, bed.per_query(run, with_judgments(list(measures), bed.qrels)), source)


def together(label: str, runs: Sequence[Evaluation]) -> Evaluation:
    """One system from runs that differ in the seed alone: per-query values averaged, the runs kept; a single run stands for
    itself. ValueError for runs that were measured on different queries."""
    first = runs[0]
    if any(not run.values.index.equals(first.values.index) for run in runs):
        raise ValueError("seeds that were measured on the same queries are wanted")
    values = pd.concat([run.values for run in runs]).groupby(level=0, sort=False).mean()
    return Evaluation(label, first.ranking, values, first.source, tuple(runs), first.unit) if len(runs) > 1 else first


def values_of(systems: Systems, names: Sequence[str], measure: str) -> pd.DataFrame:
    """One measure of several systems: a row a query, a column a system."""
    return pd.DataFrame({name: systems[name].values[measure] for name in names})


def trainings(source: Step) -> frozenset[str]:
    """The keys of the trainings behind a step, straight or through others: network steps that take a seed and some epochs."""
    return frozenset(key for _, key, _ in _seeded(source))


@functools.lru_cache(maxsize=4096)
def kind_of(source: Step, elsewhere: frozenset[str] = frozenset()) -> str:
    """The kind of model and recipe that a step's trainings are of, as `published/seed_noise.yaml` has them, without those that
    lie behind the system compared with; empty for none, and for one that is not among them."""
    names = {name for name, key, _ in _seeded(source) if key not in elsewhere}
    if AGGREGATION in names:
        return "aggregations of kept states"
    if names & CROSS_ENCODERS:
        parts = list(recipe.parts(source.recipe()))
        if not any(part.get("data", [])[:2] == ["texts", "document"] for part in parts):
            return "re-rankers of passages"
        return "re-rankers of documents" + (", pairs new to the start" * all(part.get("step") != WARM_UP for part in parts))
    if names & BI_ENCODERS:
        return "pre-training with fine-tuning" if any(name == PRETRAINING for name, _, _ in _seeded(source)) else "bi-encoders"
    return next((kind for name, kind in OTHER_KINDS.items() if name in names), "")


def seeds_of(source: Step, elsewhere: frozenset[str] = frozenset()) -> tuple[int, ...]:
    """The seeds of a step's trainings, those left out that are behind the system compared with."""
    return tuple(sorted(seed for _, key, seed in _seeded(source) if key not in elsewhere))


@functools.lru_cache(maxsize=4096)
def _seeded(source: Step) -> frozenset[tuple[str, str, int]]:
    return frozenset((part["step"], recipe.key_of(part), int(part["arguments"]["seed"]))
                     for part in recipe.parts(source.recipe(), "candidate_pool")  # that says what is scored, and orders nothing
                     if "step" in part and "seed" in part["arguments"] and part["arguments"].get("epochs") != 0
                     and registry.STEPS[part["step"]].network)


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
