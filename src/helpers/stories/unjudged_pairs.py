"""The chapter *Distillation*: a teacher's answers on pairs that nobody judged (Steensland 2021, section 3.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from helpers.pages import compare, page, training
from helpers.pages.compare import above, lead
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, seconds
from helpers.pages.training import Logs, curve
from helpers.stories.distillation import CONTROL, MEASURE, TEACHER, judgments_alone
from helpers.systems.evaluated import Systems
from helpers.systems.listwise_reranker import ListwiseReranker, WarmUp
from helpers.systems.student import Student

ANSWERED, SCORED = "student, the teacher's answers on unjudged pairs", "student, the encoder's scores on the same pairs"
THEN_JUDGED = "student, the teacher's answers, then judgments"
LOGIT = 1.0  # temperature of a re-ranker's logits; an encoder's cosines have the warm-up's
LEFT_OUT = "This run leaves the unjudged pairs out: `-p unjudged 7_000` reads those of so many pseudo-queries."

Models = Mapping[str, Sequence[WarmUp | Student]]


def models(teacher: ListwiseReranker, plain_backbone: str, queries: int,
           seeds: Sequence[int]) -> dict[str, list[WarmUp | Student]]:
    """Students that go on from their own warm-up with the pairs of so many pseudo-queries: with the teacher's answers, with the
    encoder's scores in their place, and with the judgments after the answers; a model a seed. Nothing for no queries.

    Each training has the teacher's rate and length of input.
    """
    start = teacher.on(plain_backbone).start
    if not queries or start is None:
        return {}
    further = start.further(queries, learning_rate=teacher.learning_rate)
    answered = replace(further, reranker=teacher, temperature=LOGIT).over_seeds(seeds)
    return {ANSWERED: [*answered],
            SCORED: [*further.over_seeds(seeds)],
            THEN_JUDGED: [judgments_alone(Student(teacher, start=own, learning_rate=teacher.learning_rate, seed=own.seed))
                          for own in answered]}


def logs(trained: Models) -> Logs:
    """The trainings on unjudged pairs, first seed."""
    return {name: own[0].log.value() for name, own in trained.items() if isinstance(own[0], WarmUp)}


def losses(logs: Logs) -> Fragment:
    """How far the student's order is from its teacher's on pseudo-queries that are held out."""
    if not logs:
        return page.prose(LEFT_OUT)
    return training.evaluation_curves(logs, "Divergence from either teacher on held-out pseudo-queries (nats).")


def table(systems: Systems, trained: Models, logs: Logs) -> Fragment:
    """What each learned from, what it came to, and what it cost."""
    return page.records_table("Students that go on from their own warm-up with pairs that nobody judged", (
        {"student": name, "pairs": count(log["pairs"]), "held-out divergence": training.change(line),
         MEASURE: compare.mean_cell(systems[name], MEASURE), "training": seconds(training.took(trained[name][0].log))}
        for name, log in logs.items() for line in [curve(log, "eval_loss")]))


def teaching(systems: Systems) -> Fragment:
    """What answers on unjudged pairs add, over trainings and queries; nothing where there are none."""
    if ANSWERED not in systems or CONTROL not in systems:
        return page.prose()
    pairs = {"the teacher's answers, and the encoder's scores": (ANSWERED, SCORED),
             "the teacher's answers, and the judgments": (ANSWERED, CONTROL),
             "the judgments after the teacher's answers, and the judgments alone": (THEN_JUDGED, CONTROL),
             "the teacher's answers, and the teacher": (ANSWERED, TEACHER),
             "the judgments after the teacher's answers, and the teacher": (THEN_JUDGED, TEACHER)}
    return compare.differences_table("What a teacher's answers on unjudged pairs add (first less second)", {
        name: (systems[first], systems[second]) for name, (first, second) in pairs.items()}, MEASURE)


def signs(systems: Systems) -> dict[str, bool]:
    """What the discussion rests on; nothing without unjudged pairs."""
    if ANSWERED not in systems:
        return {}
    own = systems[ANSWERED]
    return {"the teacher's answers surely rank above the encoder's scores": above(own, systems[SCORED], MEASURE),
            "the teacher's answers surely rank above judgments alone": above(own, systems[CONTROL], MEASURE),
            "the teacher's answers rank above judgments alone in the mean": lead(own, systems[CONTROL], MEASURE) > 0,
            "the student with the teacher's answers is surely below its teacher": above(systems[TEACHER], own, MEASURE)}
