"""The chapters on fine-tuning: what they say follows the values. Differences are constant over the queries where a test
reads the words, so that interval and p are known: of 8 equal differences the permutation test's p is 2 / 2^8 = 0.008."""

from dataclasses import replace

import pytest

import toys
from helpers.evaluation.verdicts import AGREES, DISAGREES, SMALL, UNTESTED
from helpers.pages import identity, training
from helpers.steps import ledger
from helpers.stories import (
    distillation,
    unjudged_pairs,
)
from helpers.systems.recipe import recipe
from helpers.systems.reranking_experiment import RerankingExperiment
from helpers.systems.student import Student
from helpers.systems.zero_shot import ZERO_SHOT
from tables import cells, verdicts_of
from toys import Value

TRIAL = RerankingExperiment(None, None)  # of which nothing is known but how many candidates it has
CHOSEN = recipe(warm_up=0)


@pytest.fixture(autouse=True)
def nobody_knows(monkeypatch):
    """No system knows its articles, unless a test says so."""
    monkeypatch.setattr(identity, "knows_articles", lambda *systems_bed_and_candidates: "")


def system(shift=0.0, recall=0.0, **more):
    """A toy whose RR@10 is shifted, and whose recall has a shift of its own."""
    return toys.system(shift, shifts={"R@10": recall}, **more)


def log_of(loss=0.5, evaluation=0.6, **more):
    """A training's log: the losses fall from 0.9 and 0.8 to the given ones."""
    lines = [{"step": 10, "loss": 0.9}, {"step": 10, "eval_loss": 0.8}, {"step": 20, "loss": loss},
             {"step": 20, "eval_loss": evaluation}]
    return {"pairs": 1200, "positives": 300.0, "evaluation_pairs": 80, "steps": 20, "parameters": 22_000_000,
            "trained_parameters": 22_000_000, "log": lines} | more


# ---- training ----

def test_a_curve_takes_the_lines_that_have_it():
    log = log_of()
    assert training.curve(log, "eval_loss").to_dict() == {10: 0.8, 20: 0.6}
    assert training.curve(log, "soft").empty
    assert training.final(log, "loss") == 0.5
    log["log"].append({"step": 20, "eval_loss": 0.55})  # a training's last step is evaluated twice
    assert training.final(log, "eval_loss") == 0.55
    curves = {name: line.to_dict() for name, line in training.loss_curves(log, ", seed 1").items()}
    assert curves == {"training loss, seed 1": {10: 0.9, 20: 0.5}, "evaluation loss, seed 1": {10: 0.8, 20: 0.55}}


def test_losses_stand_beside_those_of_the_thesis():
    shown = training.losses_beside("5.3", {"3": (log_of(0.0123, 0.0456), system()), "12": (log_of(), system())})
    header, three, twelve = cells(shown)
    assert header == ["training", "Final Eval Loss, published", "Final Eval Loss, measured", "Final Training Loss, published",
                      "Final Training Loss, measured"]
    assert three == ["3", "0.0193", "0.0456", "0.0186", "0.0123"]
    assert twelve == ["12", "", "0.6000", "", "0.5000"]  # the study did not train for twelve epochs
    assert 'href="#step-0123456789"' in shown.html


def test_the_cost_of_a_model_is_the_seconds_of_training_and_of_scoring(monkeypatch):
    machine = {"cpu": "A CPU", "cores": 4, "threads": 2}
    log = Value(log_of(), manifest={"inputs": [{"step": "cross_encoder", "seconds": 4000.0}], "seconds": 0.1})
    scored = Value(manifest={"seconds": 12.3, "machine": machine})
    monkeypatch.setitem(ledger.USED, scored.key, {"source": "recorded"})
    shown = training.cost({"seed 1": log}, {"seed 1": replace(system(), source=scored), "BM25": system()})
    assert cells(shown)[1:] == [["seed 1", "20", "67 min", "12 s", "A CPU, 2 threads of 4 cores", "recorded"]]


def timed(rates):
    """A timing of 4 queries in three rounds: retrieval takes no time, and each size has its queries a minute."""
    sizes = {size: {"parameters": 1, "seconds": [240 / value for value in values]} for size, values in rates.items()}
    return {"queries": 4, "windows": 9, "device": "cpu", "retrieval": [0.0, 0.0, 0.0], "sizes": sizes}


