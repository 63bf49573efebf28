"""The chapter *Human judgments*: the book's findings on real queries whose answers people judged (TREC 2019 Deep Learning).

Texts, queries and judgments are not the book's to ship; what was measured on them is recorded (`helpers.data.elsewhere`). So a
system is its values here, query by query, and no run or judgment is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from helpers.data.elsewhere import listed
from helpers.data.external_run import external_run
from helpers.evaluation.pools import condensed
from helpers.evaluation.significance import Paired
from helpers.evaluation.verdicts import ALPHA
from helpers.pages import page, plots, stages, training
from helpers.pages.compare import mean_link, test_cells, tests_against
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count
from helpers.reranking.aggregation import aggregated
from helpers.retrieval.bm25 import K1, B
from helpers.retrieval.feedback import RM3_WEIGHT, rm3_run
from helpers.retrieval.fusion import z_scored
from helpers.steps import Step
from helpers.systems.evaluated import Evaluation, Systems, evaluate_values
from helpers.systems.first_stages import FirstStages
from helpers.systems.listwise_reranker import ListwiseReranker
from helpers.systems.recipe import with_general_text
from helpers.systems.reranking_experiment import RerankingExperiment, Scorer, together
from helpers.systems.testbed import Testbed

TEN = 10  # documents and terms of the feedback, Anserini's default
BM25, FEEDBACK, DENSE = "BM25", "BM25 + RM3", "dense retrieval"
ENCODER, RERANKER, FUSED = "zero-shot encoder", "re-ranker", "re-ranker and encoder, summed"
FEW, OVER_DENSE = "re-ranker, few candidates", "re-ranker over dense retrieval"
GENERAL, GENERAL_FUSED = "re-ranker, general text too", "re-ranker, general text too, and encoder, summed"
MEASURES = ["nDCG@10", "RR@10", "Judged@10"]
POOLED = [*MEASURES, condensed("nDCG@10")]  # of a track, whose judgments reach no further than its pools
HELPS = "general text helps the re-ranker"
TAUGHT = "the re-ranker ranks above the encoder that taught it"
FINDINGS = {  # each says that its first system ranks above its second
    "the re-ranker ranks above BM25": (RERANKER, BM25), "the zero-shot encoder ranks above BM25": (ENCODER, BM25),
    TAUGHT: (RERANKER, ENCODER), "both together rank above the re-ranker": (FUSED, RERANKER),
    "more candidates help the re-ranker": (RERANKER, FEW), "feedback helps BM25": (FEEDBACK, BM25),
    "dense retrieval ranks above BM25": (DENSE, BM25), "dense candidates help the re-ranker": (OVER_DENSE, RERANKER)}
OF_GENERAL_TEXT = {HELPS: (GENERAL, RERANKER), "with general text the re-ranker ranks above BM25": (GENERAL, BM25),
                   "general text helps the sum of both": (GENERAL_FUSED, FUSED)}  # asked later


@dataclass(frozen=True)
class Kind:
    """A kind of re-ranker: its trainings, and how it is summed with the encoder."""

    models: Sequence[ListwiseReranker]
    sum: str  # what the sum is called
    weight: float  # the re-ranker's in it
    on_dev: Evaluation  # what chose it: one training on development queries


@dataclass(frozen=True)
class Side:
    """One of the two collections: its first stages by name, and how its rankings are measured."""

    bed: Testbed
    stages: Mapping[str, Step]
    measure: str
    candidates: int  # re-ranked for each query
    measures: Sequence[str] = tuple(MEASURES)
    kept: bool = False  # whether scores are recorded, too, so that the rankings can be had without the texts

    def evaluated(self, label: str, ranking: Step) -> Evaluation:
        """The values of a ranking, which is not read."""
        return evaluate_values(label, ranking, self.bed, self.measures)

    def reranked(self, label: str, models: Sequence[Scorer], stage: str, first: int | None = None) -> Evaluation:
        """A stage's candidates in the order of a model, or the first of them, averaged over its seeds."""
        return together(label, [self.evaluated(label, self.order(model, stage, first)) for model in models])

    def order(self, model: Scorer, stage: str, first: int | None = None) -> Step:
        """The ranking itself."""
        scores = model.scores(self.bed, self.stages[stage], self.candidates)
        if self.kept:
            scores.entry()
        return aggregated(scores, "max", None if first is None else self.stages[stage], first)

    def summed(self, label: str, models: Sequence[Scorer], encoder: Scorer, weight: float) -> Evaluation:
        """A model's order of BM25's candidates and the encoder's, summed; `weight` is the model's."""
        sums = [z_scored(self.order(model, BM25), self.order(encoder, BM25), self.candidates, weight) for model in models]
        return together(label, [self.evaluated(label, run) for run in sums])

    def systems(self, kinds: Mapping[str, Kind], encoder: Scorer, few: int) -> dict[str, Evaluation]:
        """All systems of the chapter on this side."""
        models = kinds[RERANKER].models
        reranked = {name: own for kind, its in kinds.items() for name, own in (
            (kind, self.reranked(kind, its.models, BM25)), (its.sum, self.summed(its.sum, its.models, encoder, its.weight)))}
        return {**{name: self.evaluated(name, run) for name, run in self.stages.items()},
                ENCODER: self.evaluated(ENCODER, self.order(encoder, BM25)), **reranked,
                FEW: self.reranked(FEW, models, BM25, few), OVER_DENSE: self.reranked(OVER_DENSE, models, DENSE)}


