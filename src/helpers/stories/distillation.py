"""The chapter *Distillation* (Steensland 2021, experiment 3c and section 3.3; Chen et al. 2021)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from helpers.evaluation import published
from helpers.networks.backbone import layers, resolve, width_of
from helpers.pages import claims, compare, identity, page
from helpers.pages.compare import above, difference_cell, lead, mean_cell, tests_against
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import p_value, plain
from helpers.pages.rates import median_rate, rate
from helpers.pages.shapes import labels
from helpers.pages.training import STUDY, Logs, curve, final, untrained
from helpers.reranking.losses import PARTS
from helpers.systems.evaluated import Systems
from helpers.systems.listwise_reranker import ListwiseReranker
from helpers.systems.reranking_experiment import RerankingExperiment
from helpers.systems.student import Student
from helpers.systems.zero_shot import zero_shot_in

MEASURE = "RR@10"
TEACHER, PLAIN, DISTILLED = "Teacher", "student, trained plainly", "student, distilled"
HARD_ONLY = "student, from the teacher's layers, hard loss only"
ABLATED = "distilled without"
WARMED, CONTROL = "student, from its own warm-up, distilled", "student, from its own warm-up, hard loss only"
NAMES = {"soft": "the teacher's answers", "hidden": "hidden states", "attention": "attention", "hard": "judgments"}


def models(teacher: ListwiseReranker, plain_backbone: str, without: list[str]) -> dict[str, ListwiseReranker | Student]:
    """Teacher, student trained plainly from a backbone and from the teacher's layers, student distilled, and the ablations.

    The plain student has a warm-up of its own, by the same bi-encoder; the others start as the teacher's first layers, as many as
    that backbone has.
    """
    student = Student(teacher, layers=tuple(range(layers(resolve(plain_backbone)))))
    return {TEACHER: teacher, PLAIN: teacher.on(plain_backbone), DISTILLED: student,
            HARD_ONLY: judgments_alone(student),
            **{f"{ABLATED} {NAMES[part]}": replace(student, **{part: 0.0}) for part in without}}  # type: ignore[arg-type]


def judgments_alone(student: Student) -> Student:
    """The same without a teacher."""
    return replace(student, soft=0.0, hidden=0.0, attention=0.0)


def warmed(teacher: ListwiseReranker, specs: Sequence[str], seeds: Sequence[int]) -> dict[str, list[Student]]:
    """Starts that judge pairs already, with their teacher and without, at the teacher's rate: the plain student's, and others by
    their shapes; a model a seed. A narrower one learns nothing from attention, for its heads are fewer. Nothing without a
    warm-up."""
    made: dict[str, list[Student]] = {}
    for who, spec in by_shape(specs).items() if teacher.start else ():
        student = Student(teacher, start=teacher.on(spec).start, learning_rate=teacher.learning_rate)
        own = replace(student, attention=0.0) if width_of(spec)[1] else student
        students = [replace(own, seed=seed) for seed in seeds]
        made |= {called(WARMED, who): students, called(CONTROL, who): [judgments_alone(student) for student in students]}
    return made


def by_shape(specs: Sequence[str]) -> dict[str, str]:
    """The backbones of such students by their shapes; the plain student's, the first, is the one without a name."""
    return {name if place else "": spec for place, (name, spec) in enumerate(labels(specs).items())}


def called(name: str, shape: str) -> str:
    """The name of such a student of another shape."""
    return name.replace("student", shape, 1) if shape else name


def claims_table(systems: Systems, logs: Logs, name: str, trial: RerankingExperiment) -> Fragment:
    """The chapter's claims: what the teacher's answers add to the same start, and the student beside its teacher.

    They are judged by a student that judges pairs already when it is taught, if there is one. The student's shape is named as the
    study's table calls it: what the study says of its teacher depends on it. A student that learned nothing gets no verdict.
    """
    student, control = (WARMED, CONTROL) if WARMED in systems else (DISTILLED, HARD_ONLY)
    studied = {"L6-H768": "distilled-student-beats-teacher", "L3-H384": "small-student-near-its-teacher"}
    compared = {"distilled-students-beat-plain-students": (student, control),
                **{claim: (student, TEACHER) for shape, claim in studied.items() if shape == name}}
    pairs = {claim: (systems[first], systems[second]) for claim, (first, second) in compared.items()}
    others = {claim: f"the claim is about a student of shape {shape}; this one is {name}" for shape, claim in studied.items()
              if shape != name}
    idle = {claim: f"{' and '.join(models)}: the evaluation loss is that of a constant guess" for claim, both in compared.items()
            if (models := [model for model in both if untrained(logs[model])])}
    return claims.judge("distillation", {**pairs, **others}, untested=identity.barred(
        pairs, zero_shot_in(systems), trial.bed, trial.candidates) | idle)


