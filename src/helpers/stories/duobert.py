"""The chapter *Documents in pairs* (Steensland 2021, section 3.1.2): duoBERT over the first documents of a re-ranker."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from helpers.data.runs import cut
from helpers.data.texts import Texts
from helpers.pages import claims, compare, identity, page, plots, training
from helpers.pages.compare import lead, mean_cell
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain
from helpers.reranking.aggregation import reranked
from helpers.reranking.duo import DUOS, in_pairs
from helpers.steps import Step
from helpers.stories import candidates
from helpers.systems.evaluated import Evaluation, Systems, evaluate
from helpers.systems.listwise_reranker import Listwise, ListwiseReranker
from helpers.systems.pairwise_reranker import PairwiseReranker, duobert
from helpers.systems.pipeline import title_of
from helpers.systems.reranking_experiment import RerankingExperiment, Scorer, together
from helpers.systems.zero_shot import zero_shot_in

MEASURE = "RR@10"
Means = Mapping[tuple[bool, bool], float]  # by whether the first text of a pair is relevant, and the second
MONO = "monoBERT"
SUM, SAMPLE = "sum", "sample"
STUDIED, OTHERS = "pairs with a relevant text", "pairs of other texts, too"  # what a model learns from
CLAIMED = (SUM, "binary")  # the aggregations that the claim names
COMPARES = 0.1  # the least that a relevant second text must lower the probability of a first one that is not


def duo(how: str) -> str:
    """The name of the pairwise stage by its aggregation."""
    return f"{MONO} + duoBERT, {how}"


def second_stage(trial: RerankingExperiment, model: Scorer) -> Step:
    """BM25's run with its first documents in the order of a model that reads each alone."""
    return reranked(model.scores(trial.bed, trial.run, trial.candidates), trial.aggregation, trial.run)


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

    def by(self, how: str, first: int, compared: int = 0) -> Evaluation:
        """The run with its `first` documents in the order of the aggregation; of a sample each is `compared` with so many."""
        runs = [evaluate(duo(how), in_pairs(pairs, self.run, how, first, compared), self.trial.bed, self.trial.measures, pairs)
                for pairs in self.pairs]
        return together(duo(how), runs)


def as_studied(how: str) -> str:
    """The name of the pairwise stage that learned from pairs with a relevant text alone."""
    return f"{duo(how)}, {STUDIED}"


def trainings(mono: ListwiseReranker, seeds: Sequence[int], **settings: Any) -> dict[str, list[PairwiseReranker]]:
    """The pairwise models by what they learn from: over the seeds; and as the authors' did, of the first seed alone."""
    return {OTHERS: duobert(mono, among_others=True, **settings).over_seeds(seeds),
            STUDIED: duobert(mono, **settings).over_seeds(seeds[:1])}


def evaluations(trial: RerankingExperiment, mono: Listwise, models: Mapping[str, Sequence[PairwiseReranker]], first: int,
                compared: int) -> dict[str, Evaluation]:
    """BM25, the zero-shot encoder, the re-ranker that reads documents alone, and pairs over its first ones, by aggregation; where
    pairs with a relevant text alone were learned from, by those of the claim."""
    run = second_stage(trial, mono)
    third = {name: ThirdStage(trial, run, own, first) for name, own in models.items()}
    return {"BM25": trial.baseline(), **trial.zero_shot(mono.backbone),
            MONO: evaluate(MONO, run, trial.bed, trial.measures),
            **{duo(how): third[OTHERS].by(how, first, compared) for how in DUOS},
            **{as_studied(how): replace(third[STUDIED].by(how, first, compared), label=as_studied(how)) for how in CLAIMED}}


def inferences(alone: int, first: int, compared: int | None = None) -> int:
    """k0 + k1 (k1 - 1), or k0 + k1 m where each document is compared with m others alone."""
    return alone + first * ((first - 1) if compared is None else min(compared, first - 1))


def trade_off(trial: RerankingExperiment, mono: Scorer, models: Sequence[PairwiseReranker], depths: Sequence[int],
              firsts: Sequence[int], samples: Sequence[int]) -> dict[str, dict[int, Evaluation]]:
    """Systems by their inferences a query: documents read alone, for each R; all pairs, for each number of first documents; and
    samples of them, among the most."""
    most = max(firsts)
    third = ThirdStage(trial, second_stage(trial, mono), models, most)
    return {
        "one at a time": dict(candidates.evaluations(trial, [mono], depths)),
        "then all pairs": {inferences(trial.candidates, first): third.by(SUM, first) for first in firsts},
        "then some pairs": {inferences(trial.candidates, most, some): third.by(SAMPLE, most, some) for some in samples}}


def curves(lines: Mapping[str, Mapping[int, Evaluation]]) -> Fragment:
    """Effect against cost: a line for each way of spending inferences."""
    return plots.curves({name: pd.Series({cost: system.mean(MEASURE).mean for cost, system in own.items()})
                         for name, own in lines.items()}, "inferences a query", MEASURE,
                        f"{MEASURE} by the inferences of a query: documents read one at a time, and the first of them in pairs.",
                        log=True)


def curve_table(lines: Mapping[str, Mapping[int, Evaluation]]) -> Fragment:
    """The same in numbers."""
    return page.records_table("Effect and cost", [
        {"documents are read": name, "inferences a query": count(cost), MEASURE: mean_cell(system, MEASURE)}
        for name, own in lines.items() for cost, system in own.items()])


