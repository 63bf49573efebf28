"""Figures: SVG that follows the page's colours, says what it shows, and is the same every time."""

import functools
import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from helpers.evaluation.significance import Interval
from helpers.pages import figures, plots
from helpers.pages.figures import DIFFERENT, SAME, pair_matrix

QUERIES = [f"q{n}" for n in range(6)]


def heatmap():
    grid = pd.DataFrame({"k1": [0.6, 0.6, 0.9, 0.9], "b": [0.2, 0.4, 0.2, 0.4], "RR@10": [0.1, 0.2, 0.5, 0.3]})
    return figures.grid_heatmap(grid, "k1", "b", "RR@10", "Tuning.")


def curves():
    lines = {"BM25": pd.Series([0.2, 0.6], index=[1, 100]), "BERT": pd.Series([0.3, 0.7], index=[1, 100])}
    return plots.curves(lines, "candidates", "recall", "Recall.", log=True)


def forest():
    return plots.forest({"BERT-Mean": (0.054, Interval(-0.06, -0.11, -0.02)), "BERT-Max": (0.01, Interval(0.05, 0.0, 0.09))},
                        "difference from BM25", "Effects.")


def groups():
    values = pd.DataFrame({"BM25": np.linspace(0, 1, 6), "BERT": np.linspace(0.2, 1, 6)}, index=QUERIES)
    kinds = pd.Series(["plain", "plain", "oblique", "oblique", "plain", "alone"], index=QUERIES)
    return plots.means_by_group(values, kinds, "RR@10", "By style.")


def hostile():
    name = '<script>alert("x")</script> & $x_'
    series = pd.Series([0.5, 0.6], index=[1, 2])
    return plots.curves({name: series, "b": series}, name, name, name)


def points():
    frame = pd.DataFrame({"rate": [1250.0, 0.41, 24.3], "RR@10": [0.5, 0.6, 0.55], "of": ["a", "a", "b"]},
                         index=["small", "large", "& middle"])
    return plots.points(frame, "rate", "RR@10", "Models.", log=True, line="of")


ALL = {plot.__name__: plot for plot in (heatmap, curves, forest, groups, hostile, points)}
SVG = "{http://www.w3.org/2000/svg}"
every_plot = pytest.mark.parametrize("name", ALL)


@functools.cache
def html_of(name):
    return ALL[name]().html


def svg_of(html):
    return ElementTree.fromstring(re.search(r"<svg.*</svg>", html, re.DOTALL)[0])


def text_of(html):
    return svg_of(html).get("aria-label")


@every_plot
def test_a_plot_is_an_image_with_a_text_that_follows_the_page(name):
    root = svg_of(html_of(name))
    assert (root.tag, root.get("width"), root.get("height"), "viewBox" in root.attrib) == (SVG + "svg", None, None, True)
    assert "currentColor" in html_of(name) and figures.INK not in html_of(name)
    assert list(root.iter(SVG + "text"))
    assert root.get("role") == "img"
    assert len(root.get("aria-label").split()) >= 5 and len(root.get("aria-label")) <= figures.SAID
    assert ALL[name]().html == html_of(name)  # the same every time


@pytest.mark.parametrize("name, text", [
    ("heatmap", "from 0.100 to 0.500; the best is k1 = 0.9, b = 0.2."),
    ("curves", "BM25: 0.200 at 1, 0.600 at 100."),
    ("forest", "BERT-Max, measured: +0.050 [+0.000, +0.090], published +0.010. BERT-Mean, measured: −0.060"),
    ("groups", "BM25: 0.333 plain, 0.500 oblique, 1.000 alone; BERT: 0.467 plain"),
    ("points", "large: RR@10 0.600 at 0.41; & middle: RR@10 0.550 at 24.3; small: RR@10 0.500 at 1250.")])
def test_the_text_of_a_plot_gives_its_values(name, text):
    assert text in text_of(html_of(name))


def framed(html):
    """The corner of the frame in a heat map, as the SVG has it."""
    (path,) = [path for path in svg_of(html).iter(SVG + "path") if "#d55e00" in path.get("style", "")]
    return path.get("d").split()[1:3]


