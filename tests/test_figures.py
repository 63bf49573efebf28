"""What a figure says when one points at it: a title in every marker, and nothing where a title could be wrong."""

import re

import numpy as np
import pandas as pd
import pytest

from helpers.pages import figures, plots


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


def test_lines_say_name_value_and_place():
    lines = {"BM25": pd.Series([0.25, 0.5], index=[1, 100]), "BERT": pd.Series([0.75], index=[10])}
    texts = tips(plots.curves(lines, "depth", "recall", "Recall."))
    assert texts == ["BM25: 0.250 at 1", "BM25: 0.500 at 100", "BERT: 0.750 at 10"]


def test_points_say_their_names_whatever_order_they_were_given_in():
    frame = pd.DataFrame({"rate": [20.0, 5.0], "RR@10": [0.5, 0.6]}, index=["large", "small"])
    assert tips(figures.points(frame, "rate", "RR@10", "Models.")) == ["small: 0.600 at 5", "large: 0.500 at 20"]


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
