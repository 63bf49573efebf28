"""The chapter *Mismatch* (Zhan et al. 2020, section 4.4.3 and figure 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from helpers.data.texts import Texts
from helpers.evaluation.significance import Paired
from helpers.pages import claims, identity, page, training
from helpers.pages.compare import difference_cell, lead, mean_cell, test_cells
from helpers.pages.fragments import Fragment, linked
from helpers.pages.numbers import count, p_value, plain
from helpers.pages.stages import exact_match, label, stand_in
from helpers.reranking.groups import groups_compared
from helpers.retrieval.fusion import MEASURE as FACTOR
from helpers.retrieval.fusion import consistency, consistency_at_depth, means
from helpers.steps import Step
from helpers.stories.depth import reranked
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation
from helpers.systems.listwise_reranker import ListwiseReranker
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZeroShotReranker

MEASURE = "RR@10"
BM25_NEGATIVES, DENSE_NEGATIVES = "negatives from BM25", "negatives from RepBERT"
Crossed = Mapping[tuple[str, str], Mapping[int, Evaluation]]  # by negatives and stage, then by depth
DIFFERS, MATTERS = "repbert-candidates-differ-from-bm25", "repbert-candidates-lose-at-depth-by-mismatch"
NO_OTHER = "needs RepBERT, or a run that stands for it, and a first stage that is neither it nor the reference"
NOT_RERANKED = "This page re-ranks nothing with these parameters."
EXPANDED = "doctttttquery"
NOT_EXPANDED = "needs docTTTTTquery's candidates, re-ranked beside RepBERT's"


def factors(runs: Mapping[str, Step], reference: Step, depths: Sequence[int]) -> dict[str, Step]:
    """The consistency of every stage with the reference run, as steps."""
    return {stage: consistency(run, reference, sorted(depths)) for stage, run in runs.items()}


def curves(steps: Mapping[str, Step]) -> dict[str, pd.Series]:
    """The mean factor by depth, a line for each stage."""
    return {label(stage): means(step.value()) for stage, step in steps.items()}


def systems_at(steps: Mapping[str, Step], depth: int) -> dict[str, Evaluation]:
    """The factors at a depth as evaluations, on the queries for which every stage has documents."""
    values = {stage: consistency_at_depth(step.value(), depth) for stage, step in steps.items()}
    shared = [query for query in next(iter(values.values())).index if all(query in frame.index for frame in values.values())]
    return {stage: Evaluation(label(stage), pd.DataFrame(), frame.loc[shared], steps[stage],
                              name=f"{label(stage)}, depth {depth}") for stage, frame in values.items()}


def by_depth(steps: Mapping[str, Step], depths: Sequence[int]) -> dict[str, dict[int, Evaluation]]:
    """The factors of every stage at every depth, on all queries for which it has documents."""
    return {stage: {depth: systems_at({stage: step}, depth)[stage] for depth in sorted(depths)} for stage, step in steps.items()}


def table(systems: Mapping[str, Mapping[int, Evaluation]]) -> Fragment:
    """The factor of every stage at every depth, with its interval over queries."""
    return page.records_table("Consistency factor by depth (95 % intervals over queries)", (
        {"first stage": label(stage), **{str(depth): mean_cell(system, FACTOR) for depth, system in by_depth.items()}}
        for stage, by_depth in systems.items()))


def chance(bed: Testbed, reference: Step) -> Fragment:
    """What a list drawn at random would have."""
    texts, judged = len(Texts(bed.store.value())), reference.value()
    held = len(judged) / max(1, judged["query_id"].nunique())
    return page.prose(f"The reference holds {count(round(held))} of {count(texts)} texts for a query: a list drawn at random "
                      f"would have a factor of {plain(held / texts)}.")


def models(base: ListwiseReranker, dense: BiEncoder, seeds: Sequence[int]) -> dict[str, list[ListwiseReranker]]:
    """The same re-ranker over its seeds, trained on the candidates of either stage; where these come from is all that differs."""
    bm25, other = replace(base, negatives="bm25"), replace(base, negatives="dense", negatives_from=dense)
    return {BM25_NEGATIVES: replace(bm25, beside=other).over_seeds(seeds),
            DENSE_NEGATIVES: replace(other, beside=bm25).over_seeds(seeds)}


def groups_table(trained: Mapping[str, Sequence[ListwiseReranker]], systems: Crossed) -> Fragment:
    """What both re-rankers learn from, and how much of it is the same."""
    if not systems:
        return page.prose(NOT_RERANKED)
    step = groups_compared(*(trained[name][0].groups for name in (BM25_NEGATIVES, DENSE_NEGATIVES)))
    return page.records_table("What the two re-rankers learn from", (
        {"": kind, BM25_NEGATIVES: linked(count(ours), step), DENSE_NEGATIVES: linked(count(theirs), step),
         "in both": linked(f"{count(both)} ({both / ours:.0%})", step)}
        for kind, ours, theirs, both in step.value().itertuples(index=False)))


def both(runs: Mapping[str, Step], reference: str, dense: str) -> list[str]:
    """The stages whose candidates are re-ranked, those of them that are there; docTTTTTquery's too, which the claim is about."""
    return [stage for stage in dict.fromkeys((reference, dense, EXPANDED)) if stage in runs]


