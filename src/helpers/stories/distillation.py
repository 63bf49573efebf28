"""The chapter *Distillation* (Steensland 2021, experiment 3c and section 3.3; Chen et al. 2021)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from helpers.costs.speed import per_minute
from helpers.evaluation import published
from helpers.pages import claims, page
from helpers.pages.compare import corrected_p, difference_cell, mean_cell
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import p_value, plain
from helpers.reranking.distillation_losses import PARTS
from helpers.stories.model_size import rate
from helpers.stories.training import STUDY, curve, final
from helpers.stories.wording import effect
from helpers.systems.evaluated import Evaluation
from helpers.systems.reranker import Reranker
from helpers.systems.student import Student

MEASURE = "RR@10"
TEACHER, PLAIN, DISTILLED = "Teacher", "student, trained plainly", "student, distilled"
HARD_ONLY = "student, from the teacher's layers, hard loss only"
NAMES = {"soft": "the teacher's answers", "hidden": "hidden states", "attention": "attention", "hard": "judgments"}


def models(student: Student, plain_backbone: str, without: list[str]) -> dict[str, Reranker | Student]:
    """Teacher, student trained plainly from a backbone and from the teacher's layers, student distilled, and the ablations."""
    base = student.teacher
    found: dict[str, Reranker | Student] = {
        TEACHER: base, PLAIN: replace(base, backbone=plain_backbone), DISTILLED: student,
        HARD_ONLY: replace(student, soft=0.0, hidden=0.0, attention=0.0)}
    less: dict[str, dict[str, Any]] = {f"distilled without {NAMES[part]}": {part: 0.0} for part in without}
    return {**found, **{name: replace(student, **weights) for name, weights in less.items()}}


def published_rows(systems: Mapping[str, Evaluation], name: str, trained: str) -> dict[str, Evaluation]:
    """The systems under the row names of table 5.6: the teacher, and the student as it was trained."""
    return {TEACHER: systems[TEACHER], name: systems[trained]}


def claims_table(systems: Mapping[str, Evaluation], name: str) -> Fragment:
    """The chapter's claims: what the teacher's answers add to the same start, and the student beside its teacher.

    Args:
        systems: evaluations by name.
        name: the student's shape, as the study's table calls it: what the study found of its teacher depends on it.
    """
    studied = {"L6-H768": "distilled-student-beats-teacher", "L3-H384": "small-student-near-its-teacher"}
    pairs = {"distilled-students-beat-plain-students": (systems[DISTILLED], systems[HARD_ONLY])}
    if name in studied:
        pairs[studied[name]] = (systems[DISTILLED], systems[TEACHER])
    return claims.judge("distillation", pairs, not_run={
        claim: f"the claim is about a student of shape {shape}; this one is {name}" for shape, claim in studied.items()
        if shape != name})


def ablation_table(systems: Mapping[str, Evaluation], logs: Mapping[str, dict[str, Any]]) -> Fragment:
    """Every student: loss, effectiveness, and the difference from the one taught with all four losses."""
    whole = systems[DISTILLED]
    names = [name for name in logs if name not in (TEACHER,)]
    tests = {name: systems[name].against(whole, MEASURE) for name in names if name != DISTILLED}
    corrected = corrected_p(tests)
    rows = []
    for name in names:
        cells: list[Any] = [difference_cell(tests[name].difference), p_value(corrected[name])] if name in tests else ["", ""]
        rows.append([name, plain(final(logs[name], "eval_loss")), mean_cell(systems[name], MEASURE), *cells])
    return page.show_table("Which of the losses matters? (p corrected by Holm's method)",
                           ("student", "evaluation loss", MEASURE, "against all four losses", "p"), rows)


def size_table(logs: Mapping[str, dict[str, Any]], speed: Mapping[str, Any], shapes: Mapping[str, str]) -> Fragment:
    """Size and speed of teacher and student, here and in table 5.6."""
    said = published.cells(STUDY, "5.6")
    rates = {name: float(np.median(per_minute(dict(speed), size))) for name, size in shapes.items()}
    rows = []
    for row, name in ((TEACHER, TEACHER), ("L3-H384", DISTILLED)):
        rows.append([name, f"{plain(said[row, 'Size'].value, 0)} million", f"{plain(logs[name]['parameters'] / 1e6, 1)} million",
                     said[row, "Queries/min"].printed, rate(speed, shapes[name]),
                     f"{plain(said[row, 'Queries/min'].value / said[TEACHER, 'Queries/min'].value, 1)}×",
                     f"{plain(rates[name] / rates[TEACHER], 1)}×"])
    header = ("model", "parameters, published", "measured", "queries/min, published", "measured", "speed-up, published",
              "measured")
    return page.show_table("Size and speed: the study's teacher and smaller student beside ours", header, rows)


def part_curves(log: Mapping[str, Any]) -> dict[str, pd.Series]:
    """Each part of the distillation's loss over the optimiser steps, relative to its first value."""
    lines = {name: curve(dict(log), name) for name in PARTS}
    return {NAMES[name]: line / line.iloc[0] for name, line in lines.items() if len(line)}


def finding(systems: Mapping[str, Evaluation]) -> Fragment:
    """The chapter's last words."""
    teacher, plainly, distilled, hard = (systems[name] for name in (TEACHER, PLAIN, DISTILLED, HARD_ONLY))
    return page.prose(
        f"Distillation changes the student's RR@10 by {effect(distilled.against(plainly, MEASURE))} against the same student "
        f"trained plainly from the backbone, and by {effect(distilled.against(hard, MEASURE))} against one that also starts from "
        "the teacher's layers but sees the judgments alone.",
        f"Against its teacher the distilled student stands at {effect(distilled.against(teacher, MEASURE))}, against BM25 at "
        f"{effect(distilled.against(systems['BM25'], MEASURE))}.")
