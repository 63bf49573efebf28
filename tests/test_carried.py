"""Per-query values on a page: collected, packed, unpacked, all of them once."""

import json
from dataclasses import replace

import pandas as pd
from numpy.testing import assert_allclose

from helpers.pages import carried, page
from helpers.pages.carried import System
from helpers.pages.fragments import DATA_MIME
from helpers.steps import ledger
from toys import KEY, of_values


def measured(label="BM25", **columns):
    return of_values(columns, label)


def frame(**columns):
    return measured(**columns).values


def back(systems):
    return carried.unpacked(json.loads(json.dumps(carried.packed(systems), sort_keys=True)))  # as notebooks are written


def test_values_survive_with_five_digits_in_their_order():
    values = pd.DataFrame({"RR@10": [1 / 3, 0.0, 1.0], "ms": [123456.7, 1e-7, -2.0]}, index=["b", "a", "c d"])
    result = back([System("BM25", "k", values)])["BM25"]
    assert (result.label, result.key) == ("BM25", "k")
    assert [list(axis) for axis in result.values.axes] == [["b", "a", "c d"], ["RR@10", "ms"]]
    assert_allclose(result.values, values, rtol=5e-5)
    assert result.values.loc["b", "RR@10"] == 0.33333


def test_a_list_of_queries_is_kept_once_for_all_systems_that_have_it():
    packed = carried.packed([System("a", "k", frame(x=[1.0, 2.0])), System("b", "k", frame(x=[3.0, 4.0])),
                             System("c", "k", frame(x=[5.0]))])
    assert packed["queries"] == ["q0\nq1", "q0"]
    assert [row["queries"] for row in packed["systems"]] == [0, 0, 1]


def test_one_label_for_several_systems_is_numbered_in_order():
    result = back([System("max", "1", frame(x=[1.0])), System("mean", "2", frame(x=[2.0])), System("max", "3", frame(x=[3.0]))])
    assert {label: system.key for label, system in result.items()} == {"max (1 of 2)": "1", "mean": "2", "max (2 of 2)": "3"}


def test_systems_are_collected_from_mappings_and_sequences_in_order_and_the_same_values_under_one_name_once():
    one, other, third = measured(RR=[1.0, 0.0]), measured("other", RR=[1.0, 0.0]), measured("third", RR=[0.0, 0.0])
    result = carried.collect({"a": {10: one, 20: other}}, [(third,)], {})
    assert [(system.label, system.key) for system in result] == [(name, KEY) for name in ("BM25", "other", "third")]
    assert result[0].values is one.values
    deep = replace(measured(RR=[1.0]), name="BM25, depth 10")
    assert [system.label for system in carried.collect(deep)] == ["BM25, depth 10"]  # another name is for the page alone
    same = [measured(RR=values) for values in ([1.0, 0.0], [1.0, 0.0], [0.0, 0.0])]
    assert [system.label for system in carried.collect(same, same[0])] == ["BM25", "BM25"]


def test_the_last_cell_of_a_chapter_hands_them_over(monkeypatch):
    monkeypatch.setattr(ledger, "USED", {})
    data = page.provenance({"BM25": measured(RR=[1.0, 0.25])})._repr_mimebundle_()[DATA_MIME]
    assert set(data) == {"ledger", "evaluations", "bm25", "relevance"}
    assert list(carried.unpacked(data["evaluations"])["BM25"].values["RR"]) == [1.0, 0.25]


def test_a_value_that_only_measures_a_ranking_of_the_page_has_no_row_of_its_own(monkeypatch):
    line = {"source": "stored", "numerics": "exact", "finished": "2026-01-01T00:00", "machine": {"cpu": "x", "cores": 1},
            "seconds": 1.0, "commit": "c", "versions": {}, "recipe": {"arguments": {}}}
    scores, ranking = ({"step": step, "key": step} for step in ("window_scores", "aggregated"))
    lines = [line | scores | {"inputs": []},
             line | {"step": "run_measures", "key": "m", "inputs": [ranking | {"inputs": [scores]}]},
             line | {"step": "run_measures", "key": "n", "inputs": [{"step": "bm25_run", "key": "elsewhere"}]}]
    monkeypatch.setattr(ledger, "USED", {one["key"]: one for one in lines})
    shown = page.provenance().html
    assert "window_scores" in shown and "<code>n</code>" in shown and "<code>m</code>" not in shown