def crossed(trained: Mapping[str, Sequence[ListwiseReranker]], runs: Mapping[str, Step], bed: Testbed,
            depths: Sequence[int]) -> dict[tuple[str, str], dict[int, Evaluation]]:
    """Every re-ranker over its seeds and over the candidates of every stage, scored once at the largest depth; nothing for no
    depths."""
    return {(name, stage): dict(systems) for name, own in trained.items()
            for stage, systems in reranked(runs, bed, own, depths).items()}


def identity_table(systems: Crossed, encoder: ZeroShotReranker, runs: Mapping[str, Step], reference: str,
                   bed: Testbed) -> Fragment:
    """Both re-rankers over the reference's candidates, at the largest depth, beside an encoder without training."""
    ends = {name: by_depth[max(by_depth)] for (name, stage), by_depth in systems.items() if stage == reference}
    if not ends:
        return page.prose(NOT_RERANKED)
    depths = list(systems[BM25_NEGATIVES, reference])
    untrained = reranked({reference: runs[reference]}, bed, [encoder], depths)[reference][max(depths)]
    return identity.identity_table({**ends, encoder.label: untrained}, bed, max(depths))


def crossed_table(systems: Crossed) -> Fragment:
    """RR@10 of both re-rankers over each stage's candidates, and what the negatives change."""
    if not systems:
        return page.prose(NOT_RERANKED)
    pairs = [(stage, depth) for stage in dict.fromkeys(stage for _, stage in systems) for depth in systems[BM25_NEGATIVES, stage]]
    sides = {place: [systems[name, place[0]][place[1]] for name in (BM25_NEGATIVES, DENSE_NEGATIVES)] for place in pairs}
    tests = {place: dense.against(bm25, MEASURE) for place, (bm25, dense) in sides.items()}
    return page.records_table(f"{MEASURE} of the re-ranker by its training and its candidates", (
        {"candidates": f"{label(stage)}, depth {depth}",
         **{name: mean_cell(systems[name, stage][depth], MEASURE) for name in (BM25_NEGATIVES, DENSE_NEGATIVES)},
         "difference": difference_cell(tests[stage, depth].difference), "p": p_value(tests[stage, depth].p_permutation)}
        for stage, depth in pairs))


