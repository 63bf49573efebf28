"""What holds of any input: recipes, fused runs, drift, and values as they are kept: what was saved is what is loaded, and the
same value always gives the same bytes."""

import math
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.data.runs import COLUMNS, ranked, read_trec, to_trec
from helpers.retrieval.fusion import alternating, reciprocal_rank, weighted_sum
from helpers.steps import recipe, registry
from press.record import drift_of

settings.register_profile("book", derandomize=True, deadline=None, database=None, max_examples=30)
settings.load_profile("book")

NAMES = st.text(min_size=1, max_size=8).filter(lambda name: name not in ("step", "data"))
FINITE = st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.none() | st.booleans() | st.integers(-2**63, 2**63 - 1) | FINITE | st.text()
JSON = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8)
RECIPES = st.recursive(
    st.builds(lambda digest: {"data": ["texts"], "collection": "c", "digest": digest}, st.sampled_from("abc")),
    lambda part: st.builds(lambda name, arguments: {"step": name, "version": 1, "arguments": arguments}, st.sampled_from("stu"),
                           st.dictionaries(NAMES, part | st.lists(part, max_size=2) | JSON, max_size=3)),
    max_leaves=8).filter(lambda part: "step" in part)
IDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=4)
RUNS = st.dictionaries(st.tuples(IDS, IDS), FINITE, max_size=12).map(lambda scores: ranked(pd.DataFrame(
    [(query, doc, score) for (query, doc), score in scores.items()], columns=COLUMNS)))
HARD_FLOATS = [0.1 + 0.2, 1 / 3, -0.0, 1e-320, 5e-324, 1.7976931348623157e308, 123456789.12345679, 2.0, 1e22, math.pi]
HARD_TEXTS = ["", " ", "NA", "nan", "None", "null", "007", "1.0", "1e5", "True", " lead and trail ", 'say "it", now',
              "a,b", "two\nlines", "tab\there", "Ωμέγα 文字 😀", "<script>", "#", "'", "a\\b", "-", "\u2028", "a\rb", "a\r\nb"]
LISTS = st.lists(st.sampled_from("abcdef"), unique=True, max_size=6).map(lambda docs: pd.DataFrame(
    [("q", doc, -float(place)) for place, doc in enumerate(docs)], columns=COLUMNS))


def reordered(value):
    """The same with every dictionary's names in the opposite order."""
    if isinstance(value, dict):
        return {name: reordered(value[name]) for name in reversed(value)}
    return [reordered(item) for item in value] if isinstance(value, list) else value


def kept(table, folder):
    """A table as it is after a file."""
    registry.FORMS["table"].save(table, folder)
    return registry.FORMS["table"].load(folder)


@given(RECIPES)
def test_a_recipe_survives_folding_and_its_key_knows_no_order_of_names(whole):
    assert recipe.unfolded(recipe.folded(whole)) == whole
    assert recipe.key_of(whole) == recipe.key_of(reordered(whole)) != recipe.key_of({**whole, "version": 2})


@given(LISTS, LISTS, st.integers(1, 12), st.floats(0, 1))
def test_a_fused_run_has_each_document_of_either_once_best_first(first, second, depth, weight):
    either = {*first["doc_id"], *second["doc_id"]}
    for fused in (alternating(first, second, depth), reciprocal_rank(first, second, depth),
                  weighted_sum(first, second, weight, depth)):
        docs = fused["doc_id"].tolist()
        assert len(docs) == len(set(docs)) == min(depth, len(either)) and set(docs) <= either
        assert fused["score"].is_monotonic_decreasing
    merged = alternating(first, second, depth)
    assert merged["doc_id"].tolist()[:1] == [*first["doc_id"], *second["doc_id"]][:1]
    pd.testing.assert_frame_equal(ranked(merged), merged)  # its scores carry the order: no tie is broken by doc_id
    swapped = reciprocal_rank(second, first, depth)
    pd.testing.assert_frame_equal(reciprocal_rank(first, second, depth), swapped)


@given(JSON, JSON)
def test_drift_is_zero_from_a_value_to_itself_and_the_same_both_ways(one, other):
    assert drift_of(one, one) == 0
    assert drift_of(one, other) == drift_of(other, one) >= 0


@given(RUNS)
def test_a_run_is_the_same_after_a_file_and_a_score_of_single_precision_in_that(run):
    with tempfile.TemporaryDirectory() as folder:
        registry.FORMS["run"].save(run, Path(folder))
        (Path(folder) / "run.trec").write_text(to_trec(run), encoding="utf-8")
        for back in (registry.FORMS["run"].load(Path(folder)), read_trec(Path(folder) / "run.trec")):
            assert back[COLUMNS[:2]].to_numpy().tolist() == run[COLUMNS[:2]].to_numpy().tolist()
            assert all(a == b or np.float32(a) == np.float32(b) == b for a, b in zip(back["score"], run["score"], strict=True))


@given(JSON, st.lists(st.floats(), max_size=9), st.lists(st.text(), max_size=9))
@example(None, HARD_FLOATS, HARD_TEXTS)
@example(None, [1.0, 2.0], ["0012", "7"])
@example(None, [], ["\r"])
@example(None, [], ["", ""])
def test_a_value_is_the_same_after_a_file(value, floats, texts):
    tables = pd.DataFrame({"x": floats}, dtype="float64"), pd.DataFrame({"text": texts}, dtype="str")
    with tempfile.TemporaryDirectory() as folder:
        registry.FORMS["json"].save(value, Path(folder))
        assert repr(registry.FORMS["json"].load(Path(folder))) == repr(value)  # 1, 1.0 and True are equal, their looks are not
        for table in tables:
            back = kept(table, Path(folder))
            pd.testing.assert_frame_equal(back, table, check_exact=True)
            assert [x.hex() for x in back.get("x", [])] == [x.hex() for x in table.get("x", [])]
            assert drift_of(back, table) == 0


@pytest.mark.parametrize("columns", [
    {"n": [0, -1, 2**62, 2**53 + 1]}, {"yes": [True, False]}, {"größe, µ": [1.5], "a b": ["x"]}, {"z": ["b", "a"], "a": [2, 1]},
    {"text": pd.Series([], dtype="str"), "x": pd.Series([], dtype="float64"), "n": pd.Series([], dtype="int64")}])
def test_tables_keep_names_types_and_order_and_not_their_index(tmp_path, columns):
    frame = pd.DataFrame(columns)
    pd.testing.assert_frame_equal(kept(frame.set_index(frame.index + 7), tmp_path), frame, check_exact=True)


@pytest.mark.parametrize(("form", "value"), [
    ("run", pd.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [0.25]})),
    ("table", pd.DataFrame({"text": HARD_TEXTS, "n": range(len(HARD_TEXTS))})),
    ("json", {"b": [1, 2.5], "a": "Ω"})])
def test_the_same_value_gives_the_same_bytes(tmp_path, monkeypatch, form, value):
    saved = []
    for moment in (1e9, 2e9):
        monkeypatch.setattr("time.time", lambda moment=moment: moment)
        registry.FORMS[form].save(value, tmp_path)
        saved.append({file.name: file.read_bytes() for file in tmp_path.iterdir()})
    assert saved[0] == saved[1] != {}
