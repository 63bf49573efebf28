"""How values are kept: what was saved is what is loaded, and the same value always gives the same bytes."""

import math
import random

import pandas as pd
import pytest

from helpers.data import runs
from helpers.steps import values

HARD_FLOATS = [0.1 + 0.2, 1 / 3, -0.0, 1e-320, 5e-324, 1.7976931348623157e308, 123456789.12345679, 2.0, 1e22, math.pi]
HARD_TEXTS = ["", " ", "NA", "nan", "None", "null", "007", "1.0", "1e5", "True", " lead and trail ", 'say "it", now',
              "a,b", "two\nlines", "tab\there", "Ωμέγα 文字 😀", "<script>", "#", "'", "a\\b", "-", "\u2028"]


def round_trip(form, value, tmp_path):
    values.save(form, value, tmp_path)
    return values.load(form, tmp_path)


def same(left, right):
    pd.testing.assert_frame_equal(left, right, check_exact=True)


def test_table_floats_round_trip_to_the_last_digit(tmp_path):
    frame = pd.DataFrame({"x": HARD_FLOATS})
    back = round_trip("table", frame, tmp_path)
    same(back, frame)
    assert [value.hex() for value in back["x"]] == [value.hex() for value in HARD_FLOATS]


def test_table_many_floats_round_trip_to_the_last_digit(tmp_path):
    draw = random.Random(1)
    frame = pd.DataFrame({"x": [draw.random() * 10 ** draw.randint(-30, 30) for _ in range(1000)]})
    same(round_trip("table", frame, tmp_path), frame)


def test_table_missing_and_infinite_floats_round_trip(tmp_path):
    frame = pd.DataFrame({"x": [float("nan"), float("inf"), float("-inf"), 1.5]})
    same(round_trip("table", frame, tmp_path), frame)


def test_table_texts_round_trip(tmp_path):
    back = round_trip("table", pd.DataFrame({"text": HARD_TEXTS, "n": range(len(HARD_TEXTS))}), tmp_path)
    assert list(back["text"]) == HARD_TEXTS


@pytest.mark.parametrize("text", ["a\rb", "a\r\nb", "\r"])
def test_table_texts_with_carriage_returns_round_trip(tmp_path, text):
    back = round_trip("table", pd.DataFrame({"text": [text], "n": [1]}), tmp_path)
    assert list(back["text"]) == [text]


def test_table_empty_texts_stay_empty_texts(tmp_path):
    back = round_trip("table", pd.DataFrame({"text": ["", ""]}), tmp_path)
    assert list(back["text"]) == ["", ""]


def test_table_ints_stay_ints(tmp_path):
    frame = pd.DataFrame({"n": [0, -1, 2**62, 2**53 + 1]})
    same(round_trip("table", frame, tmp_path), frame)


def test_table_bools_stay_bools(tmp_path):
    frame = pd.DataFrame({"yes": [True, False]})
    same(round_trip("table", frame, tmp_path), frame)


def test_table_whole_floats_stay_floats(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0]})
    same(round_trip("table", frame, tmp_path), frame)


def test_table_texts_of_digits_stay_texts(tmp_path):
    frame = pd.DataFrame({"query_id": ["0012", "7"], "doc_id": ["1", "2"]})
    same(round_trip("table", frame, tmp_path), frame)


def test_table_without_rows_keeps_columns_and_types(tmp_path):
    frame = pd.DataFrame({"text": pd.Series([], dtype="str"), "x": pd.Series([], dtype="float64"),
                          "n": pd.Series([], dtype="int64")})
    same(round_trip("table", frame, tmp_path), frame)


def test_table_order_of_rows_and_columns_is_kept_and_the_index_dropped(tmp_path):
    frame = pd.DataFrame({"z": ["b", "a"], "a": [2, 1]}, index=[7, 3])
    same(round_trip("table", frame, tmp_path), frame.reset_index(drop=True))


def test_table_unicode_column_names(tmp_path):
    frame = pd.DataFrame({"größe, µ": [1.5], "a b": ["x"]})
    same(round_trip("table", frame, tmp_path), frame)


def test_run_round_trips(tmp_path):
    run = runs.ranked(pd.DataFrame({"query_id": ["q2", "q2", "q1"], "doc_id": ["d1", "ü#3", "d1"],
                                    "score": [1 / 3, 0.1 + 0.2, -1e-300]}))
    same(round_trip("run", run, tmp_path), run)


def test_run_scores_round_trip_to_the_last_digit(tmp_path):
    frame = pd.DataFrame({"query_id": "q", "doc_id": [f"d{n}" for n in range(len(HARD_FLOATS))], "score": HARD_FLOATS})
    run = runs.ranked(frame)
    assert [s.hex() for s in round_trip("run", run, tmp_path)["score"]] == [s.hex() for s in run["score"]]


def test_run_ties_keep_their_order(tmp_path):
    run = runs.ranked(pd.DataFrame({"query_id": "q", "doc_id": ["d10", "d9", "d1"], "score": [0.5, 0.5, 0.5]}))
    same(round_trip("run", run, tmp_path), run)


def test_run_without_rows(tmp_path):
    back = round_trip("run", pd.DataFrame({"query_id": [], "doc_id": [], "score": []}), tmp_path)
    assert list(back.columns) == runs.COLUMNS
    assert len(back) == 0


@pytest.mark.parametrize("value", [None, True, 0, 1, 1.0, 0.1 + 0.2, -0.0, 5e-324, 2**70, "", "Ω 😀", [], {},
                                   {"b": [1, 2.5, None, {"ü": ""}], "a": False}])
def test_json_round_trips(tmp_path, value):
    back = round_trip("json", value, tmp_path)
    assert back == value
    assert repr(back) == repr(value)  # 1 and 1.0 and True are equal, their representations are not


def test_json_keeps_the_order_of_names(tmp_path):
    assert list(round_trip("json", {"b": 1, "a": 2}, tmp_path)) == ["b", "a"]


def test_json_refuses_nan(tmp_path):
    with pytest.raises(ValueError):
        values.save("json", {"x": float("nan")}, tmp_path)


def test_folder_is_the_folder_itself(tmp_path):
    (tmp_path / "index.bin").write_bytes(b"\x00")
    back = round_trip("folder", tmp_path, tmp_path)
    assert back == tmp_path
    assert [f.name for f in back.iterdir()] == ["index.bin"]


def bytes_of(folder):
    return {f.name: f.read_bytes() for f in folder.iterdir()}


@pytest.mark.parametrize(("form", "value"), [
    ("run", pd.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [0.25]})),
    ("table", pd.DataFrame({"text": HARD_TEXTS, "n": range(len(HARD_TEXTS))})),
    ("json", {"b": [1, 2.5], "a": "Ω"})])
def test_the_same_value_gives_the_same_bytes(tmp_path, monkeypatch, form, value):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    values.save(form, value, tmp_path / "one")
    monkeypatch.setattr("time.time", lambda: 2e9)  # another moment
    values.save(form, value, tmp_path / "two")
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two") != {}


@pytest.mark.parametrize("form", ["pickle", "", "Table"])
def test_an_unknown_form_is_refused_with_the_known_ones(tmp_path, form):
    with pytest.raises(ValueError, match=f"unknown form '{form}': one of table, json, folder, run"):
        values.save(form, {}, tmp_path)