def chosen(trial: RerankingExperiment, run: Step, first: int) -> str:
    """The first query that has a relevant document among those compared, but not at the top; else the first of all."""
    ranked = cut(run.value(), first).merge(relevant(trial), on=["query_id", "doc_id"], how="left", indicator="known")
    ranked["place"] = ranked.groupby("query_id").cumcount()
    places = ranked[ranked["known"] == "both"].groupby("query_id")["place"].min()
    return next((query for query in trial.bed.judged if places.get(query, 0) > 0), trial.bed.judged[0])


def relevant(trial: RerankingExperiment) -> pd.DataFrame:
    """The relevant documents of each query: columns query_id, doc_id."""
    return trial.bed.qrels.query("relevance >= @trial.bed.min_relevance")[["query_id", "doc_id"]]


def example(trial: RerankingExperiment, run: Step, model: PairwiseReranker, query_id: str, first: int) -> Fragment:
    """One query's first documents with their probabilities against each other, as a matrix, and the sums that order them."""
    pairs = model.probabilities(trial.bed, run, first).value().query("query_id == @query_id")
    known = {(one, other): value for one, other, value in pairs.drop(columns="query_id").itertuples(index=False)}
    ranked = list(run.value().query("query_id == @query_id")["doc_id"].head(first))
    texts, answers, rows = Texts(trial.bed.store.value()), set(relevant(trial).query("query_id == @query_id")["doc_id"]), []
    for place, doc_id in enumerate(ranked, start=1):
        wins = [known.get((doc_id, other)) for other in ranked]
        rows.append([f"{place}. {title_of(texts, doc_id)}{' (relevant)' if doc_id in answers else ''}",
                     *("" if p is None else plain(p, 2) for p in wins), plain(sum(filter(None, wins)), 2)])
    text = trial.bed.query_frame.set_index("query_id")["text"][query_id]
    return page.show_table(f"“{text}”: the probability that the document of a row is more relevant than that of a column",
                           ("document, by its rank before", *map(str, range(1, len(ranked) + 1)), SUM), rows)


def training_table(model: PairwiseReranker) -> Fragment:
    """What a model was trained on: its relevant text stands first in half of the inputs, or before each other of all ordered
    pairs of a group."""
    log = model.log.value()
    positives = log["pairs"] // (model.size if model.among_others else 2)
    return training.training_table({**log, "positives": positives}, "of them with the relevant text first")


def by_relevance(trial: RerankingExperiment, run: Step, models: Sequence[PairwiseReranker], first: int) -> Means:
    """The mean probability that the first text of a pair is the more relevant one, over all models."""
    scored = pd.concat([model.probabilities(trial.bed, run, first).value() for model in models])
    answers = pd.MultiIndex.from_frame(relevant(trial))
    sides = [pd.MultiIndex.from_frame(scored[["query_id", side]]).isin(answers) for side in ("doc_id", "other_id")]
    return scored.groupby(sides)["probability"].mean().to_dict()


def comparing(means: Means) -> float:
    """How much less probable it is that a text which is not relevant is the better one, once the other is relevant."""
    return means[False, False] - means[False, True]


def reading_table(means: Mapping[str, Means]) -> Fragment:
    """What a model that compares should tell apart by its second text, too, by what it learned from."""
    rows = [[text, *(plain(own[places]) for own in means.values())] for text, places in (
        ("the first alone", (True, False)), ("neither", (False, False)), ("the second alone", (False, True)))
        if all(places in own for own in means.values())]
    return page.show_table("The mean probability that the first text is the better one, by what the model learned from",
                           ("relevant is", *means), rows)


def differences(systems: Systems) -> Fragment:
    """Every aggregation of pairs compared with the stage before, and the two trainings with each other."""
    pairs = {how: (systems[duo(how)], systems[MONO]) for how in DUOS} | {
        f"{how}, and {how} after {STUDIED} alone": (systems[duo(how)], systems[as_studied(how)])
        for how in CLAIMED}
    return compare.differences_table(f"Compared with {MONO}, and with the other training", pairs, MEASURE)


def claims_table(systems: Systems, means: Means, trial: RerankingExperiment, first: int) -> Fragment:
    """The chapter's claim: pairs over the re-ranker's first documents, by the sum and by won comparisons, and the re-ranker.

    No verdict on a model that does not compare, as its means show.
    """
    named = "duobert-beats-monobert"
    pairs = {how: (systems[duo(how)], systems[MONO]) for how in CLAIMED}
    why = next(filter(None, identity.barred(pairs, zero_shot_in(systems), trial.bed, first).values()), "")
    if comparing(means) < COMPARES:
        loss = plain(comparing(means))
        why = f"a relevant second text lowers the probability of the first by {loss}: the model does not compare"
    return claims.judge("duobert", {named: pairs}, untested={named: why})


def signs(systems: Systems, means: Mapping[str, Means], lines: Mapping[str, Mapping[int, Evaluation]]) -> dict[str, bool]:
    """What the discussion rests on besides the claim."""
    alone, pairs = (max(system.mean(MEASURE).mean for system in lines[name].values())
                    for name in ("one at a time", "then all pairs"))
    return {"the model compares": comparing(means[OTHERS]) >= COMPARES,
            "pairs reach more than any number of documents read alone": pairs > alone,
            "every aggregation of pairs ranks below monoBERT": all(
                lead(systems[duo(how)], systems[MONO], MEASURE) < 0 for how in DUOS),
            "trained on pairs with a relevant text alone, the model hardly reads the second":
            comparing(means[STUDIED]) < COMPARES,
            "pairs of other texts lower the means of sum and count": all(
                lead(systems[duo(how)], systems[as_studied(how)], MEASURE) < 0 for how in CLAIMED)}
