"""The frame of results: what stands in a cell, and what each system is compared with; every value by hand."""

import pandas as pd
import pytest

from helpers.evaluation import published
from helpers.pages.results import Results, differences
from tables import cells
from toys import system

NAMES = {"a": "first stage", "b": "second stage"}
OWN = Results({("a", "a"): system(0.25), ("a", "b"): system(0.5), ("b", "a"): system(0.0)})


def alone(key):
    return key[0], key[0]


def study(key):
    row, column = ("BM25(Anserini)", "DeepCT")["ab".index(key[0])], ("BM25(Anserini)", "DeepCT")["ab".index(key[1])]
    return published.load("zhan2020").get(("3", row, f"+{column}"))


def test_a_cell_is_compared_with_the_system_that_its_key_leads_to():
    tests = OWN.against(alone, "RR@10")
    assert list(tests) == [("a", "b")]  # (b, b) is missing, (a, a) is itself
    assert tests["a", "b"].difference.mean == pytest.approx(0.25)
    assert OWN.row("a").against("a", "RR@10")["b"].difference.mean == pytest.approx(0.25)


def test_a_grid_has_means_differences_and_what_the_study_printed():
    shown = OWN.grid("Merges", "RR@10", NAMES, NAMES, "first", base=alone, study=study, change="change")
    head, first, second = cells(shown)
    assert head == ["first", "first stage", "second stage"]
    assert first == ["first stage", "0.500 [0.312, 0.688] study 0.187",
                     "0.750 +0.250 [+0.250, +0.250] study 0.213 (+13%)"]
    assert second == ["second stage", "0.250 [0.062, 0.438] study 0.236 (−3%)", "study 0.243"]
    assert [(line["row"], line["column"], line["measured"]) for line in shown.data["values"]] == [
        ("BM25(Anserini)", "+BM25(Anserini)", 0.5), ("BM25(Anserini)", "+DeepCT", 0.75), ("DeepCT", "+BM25(Anserini)", 0.25)]


def test_a_table_has_a_row_a_system_and_its_difference():
    rows = cells(OWN.row("a").table("Alone", ["RR@10"], base="a", names=NAMES.get, p=True))
    assert rows == [["system", "RR@10", "difference", "p"], ["first stage", "0.500 [0.312, 0.688]", "baseline", ""],
                    ["second stage", "0.750 [0.562, 0.938]", "+0.250 [+0.250, +0.250]", "0.008"]]  # 2 of 256 choices of signs
    assert cells(OWN.row("b").table("Alone", ["RR@10"])) == [["system", "RR@10"], ["a", "0.250 [0.062, 0.438]"]]


def test_a_curve_goes_over_the_places_of_a_line_beside_what_a_study_printed():
    curves = Results({("a", 5): system(0.0), ("a", 10): system(0.25), ("b", 5): system(0.25), ("b", 10): system(0.25)})
    shown = curves.curve("depth", "RR@10", "By depth", NAMES.get).html
    assert "first stage: 0.250 at 5, 0.500 at 10" in shown and "second stage: 0.500 at 5, 0.500 at 10" in shown
    shown = curves.curve("depth", "RR@10", "By depth", NAMES.get, printed={"second stage": pd.Series({5: 0.3, 1000: 0.4})}).html
    assert "second stage: 0.500 at 5, 0.500 at 10; published: 0.300 at 5, 0.400 at 1000" in shown
    assert Results().curve("depth", "RR@10", "By depth").html == ""


def test_a_forest_has_the_pairs_of_which_the_study_has_both_values():
    shown = OWN.forest(alone, "RR@10", "difference", "Effects", study, lambda key: " + ".join(key)).html
    assert "a + b, measured: +0.250" in shown and "published +0.026" in shown  # .213 less .187
    assert OWN.forest(alone, "RR@10", "difference", "Effects", lambda key: None).html == ""


def test_the_best_the_order_asked_for_and_means_of_each_key():
    assert Results({10: system(), 20: system(0.25)}).means("RR@10").to_dict() == {10: 0.25, 20: 0.5}
    assert OWN.best("RR@10") == ("a", "b")
    assert list(OWN.only([("b", "a"), ("b", "b"), ("a", "a")])) == [("b", "a"), ("a", "a")]


def test_pairs_stand_with_both_means_and_their_difference():
    rows = cells(differences("Pairs", {"one": (OWN["a", "b"], OWN["a", "a"])}, "RR@10"))
    assert rows[1] == ["one", "0.750", "0.500", "+0.250 [+0.250, +0.250]"]