def runs(recipes: FirstStages, bed: Testbed, depth: int, folder: str = "", files: Sequence[str] = ()) -> dict[str, Step]:
    """The first stages of a collection: those that came with it as files, BM25, feedback, a dense one and others, or without any
    the book's own, whose feedback is Anserini's RM3."""
    if files:
        names = (BM25, FEEDBACK, DENSE, *map(stages.label, files[3:]))
        return {name: external_run(f"{folder}/{file}", bed.query_step, depth, bed.store)
                for name, file in zip(names, files, strict=True)}
    feedback = rm3_run(bed.index, bed.query_step, K1, B, depth, TEN, TEN, RM3_WEIGHT)
    return {BM25: bed.bm25(K1, B, depth), FEEDBACK: feedback, DENSE: recipes.run("minilm", bed, depth)}


def kinds(model: ListwiseReranker, general_text: str, general_queries: int, seeds: Sequence[int], dev: RerankingExperiment,
          encoder: Scorer) -> dict[str, Kind]:
    """The re-ranker of *Does it work?* that learned from labels of sections; and one that learned from these after its base had
    gone on, without labels, with so many pseudo-queries of general text. Development queries choose the weights.

    Args:
        general_text: a collection of it; empty for the first kind alone.
    """
    found = {RERANKER: (model, FUSED)}
    if general_text:
        found[GENERAL] = (with_general_text(model, general_text, general_queries), GENERAL_FUSED)
    tried = {name: dev.of(name, own) for name, (own, _) in found.items()}
    return {name: Kind([replace(own, seed=seed) for seed in seeds], summed, dev.best_weight(tried[name], dev.of("", encoder)),
                       tried[name]) for name, (own, summed) in found.items()}


def on_dev(kinds: Mapping[str, Kind], dev: RerankingExperiment, encoder: Scorer) -> dict[str, Evaluation]:
    """The encoder and each kind on the development queries that chose the weights."""
    return {ENCODER: dev.of(ENCODER, encoder), **{name: kind.on_dev for name, kind in kinds.items()}}


def general_losses(kinds: Mapping[str, Kind]) -> Fragment:
    """How the base learned from general text; nothing where it did not read any."""
    if GENERAL not in kinds or (base := kinds[GENERAL].models[0].start) is None:
        return Fragment()
    return plots.curves(training.loss_curves(base.log.value()), "optimiser steps", "loss", "Loss of the base over general text.")