def teaching(systems: Systems, specs: Sequence[str]) -> Fragment:
    """What the teacher adds to starts that judge pairs already, and how far either is from the teacher; over trainings and
    queries. Nothing without such a start."""
    if WARMED not in systems:
        return page.prose("Without a warm-up there is no such student.")
    pairs: dict[str, tuple[str, str]] = {}
    for who in by_shape(specs):
        own, control, before = called(WARMED, who), called(CONTROL, who), f"{who}: " if who else ""
        pairs |= {f"{before}taught, and without a teacher": (own, control), f"{before}taught, and the teacher": (own, TEACHER),
                  f"{before}without a teacher, and the teacher": (control, TEACHER)}
    return compare.differences_table("Students that judge pairs before they are taught (first less second)", {
        name: (systems[first], systems[second]) for name, (first, second) in pairs.items()}, MEASURE)


def narrower_signs(systems: Systems, specs: Sequence[str]) -> dict[str, bool]:
    """What the discussion says of the second shape; nothing where there is none."""
    if WARMED not in systems or len(specs) < 2:
        return {}
    own, control = (systems[called(name, [*by_shape(specs)][1])] for name in (WARMED, CONTROL))
    return {"a teacher surely adds to the narrower student": above(own, control, MEASURE),
            "the narrower student ranks above the shallower one in the mean": lead(own, systems[WARMED], MEASURE) > 0}


def signs(systems: Systems, logs: Logs) -> dict[str, bool]:
    """What the discussion rests on."""
    means = {name: systems[name].mean(MEASURE).mean for name in (TEACHER, PLAIN, DISTILLED)}
    taught, ablated = systems[DISTILLED], [system for name, system in systems.items() if name.startswith(ABLATED)]
    return {"the teacher ranks best": max(means, key=means.__getitem__) == TEACHER,
            "the student with its own warm-up ranks better than the distilled one": means[PLAIN] > means[DISTILLED],
            "no loss that is left out surely changes the ranking": bool(ablated) and not any(
                above(taught, own, MEASURE) or above(own, taught, MEASURE) for own in ablated),
            "the same start learns nothing from judgments alone": untrained(logs[HARD_ONLY])}


def ablation_table(systems: Systems, logs: Logs) -> Fragment:
    """Every student: loss, effectiveness, and the difference from the one taught with all four losses."""
    names = [name for name in logs if name != TEACHER]
    tests = tests_against({name: systems[name] for name in names}, DISTILLED, MEASURE)
    return page.records_table("Which of the losses matters?", [
        {"student": name, "evaluation loss": plain(final(logs[name], "eval_loss")), MEASURE: mean_cell(systems[name], MEASURE),
         **({"compared with all four losses": difference_cell(tests[name].difference), "p": p_value(tests[name].p_permutation)}
            if name in tests else {})} for name in names])


def size_table(logs: Logs, speed: Mapping[str, Any], shapes: Mapping[str, str]) -> Fragment:
    """Size and speed of teacher and student, here and in table 5.6."""
    sizes, rates = published.column(STUDY, "5.6", "Size"), published.column(STUDY, "5.6", "Queries/min")
    rows = [[name, f"{plain(sizes[row].value, 0)} million", f"{plain(logs[name]['parameters'] / 1e6, 1)} million",
             rates[row].printed, rate(speed, shapes[name]), f"{plain(rates[row].value / rates[TEACHER].value, 1)}×",
             f"{plain(median_rate(speed, shapes[name]) / median_rate(speed, shapes[TEACHER]), 1)}×"]
            for row, name in ((TEACHER, TEACHER), ("L3-H384", DISTILLED))]
    header = ("model", "parameters, published", "measured", "queries/min, published", "measured", "speed-up, published",
              "measured")
    return page.show_table("Size and speed: the study's teacher and smaller student beside ours", header, rows)


def part_curves(log: Mapping[str, Any]) -> dict[str, pd.Series]:
    """Each part of the distillation's loss over the optimiser steps, relative to its first value."""
    lines = {NAMES[name]: curve(dict(log), name) for name in PARTS}
    return {name: line / line.iloc[0] for name, line in lines.items() if len(line)}
