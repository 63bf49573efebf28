"""The chapter *Fine-tuning sizes*: open QA and web search (Gao & Callan 2021, sections 5.3 and 5.4, tables 3 and 4)."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import pandas as pd

from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.evaluation.comparable import model_name
from helpers.pages import claims, page
from helpers.pages.compare import above, lead
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain, seconds
from helpers.pages.training import took
from helpers.retrieval.bm25 import K1, B
from helpers.stories import readiness
from helpers.stories.power import design
from helpers.stories.readiness import BySize, Starts
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.reranking_experiment import together
from helpers.systems.search_tasks import FACTS, SearchTask
from helpers.systems.starting_points import CONDENSER, CONTINUED, MASKED, MLM, START
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZERO_SHOT

QA_TABLE, WEB_TABLE = "3", "4"
HITS, RANK = ("Success@20", "Success@100"), ("RR@10", "R@100", "R@1000")
QA_COLUMNS, WEB_COLUMNS = (tuple(f"{column} / {size}" for size in readiness.SUFFIXES)
                           for column in ("Natural Question / Top-20", "MRR@10"))
WEB_STARTS = (START, MLM, CONDENSER, CONTINUED)
# what stands here for each group of columns; Trivia QA is not run
QA_MEASURES = {"Natural Question / Top-20": HITS[0], "Natural Question / Top-100": HITS[1], "Trivia QA / Top-20": "",
               "Trivia QA / Top-100": ""}
WEB_MEASURES = {"MRR@10": RANK[0], "R@100": RANK[1], "R@1k": RANK[2]}
N = TypeVar("N", int, float)


def question_task(bed: Testbed, backbone: str, steps: Sequence[int], learning_rate: Sequence[float], batch_size: Sequence[int],
                  max_length: int) -> SearchTask:
    """Open QA: questions for a fact, where the queries carry their answer's type; one negative of BM25's. Of two values of a
    setting it takes the first (`for_both`)."""
    facts = FACTS if "answer_type" in bed.query_frame else ()
    return SearchTask(bed.collection, bed.unit, backbone, facts, HITS, 1, for_both(steps)[0], for_both(learning_rate)[0],
                      for_both(batch_size)[0], max_length, bed.queries)


def web_task(bed: Testbed, backbone: str, steps: Sequence[int], learning_rate: Sequence[float], batch_size: Sequence[int],
             max_length: int, passages: int) -> SearchTask:
    """Web search: all queries; each brings `passages` of its own to training, two or more, one of them relevant. Of two values of
    a setting it takes the second."""
    if passages < 2:
        raise BadInput(f"{passages} passages for each query", mend="give two or more: a relevant one, and others")
    return SearchTask(bed.collection, bed.unit, backbone, (), RANK, passages - 1, for_both(steps)[1], for_both(learning_rate)[1],
                      for_both(batch_size)[1], max_length, bed.queries)


def for_both(values: Sequence[N]) -> tuple[N, N]:
    """A setting of open QA and of web search: one value for both, or two."""
    if not 1 <= len(values) <= 2:
        raise BadInput(f"{len(values)} values of a setting of the trainings", mend="give one, or web search's own as a second")
    return values[0], values[-1]


def fine_tuned(task: SearchTask, starts: Starts, sizes: Sequence[int]) -> BySize:
    """Every starting point fine-tuned with every size; the mean over seeds, query by query."""
    return {(start, size): together(f"{start}, {size or 'all'}", [
        task.evaluate(f"{start}, {size or 'all'}, seed {seed}", task.encoder(weights, size, seed))
        for seed, weights in by_seed.items()]) for start, by_seed in starts.items() for size in sizes}


def references(task: SearchTask) -> dict[str, Evaluation]:
    """BM25, and the backbone as it is."""
    return {"BM25": task.bm25(K1, B), f"{ZERO_SHOT} {model_name(task.backbone)}": task.evaluate("zero-shot", task.zero_shot())}


def left_out(task: SearchTask, starts: Starts, web: BySize, sizes: Sequence[int]) -> Fragment:
    """Where web search is left out, what it would take: a training of it reads about as much as one of open QA."""
    if web:
        return page.prose()
    trainings = len(WEB_STARTS) * len(sizes) * max(map(len, starts.values()))
    one = cost(task, starts, sizes) / (sum(map(len, starts.values())) * len(sizes))
    return page.prose(f"Web search was left out: for {len(WEB_STARTS)} starting points, with the sizes and seeds of open QA, it "
                      f"takes {count(trainings)} trainings like these, {seconds(trainings * one)} on one core, and before them a "
                      "continued pre-training for each seed.")


def examples(task: SearchTask, sizes: Sequence[int]) -> dict[int, int]:
    """How many training queries each size is; 0 stands for all."""
    return {size: size or len(task.encoder(None, 0, 1).bed.query_frame) for size in sizes}


def studied_sizes(columns: Sequence[str], task: str) -> dict[str, int]:
    """How many training queries the study's columns stand for, of `open QA` or of `web search`."""
    entries = published.load(readiness.STUDY)
    whole = {"open QA": int(1e3 * entries["text 5.3", "NQ and TQA", "training set of each"].value),
             "web search": int(1e6 * entries["text 5.4", "MS-MARCO", "training set"].value)}[task]
    return dict(zip(columns, (1000, 10_000, whole), strict=True))


