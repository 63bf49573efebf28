"""The chapter *Fine-tuning sizes*: open QA and web search (Gao & Callan 2021, sections 5.3 and 5.4, tables 3 and 4)."""

from collections.abc import Mapping, Sequence

from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.pages import claims, page, plots
from helpers.pages.compare import above, lead, measures_table
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, seconds
from helpers.steps import Step
from helpers.stories import readiness
from helpers.stories.readiness import BySize
from helpers.stories.training import curve
from helpers.systems.evaluated import Evaluation, over_seeds
from helpers.systems.search_tasks import FACTS, SearchTask
from helpers.systems.starting_points import BACKBONE, CONDENSER, CONTINUED, MLM
from helpers.systems.testbed import Testbed

QA_TABLE, QA_COLUMNS = "3", tuple(f"Natural Question / Top-20 / {size}" for size in ("1K", "10K", "FULL"))
WEB_TABLE, WEB_COLUMNS = "4", ("MRR@10 / 1K", "MRR@10 / 10K", "MRR@10 / FULL")
BATCH = 16  # queries a step
HITS, RANK = ("Success@20", "Success@100"), ("RR@10", "R@100", "R@1000")


def question_task(bed: Testbed, backbone: str, epochs: int, learning_rate: float, max_length: int) -> SearchTask:
    """Open QA: questions for a fact, where the queries carry their answer's type; one negative of BM25's."""
    facts = FACTS if "answer_type" in bed.query_frame else ()
    return SearchTask(bed.collection, bed.unit, backbone, facts, HITS, 1, epochs, epochs, learning_rate, BATCH, max_length,
                      bed.queries)


def web_task(bed: Testbed, backbone: str, epochs: int, full_epochs: int, learning_rate: float, max_length: int,
             passages: int) -> SearchTask:
    """Web search: all queries; each brings `passages` of its own to training, two or more, one of them relevant."""
    if passages < 2:
        raise BadInput(f"{passages} passages for each query", mend="give two or more: a relevant one, and others")
    return SearchTask(bed.collection, bed.unit, backbone, (), RANK, passages - 1, epochs, full_epochs, learning_rate, BATCH,
                      max_length, bed.queries)


def fine_tuned(task: SearchTask, starts: Mapping[str, Step | None], sizes: Sequence[int], seeds: Sequence[int]) -> BySize:
    """Every starting point fine-tuned with every size; the mean over seeds, query by query."""
    return {(start, size): over_seeds(f"{start}, {size or 'all'}", [
        task.evaluate(f"{start}, {size or 'all'}, seed {seed}", task.encoder(weights, size, seed)) for seed in seeds])
        for start, weights in starts.items() for size in sizes}


def examples(task: SearchTask, sizes: Sequence[int]) -> dict[int, int]:
    """How many training queries each size is; 0 stands for all."""
    return {size: size or len(task.encoder(None, 0, 1).bed.query_frame) for size in sizes}


def scale(counts: Mapping[int, int], web_counts: Mapping[int, int], sizes: Sequence[int]) -> Fragment:
    """How large the largest training sets are, beside the study's."""
    entries = published.load(readiness.STUDY)
    thousands = entries["text 5.3", "NQ and TQA", "training set of each"].printed
    millions = entries["text 5.4", "MS-MARCO", "training set"].printed
    return page.prose(f"The largest training set has {count(counts[sizes[-1]])} questions (the study: {thousands} thousand), and "
                      f"{count(web_counts[sizes[-1]])} queries in web search (the study: {millions} million).")


def baseline_table(bm25: Evaluation, systems: BySize, sizes: Sequence[int]) -> Fragment:
    """BM25 beside what the largest training set makes of each starting point."""
    rows = {"BM25": bm25, **{start: system for (start, size), system in systems.items() if size == sizes[-1]}}
    return measures_table("BM25, and every starting point with the largest training set", rows, list(bm25.values.columns))


def loss_curves(task: SearchTask, starts: Mapping[str, Step | None], size: int, seed: int) -> Fragment:
    """The training loss from the backbone and from Condenser, as in figure 5."""
    lines = {start: curve(task.encoder(starts[start], size, seed).log.value(), "loss") for start in (BACKBONE, CONDENSER)
             if start in starts}
    return plots.curves(lines, "optimiser steps", "training loss", "Training loss with the largest training set, as in figure 5.")


