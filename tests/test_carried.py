"""Per-query values on a page: packed, unpacked, each once, averages instead of their parts."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from helpers.pages import carried, page
from helpers.pages.carried import System
from helpers.pages.fragments import DATA_MIME
from helpers.steps import ledger
from helpers.systems import evaluated as evaluation
from helpers.systems.evaluated import Evaluation


class Source:
    key = "a" * 64


@pytest.fixture(autouse=True)
def nothing_noted(monkeypatch):
    monkeypatch.setattr(carried, "NOTED", [])


def frame(**columns):
    rows = len(next(iter(columns.values())))
    return pd.DataFrame(columns, index=pd.Index([f"q{n}" for n in range(1, rows + 1)], name="query_id"))


def measured(label="BM25", **columns):
    return Evaluation(label, pd.DataFrame(), frame(**columns), Source())


def back(systems):
    return carried.unpacked(json.loads(json.dumps(carried.packed(systems), sort_keys=True)))  # as notebooks are written


def test_values_survive_with_five_digits_in_their_order():
    values = pd.DataFrame({"RR@10": [1 / 3, 0.0, 1.0], "ms": [123456.7, 1e-7, -2.0]}, index=["b", "a", "c d"])
    found = back([System("BM25", "k", values)])["BM25"]
    assert (found.label, found.key) == ("BM25", "k")
    assert [list(axis) for axis in found.values.axes] == [["b", "a", "c d"], ["RR@10", "ms"]]
    assert_allclose(found.values, values, rtol=5e-5)
    assert found.values.loc["b", "RR@10"] == 0.33333


def test_a_list_of_queries_is_kept_once_for_all_systems_that_have_it():
    packed = carried.packed([System("a", "k", frame(x=[1.0, 2.0])), System("b", "k", frame(x=[3.0, 4.0])),
                             System("c", "k", frame(x=[5.0]))])
    assert packed["queries"] == ["q1\nq2", "q1"]
    assert [row["queries"] for row in packed["systems"]] == [0, 0, 1]


def test_a_page_without_systems_and_a_system_without_queries():
    assert back([]) == {}
    empty = back([System("a", "k", pd.DataFrame({"RR@10": []}, index=pd.Index([], name="query_id")))])["a"]
    assert empty.values.shape == (0, 1)


def test_one_label_for_several_systems_is_numbered_in_order():
    found = back([System("max", "1", frame(x=[1.0])), System("mean", "2", frame(x=[2.0])), System("max", "3", frame(x=[3.0]))])
    assert {label: system.key for label, system in found.items()} == {"max (1 of 2)": "1", "mean": "2", "max (2 of 2)": "3"}


def test_the_same_values_under_one_label_are_noted_once():
    for values in ([1.0, 0.0], [1.0, 0.0], [0.0, 0.0]):
        evaluation.noted(measured(RR=values))
    evaluation.noted(measured("other", RR=[1.0, 0.0]))
    assert [system.label for system in carried.NOTED] == ["BM25", "BM25", "other"]


def test_another_name_is_for_the_page_alone():
    system = evaluation.noted(measured(RR=[1.0]), "BM25, depth 10")
    assert system.label == "BM25"
    assert [each.label for each in carried.NOTED] == ["BM25, depth 10"]


def test_an_average_over_seeds_stands_for_its_runs():
    runs = [evaluation.noted(measured("BERT", RR=values)) for values in ([1.0, 0.0], [0.0, 0.5])]
    other = evaluation.noted(measured("BM25", RR=[1.0, 1.0]))
    evaluation.over_seeds("BERT", runs)
    assert [each.label for each in carried.NOTED] == ["BM25", "BERT"]
    assert carried.NOTED[0].values is other.values
    assert list(carried.NOTED[1].values["RR"]) == [0.5, 0.25]


def test_some_of_the_queries_are_no_system_of_their_own():
    evaluation.noted(measured(RR=[1.0, 0.0])).on(["q1"])
    assert len(carried.NOTED) == 1


def test_evaluating_a_run_notes_it():
    class Bed:
        def per_query(self, run, names):
            return frame(**dict.fromkeys(names, [0.5]))
    system = evaluation.evaluate("BM25", pd.DataFrame(), Bed(), ("RR@10", "R@10"), Source())
    assert carried.NOTED[0].values is system.values
    assert carried.NOTED[0].key == Source.key


def test_the_last_cell_of_a_chapter_hands_them_over(monkeypatch):
    monkeypatch.setattr(ledger, "USED", {})
    evaluation.noted(measured(RR=[1.0, 0.25]))
    data = page.provenance()._repr_mimebundle_()[DATA_MIME]
    assert set(data) == {"ledger", "evaluations"}
    assert list(carried.unpacked(data["evaluations"])["BM25"].values["RR"]) == [1.0, 0.25]


def test_a_page_of_ten_systems_grows_by_tens_of_kilobytes_at_most():
    values = pd.DataFrame(np.random.default_rng(1).random((400, 3)), index=[f"t{n:04}" for n in range(400)], columns=list("abc"))
    packed = carried.packed([System(f"system {n}", "k" * 64, values + n / 100) for n in range(10)])
    assert len(json.dumps(packed, indent=1)) < 120_000
