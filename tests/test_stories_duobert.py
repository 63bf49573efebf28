"""The chapter on documents in pairs: what inferences cost, what the page shows of one query and of all."""

from types import SimpleNamespace

import pandas as pd
import pytest

from helpers.evaluation.verdicts import DISAGREES, SMALL, UNTESTED
from helpers.reranking.duo import DUOS
from helpers.stories import duobert as story
from helpers.systems.recipe import recipe
from helpers.systems.reranking_experiment import RerankingExperiment
from helpers.systems.zero_shot import ZERO_SHOT
from tables import cells, verdicts_of
from toys import Value, of_values, run_of, system


def test_a_query_costs_what_is_read_alone_and_all_ordered_pairs():
    assert [story.inferences(20, first) for first in (1, 2, 10)] == [20, 22, 110]
    assert [story.inferences(20, 10, some) for some in (3, 9, 30)] == [50, 110, 110]


def systems(**shifts):
    """All systems of the page, at their leads over BM25."""
    return {name: system(shifts.get(name, 0.0)) for name in (
        "BM25", ZERO_SHOT, story.MONO, *map(story.duo, DUOS), *map(story.as_studied, story.CLAIMED))}


def test_pairs_are_compared_with_the_stage_before_and_with_the_other_training():
    own = systems(**{story.MONO: 0.1, story.duo("sum"): 0.3, story.as_studied("binary"): 0.25})
    rows = cells(story.differences(own))
    assert [row[0] for row in rows[1:]] == [*DUOS, *(
        f"{how}, and {how} after {story.STUDIED} alone" for how in ("sum", "binary"))]
    assert [row[3][:6] for row in rows[1:]] == ["+0.200", *["−0.100"] * 4, "+0.300", "−0.250"]


def table_of(first_alone, neither, second_alone):
    """Mean probabilities by whether the first and the second text are relevant."""
    return {(True, False): first_alone, (False, False): neither, (False, True): second_alone}


def test_a_model_that_reads_the_first_text_alone_does_not_compare():
    assert story.comparing(table_of(0.9, 0.5, 0.1)) == pytest.approx(0.4)
    trial = SimpleNamespace(bed=SimpleNamespace(source=SimpleNamespace(split_by_article=False), splits=("test",)))
    lazy, comparing = (story.claims_table(systems(), table_of(0.9, 0.5, p), trial, 10) for p in (0.45, 0.1))
    assert lazy.data["claims"][0]["verdict"] == UNTESTED and "lowers the probability of the first by 0.050" in lazy.html
    assert comparing.data["claims"][0]["verdict"] != UNTESTED
    weak = story.claims_table(systems(**{story.duo("sum"): -0.1}), table_of(0.9, 0.5, 0.1), trial, 10)
    assert verdicts_of(weak) == {"duobert-beats-monobert/sum": DISAGREES, "duobert-beats-monobert/binary": SMALL}
    assert cells(story.reading_table({story.STUDIED: table_of(0.9, 0.5, 0.4), story.OTHERS: table_of(0.8, 0.5, 0.1)})) == [
        ["relevant is", story.STUDIED, story.OTHERS], ["the first alone", "0.900", "0.800"], ["neither", "0.500", "0.500"],
        ["the second alone", "0.400", "0.100"]]


@pytest.mark.parametrize(("second", "pairs", "binary", "mono", "expected"), [
    (0.45, 0.0, 0.05, 0.1, [False, False, True, True, False]), (0.1, 0.3, 0.2, 0.0, [True, True, False, False, False]),
    (0.1, 0.3, -0.3, 0.0, [True, True, False, False, True])])
def test_signs_hold_and_do_not_hold(second, pairs, binary, mono, expected):
    own = systems(**{story.duo("binary"): binary, story.MONO: mono, story.duo("sum"): binary})
    lines = {"one at a time": {10: system(0.1)}, "then all pairs": {22: system(pairs)}, "then some pairs": {}}
    means = {story.OTHERS: table_of(0.9, 0.5, second), story.STUDIED: table_of(0.9, 0.5, 0.45 if mono else 0.3)}
    assert [*story.signs(own, means, lines).values()] == expected


def test_the_authors_kind_of_pairs_is_learned_from_once():
    others, studied = story.trainings(recipe("almanac/4", warm_up=0), [3, 4], size=5).values()
    assert [(model.seed, model.among_others, model.size) for model in (*others, *studied)] == [
        (3, True, 5), (4, True, 5), (3, False, 5)]


def test_one_query_is_shown_as_a_matrix(bed):
    trial = RerankingExperiment(bed, Value(run_of(q1=["d2", "d1"], q2=["d2"])))
    pairs = pd.DataFrame([("q1", "d2", "d1", 0.25), ("q1", "d1", "d2", 0.5)],
                         columns=["query_id", "doc_id", "other_id", "probability"])
    model = SimpleNamespace(probabilities=lambda bed, run, first: Value(pairs))
    query = story.chosen(trial, trial.run, 2)
    assert query == "q1"  # its relevant document is second
    rows = cells(story.example(trial, trial.run, model, query, 2))
    assert [row[1:] for row in rows[1:]] == [["", "0.25", "0.25"], ["0.50", "", "0.50"]]
    assert "(relevant)" in rows[2][0] and "(relevant)" not in rows[1][0]


def test_curves_have_a_point_for_each_cost():
    lines = {"one at a time": {5: system(0.1), 10: system(0.2)}, "then all pairs": {22: of_values([1.0, 1.0])}}
    rows = cells(story.curve_table(lines))
    assert [row[:2] for row in rows[1:]] == [["one at a time", "5"], ["one at a time", "10"], ["then all pairs", "22"]]


@pytest.mark.parametrize(("among_others", "first"), [(False, "6"), (True, "3")])
def test_the_relevant_text_stands_first_in_half_of_its_inputs_or_in_one_of_all_places(among_others, first):
    log = Value({"pairs": 12, "positives": 2, "evaluation_pairs": 6, "steps": 3, "parameters": 9})
    rows = cells(story.training_table(SimpleNamespace(log=log, size=4, among_others=among_others)))
    assert rows[1] == ["training pairs", "12"] and rows[2] == ["of them with the relevant text first", first]
