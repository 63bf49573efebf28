import pandas as pd

from helpers.stories import collection


class Bed:
    query_frame = pd.DataFrame({"query_id": ["q1", "q2", "q3"], "text": ["a", "b", "c"],
                                "style": ["plain", "oblique", "plain"]})
    judged = ["q3", "q1", "q2"]


def test_the_range_of_the_published_bm25_is_read_from_the_data():
    text = collection.published_range().markdown
    assert "to 0.8722 (Alarfaj (2022), table 2)" in text
    printed = [float(entry.value) for entry in collection.published_bm25() if entry.measure == "RR@10"]
    assert f"from {min(printed)} (" in text
    assert max(printed) == 0.8722


def test_groups_follow_the_order_of_the_judged_queries():
    assert collection.groups_of(Bed, "style").tolist() == ["plain", "plain", "oblique"]
    assert collection.groups_of(Bed, "answer_type") is None


def test_the_settings_hold_steenslands_bm25_from_the_published_data():
    result = collection.settings(0.9, 0.4, None)
    assert result == {"this chapter": (0.9, 0.4), "Steensland (2021), section 4.2": (1.2, 0.75)}
    grid = pd.DataFrame({"k1": [1.0, 2.0], "b": [0.1, 0.2], "RR@10": [0.1, 0.2]})
    assert collection.settings(0.9, 0.4, grid)["tuned here"] == (2.0, 0.2)
