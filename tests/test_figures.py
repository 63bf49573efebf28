"""What a figure says when one points at it: a title in every marker, and nothing where a title could be wrong."""

import re

import numpy as np
import pandas as pd
import pytest

from helpers.pages import figures, plots, scatter
from helpers.pages.figures import DIFFERENT, SAME, pair_matrix
from tables import text_of


def tips(fragment):
    return re.findall(r"<title>(.*?)</title>", fragment.html)


def drawn(values, texts, **style):
    """A line of values, each with a text."""
    figure, (axis,) = figures.new()
    line, = axis.plot(range(len(values)), values, **{"marker": "o", **style})
    figures.hover(line, texts)
    return figures.show(figure, "A line of values for this test.", "Caption.")


@pytest.mark.parametrize("style", ["-", "none"])
def test_every_marker_says_its_text_in_its_place(style):
    html = drawn([1.0, 3.0, 2.0], ["a", "b", "c"], ls=style).html
    marks = re.findall(r'<use [^>]*x="([\d.]+)" y="([\d.]+)"[^>]*><title>(.)</title></use>', html)
    assert [text for _, _, text in marks] == ["a", "b", "c"]
    heights = {text: -float(y) for _, y, text in marks}
    assert sorted(heights, key=heights.get) == ["a", "c", "b"]


def test_a_value_that_cannot_be_drawn_takes_all_titles_away_rather_than_shift_them():
    assert tips(drawn([1.0, np.nan, 2.0], ["a", "b", "c"])) == []


def test_a_hostile_text_stays_text():
    html = drawn([1.0], ["</title><script>x</script>&\\1"]).html
    assert "<script" not in html
    assert tips(drawn([1.0], ["</title><script>x</script>&\\1"])) == ["&lt;/title&gt;&lt;script&gt;x&lt;/script&gt;&amp;\\1"]


def test_lines_say_name_value_and_place_and_points_their_names_whatever_order_they_were_given_in():
    lines = {"BM25": pd.Series([0.25, 0.5], index=[1, 100]), "BERT": pd.Series([0.75], index=[10])}
    texts = tips(plots.curves(lines, "depth", "recall", "Recall."))
    assert texts == ["BM25: 0.250 at 1", "BM25: 0.500 at 100", "BERT: 0.750 at 10"]
    frame = pd.DataFrame({"rate": [20.0, 5.0], "RR@10": [0.5, 0.6]}, index=["large", "small"])
    assert tips(scatter.points(frame, "rate", "RR@10", "Models.")) == ["small: 0.600 at 5", "large: 0.500 at 20"]


def test_panels_say_which_series_and_what_is_published():
    series = [pd.Series([0.5, 0.9], index=[10, 20], name=name) for name in ("RR@10", "R@10")]
    drawn = plots.panels({s.name: s for s in series}, "candidates", "By depth.", {"R@10": pd.Series({20: 0.8})})
    assert tips(drawn)[1:] == ["RR@10: 0.900 at 20", "R@10: 0.500 at 10", "R@10: 0.900 at 20", "published: 0.800 at 20"]


def test_means_say_system_group_and_interval():
    values = pd.DataFrame({"BM25": [0.5] * 4, "BERT": [0.25] * 4}, index=list("abcd"))
    groups = pd.Series(["plain", "plain", "oblique", "oblique"], index=list("abcd"))
    texts = tips(plots.means_by_group(values, groups, "RR@10", "By style."))
    assert texts == [f"{name}, {group}: {value} [{value}, {value}]" for name, value in (("BM25", "0.500"), ("BERT", "0.250"))
                     for group in ("plain", "oblique")]


# ---- matrices as figures: what is above and what below the diagonal, and the words for those who do not see it ----

def square(values, names):
    return pd.DataFrame(values, index=names, columns=names)


def three(above, below):
    names = ["BM25", "Avg", "<CLS>"]
    means = np.array([0.25, 0.5, 0.4])
    sides = [square(np.zeros((3, 3), dtype=bool), names) for _ in range(2)]
    for side, pairs in zip(sides, (above, below), strict=True):
        for a, b in pairs:
            side.iloc[a, b] = side.iloc[b, a] = True
    return pair_matrix(square(means[:, None] - means, names), *sides, ("ten means", "Holm"), "RR@10", "The pairs.")


def test_the_text_says_what_differs_above_and_below_the_diagonal():
    text = text_of(three(above=[(0, 1), (0, 2)], below=[(0, 1)]))
    assert "Above the diagonal (ten means) 2 of 3 pairs differ, not Avg and <CLS>." in text
    assert "Below the diagonal (Holm) 1 of 3 pairs differ, not BM25 and <CLS>; Avg and <CLS>." in text
    assert text.endswith("The largest difference is +0.250, Avg over BM25.")


def test_each_rule_marks_its_own_side():
    # rows from the top: above the diagonal all differ, below none does
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", three([(0, 1), (0, 2), (1, 2)], []).html)
    assert [text for text in texts if text in (DIFFERENT, SAME)] == [DIFFERENT, DIFFERENT, SAME, DIFFERENT, SAME, SAME]


def test_systems_are_named_once_and_numbered():
    html = three([], []).html
    assert "BM25  1" in html
    assert "&lt;CLS&gt;  3" in html
    assert "<CLS>" not in html
