"""The chapter *Encoders*: what it says of the student that was distilled, and of the trainings that go on to the end."""

from dataclasses import replace

from helpers.pages import encoders, page
from helpers.stories import distilled_student as students
from helpers.stories import long_training
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.distilled_encoder import DistilledEncoder
from tables import caption, cells, text_of
from toys import Value, system

TAUGHT, CUT, WHOLE = (f"{name} / Avg" for name in (students.STUDENT, students.CUT, students.TEACHER))


def log_of(*losses, **more):
    return {"queries": 90, "steps": 10 * (len(losses) - 1), "log": [
        {"step": 10 * place, "eval_loss": loss, "eval_accuracy": 1 - loss} for place, loss in enumerate(losses)], **more}


def trained(log):
    """Stands for a model: its log, whose training took two minutes."""
    return type("Model", (), {"log": Value(log, manifest={"inputs": [{"step": "any", "seconds": 120.0}]}),
                              "backbone": "packaged:0,2,5", "learning_rate": 1e-4})()


# ---- the student ----

def test_a_student_is_one_more_encoder_of_the_tables():
    base = BiEncoder("almanac", "passage", margin=0.5)
    student = students.student_of(base, "packaged:0,2,5")
    assert student == DistilledEncoder("packaged:0,2,5", "almanac", "passage")
    models = students.models(base, student, ["mean", "cls"])
    assert list(models) == [TAUGHT, "MiniLM distilled / CLS"]
    assert models["MiniLM distilled / CLS"] == replace(student.of(base), pooling="cls")
    names = {name.split(" / ")[0] for name in {**encoders.models(base, ["packaged", "packaged:0,1,2"], ["mean"]), **models}}
    assert names == {students.TEACHER, students.CUT, students.STUDENT}


def test_without_a_student_nothing_is_taught_and_the_page_says_how_it_would_be():
    assert students.student_of(BiEncoder(), "") is None
    assert students.models(BiEncoder(), None, ["mean"]) == students.untaught(BiEncoder(), None, ["mean"], None, 10) == {}
    assert students.losses(None).markdown == students.LEFT_OUT
    assert students.table(None).markdown == students.comparison({}, {}, {}).markdown == ""


def test_the_students_own_layers_are_searched_as_they_were(monkeypatch):
    monkeypatch.setattr(BiEncoder, "run", lambda model, bed, depth: model)
    monkeypatch.setattr(students, "evaluate_values", lambda name, run, bed, measures: (name, run))
    base = BiEncoder()
    own = students.untaught(base, DistilledEncoder("packaged:0,2"), ["max"], None, 10)
    assert own == {"MiniLM distilled / Max": ("MiniLM distilled / Max, untaught",
                                              replace(base, backbone="packaged:0,2", pooling="max", loss="none"))}


def test_what_the_student_learned_is_shown():
    log = {"texts": 7000, "evaluation_texts": 200, "parameters": 17_000_000, "teacher_parameters": 22_000_000,
           "steps": 20, "log": [{"step": 0, "eval_loss": 0.12}, {"step": 10, "loss": 0.1}, {"step": 20, "eval_loss": 0.03}]}
    rows = cells(students.table(trained(log)))
    assert rows[1] == ["MiniLM distilled", "0, 2, 5", "17,000,000", "22,000,000", "7,000", "200", "20", "0.120 → 0.030", "25%",
                       "2 min"]
    assert "MiniLM distilled: 0.120 at 0, 0.030 at 20." in text_of(students.losses(trained(log)))


def test_the_student_stands_beside_its_own_layers_and_those_that_were_cut():
    before, after = {TAUGHT: system(0.2), CUT: system()}, {TAUGHT: system(0.3), CUT: system(0.2), WHOLE: system(0.3)}
    rows = cells(students.comparison(before, after, {TAUGHT: system(0.15)}))[1:]
    assert [(row[0], row[3].split(" [")[0]) for row in rows] == [
        (f"{TAUGHT}, zero-shot, and its layers untaught", "+0.050"), (f"{TAUGHT}, zero-shot, and {students.CUT}", "+0.200"),
        (f"{TAUGHT}, fine-tuned, and {students.CUT}", "+0.100")]


# ---- long trainings ----

def test_every_model_is_trained_once_more_on_all_queries_the_cut_one_at_a_rate_of_its_own():
    short = {"MiniLM / Avg": BiEncoder(queries=100, epochs=1, learning_rate=3e-5),
             "MiniLM / Max": BiEncoder(queries=100, epochs=1, learning_rate=3e-5, pooling="max"),
             **{f"layers / {pooling}": BiEncoder(queries=100, epochs=1, backbone="packaged:0,1,2", pooling=pooling)
                for pooling in ("mean", "max")}}
    models = long_training.models(short, [5])
    rates = [1e-4 if name.startswith("layers") else model.learning_rate for name, model in short.items()]
    assert models == {name: replace(model, queries=0, epochs=5, learning_rate=rate)
                      for (name, model), rate in zip(short.items(), rates, strict=True)}
    assert long_training.models(short, []) == {}


def test_their_values_alone_are_kept(monkeypatch):
    monkeypatch.setattr(BiEncoder, "run", lambda model, bed, depth: depth)
    monkeypatch.setattr(long_training, "evaluate_values", lambda name, run, bed, measures: (name, run, measures[-1]))
    assert long_training.evaluations({"a / Avg": BiEncoder()}, None, 20) == {"a / Avg": ("a / Avg, long training", 20, "nDCG@10")}


def test_without_long_trainings_the_page_says_how_to_run_them():
    assert long_training.losses({}).markdown == long_training.LEFT_OUT
    empty = [long_training.trainings_table({}, {}), long_training.table({}, {}, {}), long_training.ranges_table({}, {}),
             long_training.cost({})]
    assert {fragment.markdown for fragment in empty} == {""}
    assert long_training.signs({}, {}, {}, {}) == {}


def test_the_trainings_say_whether_they_learned_and_came_to_their_end():
    logs = {"a": log_of(0.2, 0.1, 0.098), "b": log_of(0.2, 0.2, 0.1)}
    models = {name: trained(log) for name, log in logs.items()}
    rows = cells(long_training.trainings_table(models, logs))
    assert rows[1] == ["a", "0.0001", "90", "20", "0.200 → 0.098", "−2 %", "yes", "0.800 → 0.902"]
    assert rows[2][5:7] == ["−50 %", "no"]
    assert cells(long_training.cost(models))[1] == ["a", "2 min"]
    assert "b: 0.200 at 0, 0.100 at 20." in text_of(long_training.losses(logs))


def test_a_model_is_shown_as_it_is_and_after_both_trainings():
    long = {"a / Avg": system(0.2), "a / Max": system(0.1)}
    after = {"a / Avg": system(0.1), "a / Max": system(-0.1)}
    table = long_training.table(dict.fromkeys(long, system()), after, long)
    assert cells(table)[1] == ["a / Avg", "0.250", "0.350", "0.450", "+0.100 [+0.100, +0.100]", "0.008"]
    assert "after the long one" in caption(table)
    assert [row[1:] for row in cells(long_training.ranges_table(after, long))[-2:]] == [
        ["short training", "Avg 0.350", "Max 0.150", "0.200"], ["long training", "Avg 0.450", "Max 0.350", "0.100"]]
    assert long_training.pooled({**long, "b / Avg": system()}) == ["a / Avg", "a / Max"]
    assert long_training.ranges_table(after, {"b / Avg": system()}) == page.prose("")