def test_the_frame_is_where_the_text_says():
    grid = pd.DataFrame({"k1": [0.6, 0.6, 0.9, 0.9], "b": [0.2, 0.4, 0.2, 0.4], "v": [0.1, 0.2, 0.3, 0.4]})
    highest, lowest = (framed(figures.grid_heatmap(grid, "k1", "b", "v", "Tuning.", lowest=low).html) for low in (False, True))
    assert float(highest[0]) > float(lowest[0])  # further right
    assert float(highest[1]) > float(lowest[1])  # further down


def test_names_of_points_in_one_place_keep_apart_from_each_other_and_from_every_mark():
    figure, (axis,) = figures.new(figures.WIDE)
    names = ["left", "beside", *(f"size {n}" for n in range(6))]
    crowd = pd.DataFrame({"x": [0.0, 0.05] + [1.0] * 6, "y": [0.5] * 8}, index=names)
    axis.plot(crowd["x"], crowd["y"], "o")
    plots.name_points(figure, axis, crowd)
    figure.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in axis.texts]  # without their lines
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    marks = axis.transData.transform(crowd)
    assert not any(box.contains(*mark) for box in boxes for mark in marks)


def test_published_places_are_hollow_and_each_kind_has_its_own_base():
    text = text_of(plots.beside_printed({"large": (10.0, 0.7), "small": (40.0, 0.6)},
                                        {"big": (2.0, 0.3), "tiny": (4.0, 0.25)},
                                        ("large", "big"), "times", "less", "Both.").html)
    assert "small: less -0.100 at 4" in text and "tiny: less -0.050 at 2" in text and "big: less 0.000 at 1" in text


def test_a_study_s_values_stand_beside_groups_of_the_same_name():
    values = pd.DataFrame({"BM25": [0.5] * 4}, index=list("abcd"))
    kinds = pd.Series(["plain", "plain", "oblique", "oblique"], index=list("abcd"))
    assert "BM25: 0.500 plain, 0.500 oblique; published: 0.300 at oblique." in text_of(
        plots.means_by_group(values, kinds, "RR", "G.", {"BM25": {"oblique": 0.3}}).html)


def words(html):
    return ["".join(text.itertext()) for text in svg_of(html).iter(SVG + "text")]


def many(number):
    return {f"line {n}": pd.Series([0.1 * n, 0.2], index=[1, 2]) for n in range(number)}


@pytest.mark.parametrize("plot", [
    lambda lines: plots.curves(lines, "x", "y", "C."),
    lambda lines: plots.seed_curves({name: pd.DataFrame({1: own, 2: own + 0.1}) for name, own in lines.items()}, "x", "y", "C."),
    lambda lines: plots.means_by_group(pd.DataFrame(lines), pd.Series(["a", "b"], index=[1, 2]), "y", "C."),
    lambda lines: plots.points(pd.DataFrame({"x": [1.0] * len(lines), "y": 1.0, "of": [*lines]}, index=["p"] * len(lines)),
                               "x", "y", "C.", of="of")])
def test_at_most_four_lines_have_a_colour_and_a_name(plot):
    assert sum(word.startswith("line") for word in words(plot(many(3)).html)) == 3
    crowded = plot(many(9)).html
    assert sum(word.startswith("line") for word in words(crowded)) == 4 and "#808080" in crowded


def test_the_reader_s_first_lines_are_named_and_the_others_say_their_names_where_one_points():
    html = plots.curves(many(9), "x", "y", "C.", first=["line 7", "line 8"]).html
    assert {"line 7", "line 8", "line 0", "line 1"} == {word for word in words(html) if word.startswith("line")}
    assert "<title>line 5: 0.500 at 1</title>" in html


def test_a_name_stands_at_its_line_s_end_and_none_lies_on_another():
    figure, (axis,) = figures.new()
    axis.plot([0, 1], [0, 1])
    ends = {f"name {n}": (1.0, 0.5 + n / 1000, "#000000") for n in range(4)}
    figures.name_ends(figure, axis, {"low": (1.0, 0.0, "#000000"), **ends})
    figure.draw_without_rendering()
    texts = {text.get_text(): Text.get_window_extent(text) for text in axis.texts}  # without their lines
    assert not any(one.overlaps(other) for one, other in combinations(texts.values(), 2))
    assert [*texts] == sorted(texts, key=lambda name: texts[name].y0) and min(box.x0 for box in texts.values()) > axis.bbox.x1
    assert texts["low"].y0 < axis.bbox.y0 + 10