def scale(task: SearchTask, counts: Mapping[int, int]) -> Fragment:
    """How large the largest training set is, and how often a training reads each set, beside the study's."""
    entries, largest = published.load(readiness.STUDY), max(counts.values())
    thousands = entries["text 5.3", "NQ and TQA", "training set of each"].printed
    passes = ", ".join(f"{plain(task.steps * task.batch_size / size, 1)} of {count(size)}" for size in counts.values())
    return page.prose(f"The largest training set has {count(largest)} questions (the study: {thousands} thousand). All trainings "
                      f"have {count(task.steps)} optimiser steps, which are {passes} passes over the questions.")


def power(systems: BySize, names: Mapping[int, str], whole: bool) -> Fragment:
    """For each training size what share of the head this design could see, and what it would take to see the study's lead.

    Args:
        whole: whether all test questions are used, so that there are no more.
    """
    tested = f"test questions{', of which the collection has no more' if whole else ''}"
    return design(systems, names, QA_TABLE, QA_COLUMNS, HITS[0], tested)


def cost(task: SearchTask, starts: Starts, sizes: Sequence[int]) -> float:
    """Seconds of all trainings of a task."""
    return sum(took(task.encoder(weights, size, seed).log)
               for by_seed in starts.values() for seed, weights in by_seed.items() for size in sizes)


def cost_table(tasks: Mapping[str, tuple[SearchTask, Starts, Sequence[int]]]) -> Fragment:
    """Steps and seconds of each task's trainings, and how many they were."""
    return page.records_table("What the trainings cost, one core each", (
        {"task": name, "trainings": count(sum(map(len, starts.values())) * len(sizes)),
         "optimiser steps of each": count(task.steps),
         "time, together": seconds(cost(task, starts, sizes))} for name, (task, starts, sizes) in tasks.items() if starts))


def signs(questions: BySize, known: Systems, sizes: Sequence[int], losses: Mapping[str, pd.Series]) -> dict[str, bool]:
    """What the discussion rests on besides the claims, of open QA; nothing where a starting point is left out."""
    if not {(START, sizes[-1]), (MLM, sizes[-1]), (CONDENSER, sizes[-1])} <= set(questions):
        return {}
    starts = list(dict.fromkeys(start for start, _ in questions))
    bm25, untrained = known.values()

    def ahead(start: str, other: str) -> list[bool]:
        return [above(questions[start, size], questions[other, size], HITS[0]) for size in sizes]

    found = {}
    if MASKED in starts:
        leads = [lead(questions[MASKED, size], questions[MLM, size], HITS[0]) for size in sizes]
        found = {"the head that reads [CLS] is nowhere surely ahead of masked words": not any(ahead(MASKED, MLM)),
                 "the head that reads [CLS] leads masked words in the mean with few questions and with all": min(leads) > 0,
                 "the head that reads [CLS] begins with the lowest held-out loss, and reaches the lowest": all(
                     losses[MASKED].iloc[0] < losses[name].iloc[0] and losses[MASKED].min() < losses[name].min()
                     for name in starts if name != MASKED)}
    return found | {
        "Condenser is nowhere surely ahead of masked words": not any(ahead(CONDENSER, MLM)),
        "no pre-trained start is surely ahead of the start": not any(
            any(ahead(name, START)) for name in starts if name != START),
        "more questions help every start": all(
            lead(questions[start, sizes[-1]], questions[start, sizes[0]], HITS[0]) > 0 for start in starts),
        "all pass BM25 with all questions": all(above(questions[start, sizes[-1]], bm25, HITS[0]) for start in starts),
        "none passes the zero-shot encoder": not any(
            above(questions[start, sizes[-1]], untrained, HITS[0]) for start in starts)}


def claims_table(questions: BySize, web: BySize, sizes: Sequence[int], backbone: str, unused: str) -> Fragment:
    """The verdicts on the study's claims about search; masked words alone are the control of what the head adds.

    Where more training data lowers the score of a starting point nothing was learned, and none gets a verdict.

    Args:
        web: empty where web search is left out.
        backbone: what the fine-tunings start from, if it was not pre-trained here.
        unused: why the head was no treatment (`condenser.unused_head`); empty if it was.
    """
    last, controls = sizes[-1], {}
    pairs: dict[str, claims.Pair | dict[str, claims.Pair]] = {}
    for name, systems in (("condenser-beats-bert-on-web-search", web), ("condenser-beats-bert-on-open-qa", questions)):
        if {(START, last), (CONDENSER, last)} <= set(systems):
            pairs[name] = (systems[CONDENSER, last], systems[START, last])
        if {(MLM, last), (CONDENSER, last)} <= set(systems):
            controls[name] = systems[MLM, last]
    if {(START, last), (CONDENSER, last)} <= set(questions):
        small, *larger = (questions[CONDENSER, size].less(questions[START, size]) for size in sizes)
        pairs["condenser-helps-most-with-little-data"] = dict(zip(("full", "middle"), ((small, other) for other in larger[::-1]),
                                                                  strict=False))
    if {(CONDENSER, last), (CONTINUED, last)} <= set(web):
        pairs["continued-pretraining-adds-to-condenser"] = (web[CONTINUED, last], web[CONDENSER, last])
    if {(MLM, last), (CONDENSER, last)} <= set(questions):
        pairs["condenser-head-beats-masked-words"] = (questions[CONDENSER, last], questions[MLM, last])
    measures = {claim.declared: claim.measure for claim in claims.load().values()}
    why = {measure: readiness.why_untrained(systems, sizes, measure)
           for measure, systems in ((HITS[0], questions), (RANK[0], web))}
    return claims.judge("fine_tuning_sizes", pairs, backbone=backbone, controls=controls,
                        untested={name: unused or why[measures[name]] for name in pairs}, missing=readiness.MISSING)
