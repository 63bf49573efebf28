"""How values are kept: what was saved is what is loaded, and the same value always gives the same bytes."""

import math

import pandas as pd
import pytest

from helpers.steps import registry

HARD_FLOATS = [0.1 + 0.2, 1 / 3, -0.0, 1e-320, 5e-324, 1.7976931348623157e308, 123456789.12345679, 2.0, 1e22, math.pi]
HARD_TEXTS = ["", " ", "NA", "nan", "None", "null", "007", "1.0", "1e5", "True", " lead and trail ", 'say "it", now',
              "a,b", "two\nlines", "tab\there", "Ωμέγα 文字 😀", "<script>", "#", "'", "a\\b", "-", "\u2028"]


def round_trip(form, value, tmp_path):
    registry.FORMS[form].save(value, tmp_path)
    return registry.FORMS[form].load(tmp_path)


TABLES = {
    "floats to the last digit": {"x": HARD_FLOATS},
    "missing and infinite floats": {"x": [float("nan"), float("inf"), float("-inf"), 1.5]}, "whole floats": {"x": [1.0, 2.0]},
    "texts": {"text": [*HARD_TEXTS, "a\rb", "a\r\nb"], "n": range(len(HARD_TEXTS) + 2)}, "a carriage return": {"text": ["\r"]},
    "empty texts": {"text": ["", ""]}, "texts of digits": {"query_id": ["0012", "7"], "doc_id": ["1", "2"]},
    "ints": {"n": [0, -1, 2**62, 2**53 + 1]}, "bools": {"yes": [True, False]}, "odd names": {"größe, µ": [1.5], "a b": ["x"]},
    "no rows": {"text": pd.Series([], dtype="str"), "x": pd.Series([], dtype="float64"), "n": pd.Series([], dtype="int64")},
    "the order of rows and columns": {"z": ["b", "a"], "a": [2, 1]}}


@pytest.mark.parametrize("columns", TABLES.values(), ids=TABLES)
def test_tables_round_trip_without_their_index(tmp_path, columns):
    frame = pd.DataFrame(columns)
    back = round_trip("table", frame.set_index(frame.index + 7), tmp_path)
    pd.testing.assert_frame_equal(back, frame, check_exact=True)
    assert [value.hex() for value in back.get("x", [])] == [value.hex() for value in frame.get("x", [])]


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