@pytest.mark.parametrize("loss, learned", [(0.57, False), (0.54, False), (0.53, True), (0.1, True)])
def test_a_constant_guess_is_no_learning(loss, learned):
    # a quarter of the pairs is relevant: -(ln(1/4) / 4 + 3 ln(3/4) / 4) = 0.5623, and 0.95 of it 0.5342
    assert training.untrained(log_of(evaluation=loss)) != learned


# ---- distillation ----

WHOLE = Student(recipe(), layers=(0, 1, 2))


def test_teacher_students_and_ablations_are_named():
    models = distillation.models(recipe(), "packaged:0,1,2", ["soft", "hidden", "attention", "hard"])
    assert list(models) == [distillation.TEACHER, distillation.PLAIN, distillation.DISTILLED, distillation.HARD_ONLY,
                            "distilled without the teacher's answers", "distilled without hidden states",
                            "distilled without attention", "distilled without judgments"]
    assert models[distillation.TEACHER] == recipe()
    plain = models[distillation.PLAIN]
    assert {(model.backbone, model.taught_by) for model in (plain, plain.start)} == {("packaged:0,1,2", "packaged")}
    assert models[distillation.DISTILLED] == WHOLE
    weights = {name: (model.hard, model.soft, model.hidden, model.attention) for name, model in models.items()
               if isinstance(model, Student)}
    assert list(weights.values()) == [
        (1, 1, 1, 0.02), (1, 0, 0, 0), (1, 0, 1, 0.02), (1, 1, 0, 0.02), (1, 1, 1, 0), (0, 1, 1, 0.02)]
    assert list(distillation.models(recipe(), "packaged:0,1,2", []).items()) == list(models.items())[:4]


def taught(teacher=0.25, plain=0.0, distilled=0.375, hard=0.125, **ablations):
    values = {"BM25": 0.0, distillation.TEACHER: teacher, distillation.PLAIN: plain, distillation.DISTILLED: distilled,
              distillation.HARD_ONLY: hard, ZERO_SHOT: 0.0, **ablations}
    return {name: system(shift) for name, shift in values.items()}


TRAINED = (distillation.TEACHER, distillation.DISTILLED, distillation.HARD_ONLY)
TAUGHT, BEATS = "distilled-students-beat-plain-students", "distilled-student-beats-teacher"
NEAR = "small-student-near-its-teacher"


@pytest.mark.parametrize("name, hard, distilled, verdicts", [
    ("L6-H768", 0.0, 0.375, {TAUGHT: AGREES, BEATS: AGREES, NEAR: UNTESTED}),
    ("L6-H768", 0.25, 0.125, {TAUGHT: DISAGREES, BEATS: DISAGREES, NEAR: UNTESTED}),
    ("L3-H384", 0.25, 0.25, {TAUGHT: SMALL, BEATS: UNTESTED, NEAR: AGREES}),
    ("L3-H384", 0.0, 0.125, {TAUGHT: AGREES, BEATS: UNTESTED, NEAR: DISAGREES}),
    ("L1-H384", 0.0, 0.125, {TAUGHT: AGREES, BEATS: UNTESTED, NEAR: UNTESTED})])
def test_the_distilled_student_is_judged_by_its_own_start_and_what_the_study_says_of_its_shape(name, hard, distilled, verdicts):
    systems, logs = taught(hard=hard, distilled=distilled), dict.fromkeys(TRAINED, log_of(0.3, 0.4))
    assert verdicts_of(distillation.claims_table(systems, logs, name, TRIAL)) == verdicts


@pytest.mark.parametrize("warmed, control, verdict", [(0.5, 0.25, AGREES), (0.25, 0.5, DISAGREES)])
def test_a_student_that_judges_pairs_already_carries_the_verdicts(warmed, control, verdict):
    own = {distillation.WARMED: warmed, distillation.CONTROL: control}
    systems = taught(hard=0.5, distilled=0.25, **own)
    logs = dict.fromkeys([*TRAINED, *own], log_of(0.3, 0.4))
    assert verdicts_of(distillation.claims_table(systems, logs, "L3-H384", TRIAL))[TAUGHT] == verdict
    header, taught_or_not, *others = cells(distillation.teaching(systems, ["packaged:0,1,2"]))
    assert taught_or_not[3][:6] == f"{'+' if warmed > control else '−'}0.250"
    assert len(others) == 2
    assert "no such student" in distillation.teaching(taught(), ["packaged:0,1,2"]).markdown


