"""Longer fine-tunings of two branches: what is trained, and what the page says of it."""

from dataclasses import replace

import pandas as pd
import pytest

import toys
from helpers.stories import longer
from helpers.systems.search_tasks import SearchTask
from helpers.systems.starting_points import CONDENSER, MASKED, MLM, START
from tables import cells

SHORT = SearchTask("almanac", "passage", "packaged:0", (), longer.HITS, 1, steps=240, learning_rate=1e-4, batch_size=16,
                   max_length=64, test_queries=20)
WEIGHTS = {START: {1: None, 2: None}, MLM: {1: "m1", 2: "m2"}, CONDENSER: {1: "c1", 2: "c2"}, MASKED: {1: "h1", 2: "h2"}}


def system(shift):
    return toys.system(shift, shifts=dict.fromkeys(longer.HITS, shift))


def test_the_training_is_the_same_with_more_steps():
    first, second = (one.encoder(None, 0, 1) for one in (SHORT, longer.task(SHORT)))
    assert first.steps < longer.STEPS and replace(first, steps=longer.STEPS) == second


@pytest.mark.parametrize("steps, weights, expected", [
    (240, WEIGHTS, {MLM: WEIGHTS[MLM], MASKED: WEIGHTS[MASKED]}), (240, {MLM: WEIGHTS[MLM]}, {}), (longer.STEPS, WEIGHTS, {})])
def test_both_branches_are_trained_where_they_are_there_and_trainings_are_shorter(steps, weights, expected):
    assert longer.starts(replace(SHORT, steps=steps), weights) == expected


def test_each_branch_is_trained_with_all_questions():
    asked = []

    class Task:
        def encoder(self, *arguments):
            asked.append(arguments)
            return arguments

        def evaluate(self, label, encoder):
            return system(0.25)

    trained = longer.fine_tuned(Task(), {MLM: {1: "m1"}, MASKED: {1: "h1", 2: "h2"}})
    assert asked == [("m1", 0, 1), ("h1", 0, 1), ("h2", 0, 2)]
    assert [len(own.runs) for own in trained.values()] == [1, 2]


def test_both_lengths_stand_beside_bm25():
    short = {(MLM, 0): system(0.0), (MASKED, 0): system(0.0)}
    trained = {MLM: system(0.125), MASKED: system(0.375)}
    rows = cells(longer.table(trained, short, [250, 0], {"BM25": system(0.25)}))[1:]
    assert [(row[0], row[1][:5]) for row in rows] == [
        ("BM25", "0.500"), (f"{MLM}, as above", "0.250"), (f"{MLM}, {longer.STEPS} steps", "0.375"),
        (f"{MASKED}, as above", "0.250"), (f"{MASKED}, {longer.STEPS} steps", "0.625")]
    differences = [row[3][:6] for row in cells(longer.comparisons(trained, system(0.25)))[1:]]
    assert differences == ["+0.250", "+0.125", "−0.125"]


@pytest.mark.parametrize("words, reads, last, expected", [(0.0, 0.25, 0.5, [False, True, True, False]),
                                                          (0.125, 0.5, 0.25, [True, False, False, False]),
                                                          (0.25, 0.125, 0.5, [True, True, True, False])])
def test_the_discussion_rests_on_both_lengths_and_bm25(words, reads, last, expected):
    short = {(name, 0): system(0.0) for name in (MLM, MASKED)}
    losses = {name: pd.Series([1.0, 0.25, last], [0, 300, 600]) for name in (MLM, MASKED)}
    trained = {MLM: system(words), MASKED: system(reads)}
    assert list(longer.signs(trained, short, [250, 0], system(0.375), losses).values()) == expected


def test_a_lead_that_chance_may_explain_is_not_sure():
    words = toys.of_values({longer.HITS[0]: [0.0, 0.5, 0.0, 0.5, 0.25, 0.5, 0.0, 0.5]}, MLM)
    reads = toys.of_values({longer.HITS[0]: [0.5, 0.0, 0.5, 0.0, 0.25, 0.5, 0.0, 1.0]}, MASKED)
    short = {(name, 0): words for name in (MLM, MASKED)}
    losses = {name: pd.Series([1.0, 0.5]) for name in (MLM, MASKED)}
    found = longer.signs({MLM: words, MASKED: reads}, short, [0], system(0.375), losses)
    assert found["trained longer, the head that reads [CLS] leads masked words, not surely"]


def test_a_run_without_the_section_says_so_once():
    assert "leaves the section out" in longer.loss_figure({}).markdown
    assert longer.table({}, {}, [0], {}).markdown == longer.comparisons({}, system(0.0)).markdown == ""
    assert longer.signs({}, {}, [0], system(0.0), {}) == {}