def name_of(bed: Testbed) -> str:
    """How the page names the collection with human judgments: a listed one as its list does, any other by its own name."""
    digest = bed.source.part("qrels", bed.unit, bed.splits[0]).digest
    return next((own["name"] for own in listed().values() if digest in own["digests"].values()), bed.source.name)


def systems_table(caption: str, systems: Systems, measure: str, measures: Sequence[str] = MEASURES) -> Fragment:
    """Each system with its measures; the difference from BM25 in one of them."""
    tests = tests_against(systems, BM25, measure)
    rows = [[name, *(mean_link(system, own) for own in measures), *test_cells(tests.get(name), without="baseline")]
            for name, system in systems.items()]
    caption = f"{caption}, {count(len(systems[BM25].values))} queries"
    heads = [own if own in MEASURES else "nDCG@10, judged texts alone" for own in measures]
    return page.show_table(caption, ("system", *heads, f"{measure} beside BM25's", "p"), rows)


def compared(side: Side, systems: Systems) -> dict[str, Paired]:
    """Every finding's difference on one side, those of general text where there are such."""
    findings = {**FINDINGS, **(OF_GENERAL_TEXT if GENERAL in systems else {})}
    return {finding: systems[first].against(systems[second], side.measure) for finding, (first, second) in findings.items()}


def findings_table(sides: Mapping[str, dict[str, Paired]]) -> Fragment:
    """Every finding on both sides: the difference with its interval, its p, and whether it travels."""
    home, away = sides.values()
    rows = [[name, *(cell for tests in sides.values() for cell in test_cells(tests[name])), travels(home[name], away[name])]
            for name in home]
    heads = [head for name in sides for head in (f"difference, {name}", "p")]
    return page.show_table("The findings at home and on human judgments", ("finding", *heads, "does it travel?"), rows)


def travels(home: Paired, away: Paired) -> str:
    """What the two differences say together, in words."""
    at_home, there = (("higher" if test.difference.mean > 0 else "lower") if test.p_permutation < ALPHA else ""
                      for test in (home, away))
    if at_home and there:
        return f"yes, {there}" if at_home == there else f"no: {at_home} at home, {there} there"
    return f"sure at home alone: {at_home}" if at_home else f"sure there alone: {there}" if there else "sure on neither"


def findings_figure(sides: Mapping[str, dict[str, Paired]]) -> Fragment:
    """Both differences of every finding on one axis."""
    (home, at_home), (away, there) = sides.items()
    return plots.forest({name: (at_home[name].difference, there[name].difference) for name in at_home},
                        "difference", "The findings on both collections, each in its own measure.", (home, away))


def depth_curves(sides: Mapping[str, Side], models: Sequence[Scorer], depths: Sequence[int]) -> Fragment:
    """The re-ranker by the number of candidates, on both sides."""
    means = {f"{name}, {side.measure}": pd.Series({depth: side.reranked(RERANKER, models, BM25, depth).mean(side.measure).mean
                                                   for depth in {**dict.fromkeys(depths), side.candidates: None}})
             for name, side in sides.items()}
    return plots.curves(means, "candidates re-ranked", "mean", "The re-ranker by the number of its candidates.", log=True)


def signs(sides: Mapping[str, dict[str, Paired]]) -> dict[str, bool]:
    """What the discussion rests on: which findings hold on human judgments, what general text changes on either side, and whether
    the encoder that taught the re-ranker ranks above it there."""
    home, there = sides.values()
    sure = {name: test.p_permutation < ALPHA for name, test in there.items()}
    return {**dict.fromkeys(OF_GENERAL_TEXT, False),
            **{name: sure[name] and test.difference.mean > 0 for name, test in there.items()},
            "general text raises the mean there": HELPS in there and there[HELPS].difference.mean > 0,
            "general text changes nothing sure at home": HELPS in home and home[HELPS].p_permutation >= ALPHA,
            "the encoder that taught the re-ranker ranks above it": sure[TAUGHT] and there[TAUGHT].difference.mean < 0}
