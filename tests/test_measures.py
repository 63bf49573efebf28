from math import log2

import pandas as pd
import pytest

from helpers.data.runs import COLUMNS, ranked
from helpers.evaluation.measures import deepest, first_relevant_rank, parse, per_query
from helpers.evaluation.pools import are_graded, condensed, with_judgments
from toys import qrels_of, run_of

NAMES = ["RR@10", "R@20", "nDCG@10", "AP"]

# q1: a (grade 3) at rank 2, c (grade 1) at rank 4, d (grade 2) not found; b is judged irrelevant, x is not judged.
# q2: its one relevant document is not found. q3: at rank 11. q4: not in the run at all.
QRELS = qrels_of(q1={"a": 3, "b": 0, "c": 1, "d": 2}, q2="e", q3="k", q4="a")
RUN = run_of(q1="baxc", q2="b", q3="abcdefghijk")


def test_values_by_hand():
    values = per_query(RUN, QRELS, NAMES)
    # k at rank 11: outside RR@10 and nDCG@10, inside R@20; AP has no cutoff
    assert values.loc["q3"].tolist() == pytest.approx([0, 1, 0, 1 / 11])
    gain = 3 / log2(3) + 1 / log2(5)  # a at rank 2, c at rank 4: grade / log2(rank + 1)
    ideal = 3 / log2(2) + 2 / log2(3) + 1 / log2(4)  # a, d, c at ranks 1, 2, 3
    assert values.loc["q1"].tolist() == pytest.approx([
        1 / 2,  # the first relevant one, a, is at rank 2
        2 / 3,  # a and c of a, c and d
        gain / ideal,  # 0.4886
        (1 / 2 + 2 / 4) / 3])  # precision at ranks 2 and 4, over three relevant ones
    assert per_query(RUN.iloc[:0], QRELS, NAMES).to_numpy().tolist() == [[0.0] * 4] * 4  # an empty run


@pytest.mark.parametrize("grades, every_grade, gain, ideal", [
    ({"s": 1, "a": 3}, True, 1 + 3 / log2(3), 3 + 1 / log2(3)),  # ir_measures' value, whatever counts as relevant elsewhere
    ({"s": 1}, False, 0, 1),  # nothing is left that gains
    ({"s": 1, "a": 2}, False, 2 / log2(3), 2),  # the Almanac's: s, a sibling, gains nothing
    ({"s": 1, "a": 3, "x": 0}, False, 1 + 3 / log2(3), 3 + 1 / log2(3))])  # pooled: somebody looked for irrelevant texts
def test_a_lower_grade_gains_unless_the_collection_says_otherwise(grades, every_grade, gain, ideal):
    values = per_query(run_of(q=["s", "a"]), qrels_of(q=grades), ["nDCG@10"], 2, every_grade=every_grade)
    assert values.iloc[0, 0] == pytest.approx(gain / ideal)


def test_what_nobody_judged_is_taken_out_of_the_condensed_list():
    # q1 of RUN: b (0), a (3), x (not judged), c (1)
    names = ["nDCG@10"]
    values = per_query(RUN, QRELS, with_judgments(names, QRELS), 1, ["q1"]).loc["q1"]
    assert values["Judged@10"] == 3 / 4
    ideal = 3 + 2 / log2(3) + 1 / 2
    assert values[condensed("nDCG@10")] == pytest.approx((3 / log2(3) + 1 / log2(4)) / ideal)  # c moves from rank 4 to 3
    assert values["Bpref"] == 0  # of three relevant ones none stands above b, the one irrelevant text
    assert with_judgments(names, QRELS[QRELS["relevance"] > 0]) == names


@pytest.mark.parametrize("min_relevance, recall, precision", [
    (1, 2 / 3, (1 / 2 + 2 / 4) / 3),  # relevant: a, c, d
    (2, 1 / 2, (1 / 2) / 2),  # relevant: a, d
    (3, 1, 1 / 2),  # relevant: a
])
def test_the_level_decides_what_counts_in_binary_measures(min_relevance, recall, precision):
    values = per_query(RUN, QRELS, NAMES, min_relevance=min_relevance, queries=["q1"]).loc["q1"]
    assert values["R@20"] == pytest.approx(recall)
    assert values["AP"] == pytest.approx(precision)
    assert values["RR@10"] == 1 / 2


def test_queries_are_reported_in_the_order_asked_for():
    values = per_query(RUN, QRELS, ["RR@10"], queries=["q3", "q1"])
    assert (values.index.tolist(), values.index.name) == (["q3", "q1"], "query_id")
    assert per_query(RUN, QRELS, ["RR@10"]).index.tolist() == ["q1", "q2", "q3", "q4"]  # those of the judgments


@pytest.mark.parametrize("name, below", [
    ("RR@10", 1 / 2), ("RR", 1 / 2), ("AP", 1 / 2), ("AP@100", 1 / 2), ("nDCG@10", 1 / log2(3)), ("P@1", 0), ("R@1", 0),
    ("Success@1", 0)])
def test_ties_are_measured_in_the_order_of_the_run(name, below):
    # d1 and d2 have equal scores; `ranked` puts d2 first, so every measure has to see it there and d1 below it.
    run = ranked(pd.DataFrame([("q", "d1", 1.0), ("q", "d2", 1.0)], columns=COLUMNS))
    for relevant, value in (("d2", 1.0), ("d1", below)):
        assert per_query(run, qrels_of(q=relevant), [name]).iloc[0, 0] == pytest.approx(value)


def test_first_relevant_rank():
    result = first_relevant_rank(RUN, QRELS, 1, ["q3", "q1", "q2", "q4"])
    assert list(result.fillna(0).items()) == [("q3", 11), ("q1", 2), ("q2", 0), ("q4", 0)]  # none for q2 and q4


@pytest.mark.parametrize("names, depth", [(["RR@10", "R@20"], 20), (["RR@10", "AP"], None), (["Bpref"], None), ([], 0),
                                          (["RR@10", "nDCG(judged_only=True)@10"], None)])
def test_a_run_is_read_as_deep_as_its_measures_look(names, depth):
    assert deepest(map(parse, names)) == depth


def test_values_are_those_of_the_whole_run_though_its_head_alone_is_read():
    run, qrels = run_of(q1=[f"d{number}" for number in range(50)]), qrels_of(q1={"d3": 1, "d9": 1, "d10": 1})
    head, whole = per_query(run, qrels, ["RR@10", "R@10"]), per_query(run, qrels, ["RR@10", "R@10", "AP"])
    assert head.iloc[0].tolist() == whole.iloc[0, :2].tolist() == [0.25, pytest.approx(2 / 3)]


@pytest.mark.parametrize("grades, graded", [({"a": 2, "b": 0}, True), ({"a": 3, "b": 2}, False), ({"a": 1, "b": 0}, False)])
def test_grades_gain_where_judgments_were_pooled(grades, graded):
    assert are_graded(qrels_of(q=grades), None) is graded
