"""Estimates: from the nearest computations, scaled by size where time is in proportion, and why a step is missing."""

from pathlib import Path

import pytest

from helpers.steps import Definition, Step, registry
from press import step_digests
from press.explain import estimates
from press.explain.estimates import expect
from press.explain.known import Known


@pytest.fixture(autouse=True)
def not_fresh(monkeypatch):
    monkeypatch.setenv("BOOK_FRESH", "")


def step(name="train", **arguments):
    return Step(Definition(name, 1, "json", False, lambda: None), arguments)


def known(of, seconds=10.0, folder=Path("x"), place="here"):
    return Known(of.recipe(), of.key, seconds, place, folder)


def cost(needed, *others):
    return expect(needed, others).cost


def why(needed, *others, new=()):
    return expect(needed, others, new).why


def test_the_same_recipe_tells_its_own_cost():
    estimate = cost(step(seed=1), known(step(seed=1), 12.0, None, "recorded run"), known(step(seed=2), 99.0))
    assert (estimate.seconds, estimate.low, estimate.high, estimate.basis) == (12.0, 12.0, 12.0, "the same, recorded run")


def test_the_nearest_give_median_and_range_and_farther_ones_do_not_count():
    near = [known(step(seed=seed, a=1), seconds) for seed, seconds in ((2, 10.0), (3, 30.0), (4, 14.0))]
    estimate = cost(step(seed=1, a=1), *near, known(step(seed=5, a=2), 500.0))
    assert (estimate.seconds, estimate.low, estimate.high, estimate.basis) == (14.0, 10.0, 30.0, "3 like it, here")


@pytest.mark.parametrize(("needed", "other", "seconds"), [
    ({"epochs": 3}, {"epochs": 2}, 15.0), ({"candidates": 50}, {"candidates": 100}, 5.0),
    ({"learning_rate": 2.0}, {"learning_rate": 1.0}, 10.0), ({"epochs": 3}, {"epochs": 0}, 10.0), ({"epochs": 3}, {}, 10.0)])
def test_time_is_in_proportion_to_some_arguments(needed, other, seconds):
    assert cost(step(**needed), known(step(**other))).seconds == pytest.approx(seconds)


def queries(sample):
    return step("queries", sample=sample)


def test_time_is_in_proportion_to_the_queries_of_the_step_itself_and_not_to_those_of_a_model_s_training():
    needed, other = (step("scores", queries=queries(n), run=step("bm25", queries=queries(n))) for n in (300, 100))
    estimate = cost(needed, known(other))
    assert estimate.seconds == pytest.approx(30.0)
    assert estimate.basis == "1 like it, here, × 3.00 in size"
    needed, other = (step("scores", model=step("train", queries=queries(n), epochs=n)) for n in (300, 100))
    assert cost(needed, known(other)).seconds == 10.0


def test_why_names_the_arguments_that_differ_from_the_nearest():
    raised = Step(Definition("train", 2, "json", False, lambda: None), {"a": 1})
    assert why(raised, known(step(a=1))) == "version = 2 (nearest: 1)"
    assert why(step(seed=7, a=1), known(step(seed=1, a=1))) == "seed = 7 (nearest: 1)"
    assert why(step(model=step("x", seed=7)), known(step(model=step("x", seed=1)))) == "x: seed = 7 (nearest: 1)"


def test_what_is_new_below_is_told_there_and_followed_here():
    needed, other = (step("scores", model=step("x", seed=n), depth=5) for n in (7, 1))
    assert why(needed, known(other), new=[needed.arguments["model"]]) == "follows x"
    deeper = step("scores", model=step("x", seed=7), depth=6)
    assert why(deeper, known(other), new=[deeper.arguments["model"]]) == "depth = 6 (nearest: 5); follows x"


def test_why_a_known_recipe_is_missing(monkeypatch):
    assert why(step(a=1), known(step(a=1), folder=None)) == "no longer here"
    assert why(step(a=1), known(step(a=1), folder=None, place="recorded run")) == "not shipped with the recorded runs"
    assert why(step(a=1), known(step(a=1))) == "its entry is damaged"
    monkeypatch.setenv("BOOK_FRESH", "1")
    assert why(step(a=1), known(step(a=1))) == "all is computed anew"


def test_arguments_in_proportion_are_those_of_steps_that_exist():
    step_digests.import_all()
    hints = {name for definition in registry.STEPS.values() for name in definition.hints}
    assert hints >= {path[0] for path in estimates.PROPORTIONAL}
    assert "sample" in registry.STEPS["queries"].hints