def test_what_several_pictures_show_looks_the_same_in_all():
    alone, beside = figures.looks(["+ Condenser"]), figures.looks(["other", "+ Condenser", "+ MLM", "start"])
    assert alone["+ Condenser"] == beside["+ Condenser"]
    assert len({look.color for look in beside.values()}) == len({look.marker for look in beside.values()}) == 4


def test_a_hollow_diamond_is_published_and_nothing_else():
    assert "D" not in figures.MARKERS and "d" not in figures.MARKERS
    places = {"a": (Interval(0.1, 0.0, 0.2), Interval(0.2, 0.1, 0.3))}
    ours, studied = (plots.forest(places, "difference", "F.", sources).html
                     for sources in (("the Almanac", "DL 2019"), ("published", "measured")))
    assert "fill-opacity: 0" in studied and "fill-opacity: 0" not in ours


def test_a_published_value_far_off_the_axis_is_an_open_arrow_with_its_number():
    lines = {"a": pd.Series([0.7, 0.75], index=[1, 100])}
    near, far = (plots.curves(lines, "x", "y", "C.", printed={"a": pd.Series({50: value})}).html for value in (0.72, 0.2))
    assert "0.200" in words(far) and "0.720" not in words(near) and "<title>published: 0.200 at 50</title>" in far
    assert "published: 0.200 at 50." in text_of(far)
    assert not any(word in words(far) for word in ("0.2", "0.3"))  # the axis is that of what was measured


def test_a_flat_line_is_named_and_is_no_series():
    html = plots.curves(many(4), "x", "y", "C.", levels={"0.1 nat": 0.1}).html
    assert "0.1 nat" in words(html) and "0.1 nat: 0.100." in text_of(html)


def test_a_long_text_alternative_ends_after_a_whole_statement():
    text = figures.said("Means. " + " ".join(f"system {n}: 0.500;" for n in range(40)))
    assert len(text) <= figures.SAID and text.endswith("system 14: 0.500. The rest is in the tables.")
    assert len(figures.said("word " * 100)) <= figures.SAID and figures.said("Short.") == "Short."


def test_a_name_is_broken_and_the_key_has_what_is_published():
    lines = {f"{'a long name ' * 8}{n}": pd.Series([0.2, 0.6], index=[1, 2]) for n in range(3)}
    html = plots.curves(lines, "x", "y", "C.", printed={next(iter(lines)): pd.Series({1: 0.4})}).html
    assert max(map(len, words(html))) < 30 and "published" in words(html)


# ---- what a figure says when one points at it: nothing where a title could be wrong ----

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
    shown = drawn([1.0], ["</title><script>x</script>&\\1"])
    assert "<script" not in shown.html and tips(shown) == ["&lt;/title&gt;&lt;script&gt;x&lt;/script&gt;&amp;\\1"]


def alike():
    values = pd.DataFrame({"BM25": [0.5] * 4, "BERT": [0.25] * 4}, index=list("abcd"))
    return plots.means_by_group(values, pd.Series(["plain", "plain", "oblique", "oblique"], index=values.index), "RR@10", "S.")


@pytest.mark.parametrize("plot, said", {
    curves: ["BM25: 0.200 at 1", "BM25: 0.600 at 100", "BERT: 0.300 at 1", "BERT: 0.700 at 100"],
    points: ["large: 0.600 at 0.41", "small: 0.500 at 1250", "&amp; middle: 0.550 at 24.3"],  # whatever order they were given in
    forest: ["BERT-Max, published: +0.010", "BERT-Mean, published: +0.054", "BERT-Max, measured: +0.050 [+0.000, +0.090]",
             "BERT-Mean, measured: −0.060 [−0.110, −0.020]"],
    alike: [f"{name}, {group}: {value} [{value}, {value}]" for name, value in (("BM25", "0.500"), ("BERT", "0.250"))
            for group in ("plain", "oblique")]}.items())
def test_every_marker_of_a_plot_says_what_it_is_of(plot, said):
    assert tips(plot()) == said


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
    text = text_of(three(above=[(0, 1), (0, 2)], below=[(0, 1)]).html)
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
