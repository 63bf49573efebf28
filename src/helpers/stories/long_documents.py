"""The chapter *Long documents* (Alarfaj 2022, table 2 and section 6.3): lengths that differ, and answers early or anywhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import pandas as pd

from helpers.evaluation import published
from helpers.pages import claims, compare, identity, page, plots, training
from helpers.pages.compare import above, lead
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import seconds
from helpers.stories.alarfaj import BM25, STUDY, TABLE, Settings, row
from helpers.stories.first_passage import WINDOWED, WINDOWS, evaluations, first, readers
from helpers.stories.longformer import nearest, scoring
from helpers.systems.document_reader import DocumentReader
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import zero_shot_in

MEASURE = "nDCG@10"  # the claims'
EARLY, ANYWHERE = "answers early", "answers anywhere"
BEST = next(iter(WINDOWS))
PRINTED = (512, 1024, 2048, 4096)  # the lengths of table 2
HARDLY = 0.9  # of a loss: a training that leaves more of it has taught next to nothing
EVALUATIONS = 4  # of the held-out loss in a training: each reads as many long documents as four steps


def staged(name: str) -> str:
    """The name of a Longformer that went on from the study's length."""
    return f"{name}, in two stages"


@dataclass(frozen=True)
class Place:
    """A collection whose answers stand early or anywhere, and the models that learned from its documents."""

    collection: str
    settings: Settings
    first_tokens: Sequence[int]
    lengths: Sequence[int]  # of the Longformers, in tokens

    @property
    def longest(self) -> str:
        """The Longformer of the most tokens."""
        return row(max(self.lengths))

    @property
    def studied(self) -> str:
        """The Longformer of the length that the study settled on."""
        return row(nearest(self.lengths))

    @property
    def models(self) -> dict[str, DocumentReader]:
        """The models that learn from documents as they read them: first passages, windows, and Longformers of each length; the
        longest in two stages, too, going on from the study's length, where that is another."""
        own = readers(self.settings, self.first_tokens, {row(length): length for length in self.lengths})
        models = {name: replace(model, evaluations=EVALUATIONS) for name, model in own.items()}
        if self.longest == self.studied:
            return models
        return models | {staged(self.longest): replace(models[self.longest], shorter=models[self.studied])}

    @property
    def whole(self) -> str:
        """The reader of the most tokens; of two trainings that which ended with the lower loss on held-out queries."""
        ways = [name for name in (self.longest, staged(self.longest)) if name in self.models]
        return min(ways, key=lambda name: losses(self, name).iloc[-1])

    def evaluations(self, bed: Testbed) -> dict[str, Evaluation]:
        """BM25, its candidates as each model reads them, and the zero-shot encoder's best window."""
        return evaluations(bed, self.settings, self.models)

    def whole_and_passage(self, systems: Systems) -> tuple[Evaluation, Evaluation]:
        """The Longformer that reads most, and the longest first passage."""
        return systems[self.whole], systems[first(max(self.first_tokens))]

    def longest_and_studied(self, systems: Systems) -> tuple[Evaluation, Evaluation]:
        """The Longformer that reads most, and that of the length which the study settled on."""
        return systems[self.whole], systems[self.studied]


Places = Mapping[str, Place]  # by what they say of the answers; the early ones always
BySystem = Mapping[str, Systems]  # the systems of each


def beds(places: Places, split: str, queries: int) -> dict[str, Testbed]:
    """The test queries over either collection."""
    return {name: Testbed(place.collection, "document", (split,), queries) for name, place in places.items()}


def losses(place: Place, label: str) -> pd.Series:
    """The losses of a model on held-out queries over its training."""
    return training.curve(place.models[label].log.value(), "eval_loss")


def learning_curves(places: Places, name: str) -> Fragment:
    """The held-out losses of a collection's readers; nothing without it."""
    if name not in places:
        return page.prose()
    return plots.curves({label: losses(places[name], label) for label in places[name].models},
                        "optimiser steps", f"evaluation loss, {name}", "Loss on held-out queries over each training.")


def flat(systems: BySystem) -> dict[str, Evaluation]:
    """The systems of either place in one table."""
    return {f"{place}: {name}": system for place, own in systems.items() for name, system in own.items()}


def cost(places: Places, systems: BySystem) -> Fragment:
    """What training each reader took, and what its scoring of all candidates did."""
    return page.records_table("What each reader took, on a machine that did other work", [
        {"model": f"{name}: {label}", "training": seconds(training.took(model.log)),
         "scoring": scoring(systems[name][BEST if label == WINDOWED else label])}
        for name, place in places.items() for label, model in place.models.items()])


def claims_table(place: Place, systems: Systems, bed: Testbed) -> Fragment:
    """The study's two claims on length, where answers come early as in MS MARCO, its collection.

    Candidates are few here, so that BM25 has a gap between the articles, too: one that it shares comes from the texts.
    """
    bm25 = systems[BM25]
    pairs = {"full-document-no-better-than-first-passage": place.whole_and_passage(systems),
             "beyond-1024-tokens-nothing-gained": place.longest_and_studied(systems)}
    bars = [identity.barred(pairs, untrained, bed, place.settings.candidates) for untrained in (zero_shot_in(systems), bm25)]
    learned = training.untaught(losses(place, place.whole))
    return claims.judge("long_documents", pairs, untested=dict.fromkeys(pairs, learned) if learned else {
        claim: reason for claim, reason in bars[0].items() if all(bar[claim] for bar in bars)})