def cost(tasks: Mapping[str, tuple[SearchTask, Mapping[str, Step | None]]], sizes: Sequence[int], seed: int) -> Fragment:
    """Seconds of the trainings of one seed, for each task from its starting points."""
    logs = [(name, start, task.encoder(weights, size, seed).log) for name, (task, starts) in tasks.items()
            for start, weights in starts.items() for size in sizes]
    return page.records_table("What the trainings of the first seed cost", (
        {"task": name, "starting point": start, "queries": count(log.value()["queries"]),
         "optimiser steps": count(log.value()["steps"]), "time": seconds(log.entry().manifest["inputs"][0]["seconds"])}
        for name, start, log in logs), numeric_from=2)


def signs(questions: BySize, web: BySize, sizes: Sequence[int]) -> dict[str, bool]:
    """What the discussion rests on besides the claims; nothing where a starting point is left out."""
    if not ({(MLM, sizes[-1]), (CONDENSER, sizes[-1])} <= set(questions) and (CONTINUED, sizes[-1]) in web):
        return {}

    def ahead(systems: BySize, measure: str, *starts: str) -> list[tuple[str, int]]:
        return [(start, size) for size in sizes for start in starts
                if above(systems[start, size], systems[BACKBONE, size], measure)]

    return {"with fewer questions both pre-trained starts are surely ahead, with all neither":
                ahead(questions, HITS[0], MLM, CONDENSER) == [(start, size) for size in sizes[:-1] for start in (MLM, CONDENSER)],
            "Condenser is nowhere surely ahead of masked words":
                not any(above(questions[CONDENSER, size], questions[MLM, size], HITS[0]) for size in sizes),
            "web search shows a sure lead in recall with the fewest queries alone":
                {size for _, size in ahead(web, RANK[1], CONDENSER, CONTINUED)} == {sizes[0]}
                and not ahead(web, RANK[0], CONDENSER, CONTINUED),
            "more queries still help every start": all(
                lead(systems[start, sizes[-1]], systems[start, sizes[-2]], measure) > 0
                for systems, measure in ((questions, HITS[0]), (web, RANK[0])) for start in {start for start, _ in systems})}


def claims_table(questions: BySize, web: BySize, sizes: Sequence[int], backbone: str, bm25: Evaluation,
                 web_bm25: Evaluation) -> Fragment:
    """The verdicts on the study's claims about search; masked words alone are the control of what the head adds.

    The study's encoders pass BM25 in both tasks (tables 3 and 4): where none does here, no starting point gets a verdict.
    """
    last, controls = sizes[-1], {}
    pairs: dict[str, claims.Pair | dict[str, claims.Pair]] = {}
    for name, systems in (("condenser-beats-bert-on-web-search", web), ("condenser-beats-bert-on-open-qa", questions)):
        if {(BACKBONE, last), (CONDENSER, last)} <= set(systems):
            pairs[name] = (systems[CONDENSER, last], systems[BACKBONE, last])
        if {(MLM, last), (CONDENSER, last)} <= set(systems):
            controls[name] = (systems[CONDENSER, last], systems[MLM, last])
    if {(BACKBONE, last), (CONDENSER, last)} <= set(questions):
        small, *larger = (questions[CONDENSER, size].less(questions[BACKBONE, size]) for size in sizes)
        pairs["condenser-helps-most-with-little-data"] = dict(zip(("full", "middle"), ((small, other) for other in larger[::-1]),
                                                                  strict=False))
    if {(CONDENSER, last), (CONTINUED, last)} <= set(web):
        pairs["continued-pretraining-adds-to-condenser"] = (web[CONTINUED, last], web[CONDENSER, last])
    if {(MLM, last), (CONDENSER, last)} <= set(questions):
        pairs["condenser-head-beats-masked-words"] = (questions[CONDENSER, last], questions[MLM, last])
    known = claims.load()
    why = {HITS[0]: readiness.why_untrained(questions, sizes, HITS[0], bm25),
           RANK[0]: readiness.why_untrained(web, sizes, RANK[0], web_bm25)}
    return claims.judge("fine_tuning_sizes", pairs, backbone=backbone, controls=controls,
                        untrained={name: why[known[name].measure] for name in pairs if why[known[name].measure]},
                        missing=readiness.MISSING)