def test_a_student_of_another_shape_is_compared_under_its_own_name():
    narrow = {distillation.called(name, "L6-H256"): value for name, value in
              ((distillation.WARMED, 0.75), (distillation.CONTROL, 0.5))}
    systems = taught(teacher=0.25, **{distillation.WARMED: 0.5, distillation.CONTROL: 0.5}, **narrow)
    specs = ["packaged:0,1,2", "packaged/256"]
    rows = {row[0]: row[3][:6] for row in cells(distillation.teaching(systems, specs))[1:]}
    assert list(rows) == ["taught, and without a teacher", "taught, and the teacher", "without a teacher, and the teacher",
                          "L6-H256: taught, and without a teacher", "L6-H256: taught, and the teacher",
                          "L6-H256: without a teacher, and the teacher"]
    assert list(rows.values()) == ["+0.000", "+0.250", "+0.250", "+0.250", "+0.500", "+0.250"]
    assert list(distillation.narrower_signs(systems, specs).values()) == [True, True]
    low = systems | {distillation.called(distillation.WARMED, "L6-H256"): system(0.0)}
    assert list(distillation.narrower_signs(low, specs).values()) == [False, False]
    assert distillation.narrower_signs(systems, specs[:1]) == distillation.narrower_signs(taught(), specs) == {}


def test_a_narrower_student_learns_all_but_attention_from_a_warm_up_of_its_own():
    models = distillation.warmed(recipe(), ["packaged:0,1,2", "packaged/256"], [1, 2])
    students, controls = (models[distillation.called(name, "L6-H256")] for name in (distillation.WARMED, distillation.CONTROL))
    assert controls == [distillation.judgments_alone(student) for student in students]
    assert [(student.start.width, student.attention, student.seed) for student in students] == [(256, 0.0, 1), (256, 0.0, 2)]
    assert all(student.hidden and student.soft for student in students)


def test_students_with_a_warm_up_of_their_own_have_controls_that_differ_in_the_teacher_alone():
    students, controls = distillation.warmed(recipe(), ["packaged:0,1,2"], [1, 2]).values()
    assert controls == [replace(student, soft=0.0, hidden=0.0, attention=0.0) for student in students]
    assert [(student.start.backbone, student.seed, student.learning_rate) for student in students] == [
        ("packaged:0,1,2", 1, 5e-5), ("packaged:0,1,2", 2, 5e-5)]
    assert distillation.warmed(recipe(warm_up=0), ["packaged:0,1,2"], [1]) == {}


@pytest.mark.parametrize("idle, near", [(distillation.DISTILLED, UNTESTED), (distillation.HARD_ONLY, AGREES)])
def test_a_student_that_learned_nothing_gets_no_verdict(idle, near):
    logs = dict.fromkeys(TRAINED, log_of(0.3, 0.4)) | {idle: log_of(0.5, 0.56)}
    systems = taught(teacher=0.25, distilled=0.25)
    assert verdicts_of(distillation.claims_table(systems, logs, "L3-H384", TRIAL)) == {
        TAUGHT: UNTESTED, BEATS: UNTESTED, NEAR: near}


@pytest.mark.parametrize("values, loss, expected", [
    ({"distilled without attention": 0.125}, 0.56, [False, False, False, True]),
    ({"teacher": 0.5, "plain": 0.4, "distilled without hidden states": 0.375}, 0.3, [True, True, True, False])])
def test_the_discussion_of_distillation_rests_on_the_order_of_the_students(values, loss, expected):
    logs = {distillation.HARD_ONLY: log_of(0.5, loss)}
    assert list(distillation.signs(taught(**values), logs).values()) == expected


def test_answers_on_unjudged_pairs_and_their_controls_differ_in_one_thing_each():
    teacher = recipe()
    trained = unjudged_pairs.models(teacher, "packaged:0,1,2", 7_000, [1, 2])
    answered, scored, judged = trained.values()
    start = teacher.on("packaged:0,1,2").start
    assert [(own.seed, own.held_out_seed, own.start, own.learning_rate) for own in answered] == [
        (1, None, start, 5e-5), (2, 1, start, 5e-5)]
    assert scored == [replace(own, reranker=None, temperature=0.05) for own in answered]
    assert answered[0].bed.query_step.key != start.bed.query_step.key
    assert {own.taught_by for own in (start, answered[0])} == {"packaged"}
    assert judged == [replace(control, start=own) for control, own in zip(
        distillation.warmed(teacher, ["packaged:0,1,2"], [1, 2])[distillation.CONTROL], answered, strict=True)]
    assert unjudged_pairs.models(teacher, "packaged:0,1,2", 0, [1]) == {}
    assert unjudged_pairs.models(recipe(warm_up=0), "packaged:0,1,2", 7_000, [1]) == {}