def differences(places: Places, systems: BySystem) -> Fragment:
    """The claims' comparisons for either place, and the whole document and the best window beside BM25 and each other."""
    pairs: dict[str, claims.Pair] = {}
    for name, place in places.items():
        own, whole = systems[name], systems[name][place.whole]
        pairs |= {f"{name}: whole document, and first passage": place.whole_and_passage(own),
                  f"{name}: the longest input, and the study's": place.longest_and_studied(own),
                  f"{name}: whole document, and BM25": (whole, own[BM25]),
                  f"{name}: best window, and whole document": (own[BEST], whole),
                  f"{name}: best window, and BM25": (own[BEST], own[BM25]),
                  f"{name}: best window, and zero-shot's": (own[BEST], zero_shot_in(own))}
    return compare.differences_table("For either place of the answer (first less second)", pairs, MEASURE)


def by_length(places: Places, systems: BySystem) -> Fragment:
    """The measure over the tokens that a Longformer reads, a line a place; beside it what the study printed."""
    lines = {name: pd.Series({length: systems[name][row(length)].values[MEASURE].mean() for length in sorted(place.lengths)})
             for name, place in places.items()}
    for name, place in places.items():
        if end := systems[name].get(staged(place.longest)):
            stages = {nearest(place.lengths): systems[name][place.studied], max(place.lengths): end}
            lines[f"{name}, in two stages"] = pd.Series({length: stage.mean(MEASURE).mean for length, stage in stages.items()})
    printed = pd.Series({length: published.value(STUDY, TABLE, row(length), "NDCG@10").value for length in PRINTED})
    return plots.curves(lines, "tokens that a Longformer reads", MEASURE,
                        "nDCG@10 by the length of the input; hollow, table 2 of the study, on another collection.",
                        printed={EARLY: printed})


def signs(places: Places, systems: BySystem) -> dict[str, bool]:
    """What the discussion rests on besides the claims."""
    place, own = places[EARLY], systems[EARLY]
    whole, passage = place.whole_and_passage(own)
    found = {"where answers come early, the first passage ranks above BM25": lead(passage, own[BM25], MEASURE) > 0,
             "where answers come early, the whole document surely gains on its first passage": above(whole, passage, MEASURE),
             "where answers come early, the whole document surely loses to its first passage": above(passage, whole, MEASURE)}
    if two_stages := own.get(staged(place.longest)):
        found |= {"trained in two stages, the longest input ends with a lower loss": place.whole == two_stages.label,
                  "trained in two stages, the longest input surely ranks below BM25 and the study's length": all(
                      above(own[name], two_stages, MEASURE) for name in (BM25, place.studied))}
    if ANYWHERE not in places:
        return found
    if two_stages:
        ways = [(systems[name][staged(own.longest)], systems[name][own.longest]) for name, own in places.items()]
        found |= {"where answers stand anywhere, two stages end with a higher loss": places[ANYWHERE].whole == place.longest,
                  "at either place, the longest input has a higher mean in two stages": all(
                      lead(*both, MEASURE) > 0 for both in ways),
                  "at some place, the longest input surely ranks higher in two stages": any(
                      above(*both, MEASURE) for both in ways)}
    early, anywhere = ([systems[name][row(length)].mean(MEASURE).mean for length in sorted(place.lengths)
                        if length >= nearest(place.lengths)] for name, place in places.items())
    place, own, ahead = places[ANYWHERE], systems[ANYWHERE], systems[EARLY]
    whole, passage = place.whole_and_passage(own)
    single = [own[name] for name in own if name in place.models]
    return found | {
        "beyond the study's length, each longer input ranks lower where answers come early and higher where they stand anywhere":
        all(a > b for a, b in pairwise(early)) and all(a < b for a, b in pairwise(anywhere)),
        "where answers stand anywhere, the whole document surely gains on its first passage": above(whole, passage, MEASURE),
        "where answers stand anywhere, the longest input surely gains on the study's":
        above(*place.longest_and_studied(own), MEASURE),
        "where answers stand anywhere, every reader of one text surely ranks below BM25":
        all(above(own[BM25], reader, MEASURE) for reader in single),
        "where answers stand anywhere, the best window surely ranks above every reader of one text":
        all(above(own[BEST], reader, MEASURE) for reader in single),
        "at either place the best window surely ranks above the whole document": all(
            above(systems[name][BEST], systems[name][one.whole], MEASURE) for name, one in places.items()),
        "at either place the best window has the highest mean":
        all(max(systems[name], key=lambda way: systems[name][way].mean(MEASURE).mean) == BEST for name in places),
        "the mean and the sum of windows rank below BM25 at either place": all(
            lead(systems[name][way], systems[name][BM25], MEASURE) < 0 for name in places for way in WINDOWS if way != BEST),
        "windows of relevant documents teach next to nothing": all(
            curve.iloc[-1] > HARDLY * curve.iloc[0] for curve in (losses(place, WINDOWED) for place in places.values())),
        "the place of the answer moves the first passage more than the best window":
        lead(ahead[passage.label], passage, MEASURE) > abs(lead(ahead[BEST], own[BEST], MEASURE))}
