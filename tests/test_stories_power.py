"""What share of a head a design could see, and what it takes to see a smaller one: every training is counted once."""

from types import SimpleNamespace

import pytest

import toys
from helpers.stories import fine_tuning_sizes, power, similarity
from helpers.systems.evaluated import Evaluation, over_seeds
from helpers.systems.starting_points import CONDENSER, MLM, language_model, made

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
    took = power.spent(shared_start, shared_start)
    assert took == power.Spent(3 * HOUR, 4 * HOUR, 0.0) and took.whole == 7 * HOUR
    assert took.times(10).told() == "43.0 CPU hours of pre-training, the start counted once"
    assert power.Spent(HOUR, HOUR, HOUR).told().endswith("and 1.0 CPU hours of fine-tuning")


def test_a_fine_tuning_is_told_apart_from_the_pretrainings_before_it(shared_start, monkeypatch):
    task = fine_tuning_sizes.SearchTask("almanac", "passage", "packaged:0,1", (), ("RR@10",), 1, 4, 1e-4, 8, 16, 20)
    models = [task.encoder(start, 30, seed).model for seed, start in enumerate(shared_start, start=1)]
    kept = {model.key: manifest(model, HOUR / 2, manifest(start, 2 * HOUR, manifest(start.arguments["start"], 3 * HOUR)))
            for model, start in zip(models, shared_start, strict=True)}
    monkeypatch.setattr("helpers.steps.Step.entry", lambda step: SimpleNamespace(manifest=kept[step.key]))
    assert power.spent(models, models) == power.Spent(3 * HOUR, 4 * HOUR, HOUR)


def test_one_run_shares_with_none():
    only = language_model("almanac[:9]", "packaged:0,1", epochs=1).model
    kept = SimpleNamespace(entry=lambda: SimpleNamespace(manifest=manifest(only, HOUR)))
    assert power.spent([only], [kept]) == power.Spent(0.0, HOUR, 0.0)


def test_trainings_of_a_correlation_are_those_of_its_own_label():
    source = SimpleNamespace(arguments={"predicted": {"a": [["a1", "a2"], ["b1", "b2"]], "b": [["c"]]}})
    assert similarity.trained_runs(SimpleNamespace(label="a", source=source)) == ["a1", "a2", "b1", "b2"]


@pytest.mark.parametrize(("detectable", "lead", "told"), [
    (0.02, 0.03, "As much would be seen here."), (0.03, 0.0, ""),
    (0.03, 0.01, "9 times as many seeds, 18 of each branch, and 9 times as many questions. The seeds take 20.0 CPU hours of "
                 "pre-training, the start counted once, and 9.0 CPU hours of fine-tuning, where those compared here took 5.0")])
def test_what_is_needed_grows_with_the_square(detectable, lead, told):
    assert told in power.needed(detectable, lead, power.Spent(2 * HOUR, 2 * HOUR, HOUR), 2, "questions")


def test_no_gpu_hours_are_told_and_why():
    assert power.explained(["", "One."]) == ["One."]
    assert power.explained(["2.0 CPU hours."])[-1] == power.NO_GPU


def test_a_design_is_told_for_each_size(monkeypatch):
    monkeypatch.setattr(Evaluation, "against", lambda *_: SimpleNamespace(detectable=0.033))  # nearly twice the lead with all
    one = over_seeds("x", [toys.system(), toys.system()])
    systems = {(start, size): one for start in (CONDENSER, MLM) for size in (250, 0)}
    names = {250: "250 questions", 0: "all 900 questions"}
    text = power.design(systems, names, "3", fine_tuning_sizes.QA_COLUMNS, "RR@10", "test questions",
                        lambda *_: power.Spent(HOUR, HOUR, HOUR)).markdown
    assert "With 250 questions, a share of the head of 0.033" in text and "lead over BERT is 0.061 there (1K). As much" in text
    assert "lead over BERT is 0.017 there (FULL)" in text and "as many seeds, 8 of each branch" in text
    assert text.count(power.NO_GPU) == 1
    assert power.design({}, names, "3", fine_tuning_sizes.QA_COLUMNS, "RR@10", "").markdown == ""
    sections = power.design(systems, {0: "all"}, "2", similarity.SECTION_COLUMNS, "RR@10", "triplets",
                            lambda *_: power.Spent()).markdown
    assert sections.endswith("The study prints no lead over BERT there (FULL), so there is none to look for.")