UNJUDGED = {unjudged_pairs.ANSWERED: 0.25, unjudged_pairs.SCORED: 0.125, unjudged_pairs.THEN_JUDGED: 0.5}


def test_what_answers_on_unjudged_pairs_add_is_compared_with_scores_and_judgments():
    systems = taught(**{distillation.WARMED: 0.25, distillation.CONTROL: 0.375, **UNJUDGED})
    _, *rows = cells(unjudged_pairs.teaching(systems))
    assert [row[3][:6] for row in rows] == ["+0.125", "−0.125", "+0.125", "+0.000", "+0.250"]
    assert unjudged_pairs.teaching(taught()).markdown == ""
    assert unjudged_pairs.table(taught(), {}, {}).markdown == ""
    assert "-p unjudged" in unjudged_pairs.losses({}).markdown


def test_a_teachers_answers_are_told_from_the_encoders_scores():
    assert unjudged_pairs.signs(taught()) == {}
    cases = [taught(teacher=best, **UNJUDGED | {unjudged_pairs.SCORED: scored, distillation.CONTROL: own})
             for best, scored, own in ((0.5, 0.125, 0.0), (0.25, 0.25, 0.375))]
    signs = [list(unjudged_pairs.signs(systems).values()) for systems in cases]
    assert signs == [[True, True, True, True], [False, False, False, False]]


def test_the_ablations_are_compared_with_all_four_losses():
    systems = taught(less=0.375)
    trained = [name for name in systems if name not in ("BM25", ZERO_SHOT)]
    logs = dict.fromkeys(trained, log_of(0.3, 0.4)) | {distillation.PLAIN: log_of(0.3, 0.45)}
    header, *rows = cells(distillation.ablation_table(systems, logs))
    rows = {row[0]: row[1:] for row in rows}
    assert list(rows) == [distillation.PLAIN, distillation.DISTILLED, distillation.HARD_ONLY, "less"]
    assert [row[0] for row in rows.values()] == ["0.450", "0.400", "0.400", "0.400"]
    assert [row[1][:5] for row in rows.values()] == ["0.250", "0.625", "0.375", "0.625"]
    # p 2 / 256 and 1
    assert [row[2:] for row in rows.values()] == [["−0.375 [−0.375, −0.375]", "0.008"], ["", ""],
                                                  ["−0.250 [−0.250, −0.250]", "0.008"], ["+0.000 [+0.000, +0.000]", "1.000"]]
    assert header[-2:] == ["compared with all four losses", "p"]


def test_sizes_and_speed_up_stand_beside_the_studys():
    shapes = {distillation.TEACHER: "6/384/12", distillation.DISTILLED: "3/384/12"}
    speed = timed({"6/384/12": [10.0, 20.0, 30.0], "3/384/12": [50.0, 50.0, 50.0]})
    logs = {distillation.TEACHER: log_of(), distillation.DISTILLED: log_of(parameters=17_000_000)}
    rows = cells(distillation.size_table(logs, speed, shapes))[1:]
    assert rows == [["Teacher", "109 million", "22.0 million", "0.41", "20.0 10.0 to 30.0", "1.0×", "1.0×"],
                    [distillation.DISTILLED, "17 million", "17.0 million", "5.73", "50.0 50.0 to 50.0", "14.0×", "2.5×"]]


def test_the_parts_of_the_loss_are_relative_to_their_first_values():
    log = {"log": [{"step": 1, "loss": 9.0, "hard": 0.5, "soft": 4.0}, {"step": 1, "eval_loss": 0.7},
                   {"step": 2, "loss": 8.0, "hard": 0.25, "soft": 5.0}]}
    lines = {name: line.to_dict() for name, line in distillation.part_curves(log).items()}
    assert lines == {"judgments": {1: 1.0, 2: 0.5}, "the teacher's answers": {1: 1.0, 2: 1.25}}