def claims_table(steps: Mapping[str, Step], systems: Crossed, dense: str, reference: str, depth: int) -> Fragment:
    """The chapter's claims: how far RepBERT's candidates differ, and whether they lose to docTTTTTquery's at depth."""
    pairs: dict[str, claims.Pair | dict[str, claims.Pair] | str] = {DIFFERS: NO_OTHER, MATTERS: NOT_EXPANDED}
    rivals = [stage for stage in exact_match(list(steps), dense) if stage != reference]
    if dense in steps and rivals:
        values = systems_at(steps, depth)
        pairs[DIFFERS] = {label(rival): (values[dense], values[rival]) for rival in rivals}
    if {(BM25_NEGATIVES, dense), (BM25_NEGATIVES, EXPANDED)} <= set(systems):
        most = max(systems[BM25_NEGATIVES, dense])
        pairs[MATTERS] = (systems[BM25_NEGATIVES, dense][most], systems[BM25_NEGATIVES, EXPANDED][most])
    return claims.judge("mismatch", pairs, untested=stand_in(dense, "mismatch"))


def interaction(systems: Crossed, dense: str, reference: str) -> Paired | None:
    """What negatives from RepBERT change over its own candidates, less what they change over the reference's.

    At the largest depth. Above zero if the mismatch is what hurts; None where nothing is re-ranked.
    """
    if not {(BM25_NEGATIVES, dense), (BM25_NEGATIVES, reference)} <= set(systems):
        return None
    most = max(systems[BM25_NEGATIVES, dense])
    cured, beside = (systems[DENSE_NEGATIVES, stage][most].less(systems[BM25_NEGATIVES, stage][most])
                     for stage in (dense, reference))
    return cured.against(beside, MEASURE)


def interaction_table(systems: Crossed, dense: str, reference: str) -> Fragment:
    """What the chapter ends with: whether it is the mismatch that hurts, and how large an effect would have been seen."""
    change = interaction(systems, dense, reference)
    if change is None:
        return page.prose(NOT_RERANKED)
    most = max(systems[DENSE_NEGATIVES, dense])
    tests = {f"over {label(stage)}'s candidates": systems[DENSE_NEGATIVES, stage][most].against(
        systems[BM25_NEGATIVES, stage][most], MEASURE) for stage in (dense, reference)}
    return page.records_table(f"What negatives from RepBERT change in {MEASURE} at depth {most}, over trainings and queries", (
        {"": name, **dict(zip(("difference", "p"), test_cells(test), strict=True)),
         "minimum detectable effect": plain(test.detectable), "the interval": test.noise.assumption}
        for name, test in {**tests, "the interaction: the first less the second": change}.items()))


def signs(factors: Mapping[str, Mapping[int, Evaluation]], systems: Crossed, dense: str, reference: str) -> dict[str, bool]:
    """What the discussion rests on."""
    last = {stage: by_depth[max(by_depth)].mean(FACTOR).mean for stage, by_depth in factors.items()}
    ends = {pair: by_depth[max(by_depth)] for pair, by_depth in systems.items()}
    gains = {stage: lead(ends[DENSE_NEGATIVES, stage], own, MEASURE)
             for (name, stage), own in ends.items() if name == BM25_NEGATIVES}
    change = interaction(systems, dense, reference)
    return {"the interaction is above zero in the mean": change is not None and change.difference.mean > 0,
            "the interaction is within chance": change is not None and change.difference.low <= 0 <= change.difference.high,
            "RepBERT shares fewer candidates with BM25 than DeepCT does": last.get(dense, 1.0) < last.get("deepct", 0.0),
            "negatives from RepBERT rank better over RepBERT's candidates": gains.get(dense, 0.0) > 0,
            "negatives from RepBERT rank better over BM25's candidates": gains.get(reference, 0.0) > 0}


def cost(trained: Mapping[str, Sequence[ListwiseReranker]], systems: Crossed) -> Fragment:
    """The trainings of the first seed, and the scoring of each stage's candidates."""
    last = {f"{name}, over {label(stage)}": by_depth[max(by_depth)] for (name, stage), by_depth in systems.items()}
    logs = {f"{name}, over {label(stage)}": trained[name][0].log for name, stage in systems}
    return training.cost(logs, last) if last else page.prose(NOT_RERANKED)
