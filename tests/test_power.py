"""What share of a head a design could see, and what it takes to see a smaller one: every training is counted once."""

from types import SimpleNamespace

import pytest

import toys
from helpers.pages import readiness
from helpers.systems.evaluated import Evaluation, over_seeds
from helpers.systems.starting_points import CONDENSER, MLM, language_model, made
from helpers.systems.tasks import SearchTask

HOUR = 3600.0


def manifest(step, seconds, *inputs):
    return {"key": step.key, "seconds": seconds, "inputs": list(inputs)}


@pytest.fixture
def shared_start(monkeypatch):
    """Models of two seeds from one start, each kept with its seconds: three hours for the start, two for each."""
    start, by_seed = made("chosen", "almanac[:9]", "packaged:0,1", [1, 2])
    before = manifest(start.model, 3 * HOUR, {"key": "text", "seconds": 7.0})
    kept = {own[MLM].model.key: manifest(own[MLM].model, 2 * HOUR, before) for own in by_seed.values()}
    monkeypatch.setattr("helpers.steps.Step.entry", lambda step: SimpleNamespace(manifest=kept[step.key]))
    return [own[MLM].model for own in by_seed.values()]


def test_what_all_runs_share_is_counted_once(shared_start):
    assert readiness.spent(shared_start, shared_start) == readiness.Spent(3 * HOUR, 4 * HOUR)


def test_a_fine_tuning_counts_with_the_pretraining_before_it(shared_start, monkeypatch):
    task = SearchTask("almanac", "passage", "packaged:0,1", (), ("RR@10",), 1, 4, 1e-4, 8, 16, 20)
    models = [task.encoder(start, 30, seed).model for seed, start in enumerate(shared_start, start=1)]
    kept = {model.key: manifest(model, HOUR / 2, manifest(start, 2 * HOUR, manifest(start.arguments["start"], 3 * HOUR)))
            for model, start in zip(models, shared_start, strict=True)}
    monkeypatch.setattr("helpers.steps.Step.entry", lambda step: SimpleNamespace(manifest=kept[step.key]))
    assert readiness.spent(models, models) == readiness.Spent(3 * HOUR, 5 * HOUR)


def test_one_run_shares_with_none():
    only = language_model("almanac[:9]", "packaged:0,1", epochs=1).model
    kept = SimpleNamespace(entry=lambda: SimpleNamespace(manifest=manifest(only, HOUR)))
    assert readiness.spent([only], [kept]) == readiness.Spent(0.0, HOUR)


@pytest.mark.parametrize(("detectable", "lead", "told"), [
    (0.02, 0.03, "the study's whole lead over BERT is 0.030 (1K)."), (0.03, 0.0, "The study prints no lead over BERT (1K)."),
    (0.03, 0.01, "18 seeds of each branch, 9 times as many, and 9 times as many questions. The seeds take 29.0 CPU hours (no "
                 "training was timed on a GPU), and those compared here took 5.0 CPU hours.")])
def test_what_is_needed_grows_with_the_square(detectable, lead, told):
    cost = readiness.Spent(2 * HOUR, 3 * HOUR)
    text = readiness.design(SimpleNamespace(detectable=detectable), lead, "1K", cost, 2, "questions")
    assert text.endswith(told)


def test_a_design_is_told_for_each_size(monkeypatch):
    monkeypatch.setattr(Evaluation, "against", lambda *_: SimpleNamespace(detectable=0.033))  # nearly twice the lead with all
    one = over_seeds("x", [toys.system(), toys.system()])
    systems, names = {(start, size): one for start in (CONDENSER, MLM) for size in (250, 0)}, {250: "250 questions", 0: "all"}
    columns = {250: "Natural Question / Top-20 / 1K", 0: "Natural Question / Top-20 / FULL"}
    text = readiness.by_size(systems, names, "3", columns, "RR@10", "questions", lambda *_: readiness.Spent(HOUR, HOUR)).markdown
    assert "With 250 questions: A share of the head of 0.033" in text and "lead over BERT is 0.061 (1K). With all" in text
    assert "lead over BERT is 0.017 (FULL)" in text and "takes 8 seeds of each branch" in text
    assert readiness.by_size({}, names, "3", columns, "RR@10", "").markdown == ""
