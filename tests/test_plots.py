"""Figures: SVG that follows the page's colours, says what it shows, and is the same every time."""

import functools
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest

from helpers import figures, plots

QUERIES = [f"q{n}" for n in range(6)]


def histogram():
    return plots.length_histogram({"document": {3: 1, 5: 4, 9: 2}, "passage": {1: 2, 2: 1}}, "Lengths.")


def heatmap():
    grid = pd.DataFrame({"k1": [0.6, 0.6, 0.9, 0.9], "b": [0.2, 0.4, 0.2, 0.4], "RR@10": [0.1, 0.2, 0.5, 0.3]})
    return plots.grid_heatmap(grid, "k1", "b", "RR@10", "Tuning.")


def curves():
    lines = {"BM25": pd.Series([0.2, 0.6], index=[1, 100]), "BERT": pd.Series([0.3, 0.7], index=[1, 100])}
    return plots.curves(lines, "candidates", "recall", "Recall.", log=True)


def one_curve():
    return plots.curves({"loss": pd.Series([0.5], index=[10])}, "steps", "cross-entropy", "Loss.")


def groups():
    values = pd.DataFrame({"BM25": np.linspace(0, 1, 6), "BERT": np.linspace(0.2, 1, 6)}, index=QUERIES)
    kinds = pd.Series(["plain", "plain", "oblique", "oblique", "plain", "alone"], index=QUERIES)
    return plots.means_by_group(values, kinds, "RR@10", "By style.")


def ranks():
    found = {"BM25": pd.Series([1, 2, 7, np.inf]), "BERT": pd.Series([1, 1, 3, np.nan])}
    return plots.rank_distribution(found, 3, "Ranks.")


def hostile():
    name = '<script>alert("x")</script> & $x_'
    series = pd.Series([0.5, 0.6], index=[1, 2])
    return plots.curves({name: series, "b": series}, name, name, name)


ALL = {plot.__name__: plot for plot in (histogram, heatmap, curves, one_curve, groups, ranks, hostile)}
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
def test_a_plot_is_an_image_with_a_text(name):
    root = svg_of(html_of(name))
    assert root.tag == SVG + "svg"
    assert root.get("role") == "img"
    assert len(root.get("aria-label")) > 20


@every_plot
def test_a_plot_scales_with_the_page(name):
    root = svg_of(html_of(name))
    assert root.get("width") is None
    assert root.get("height") is None
    assert root.get("viewBox")


@every_plot
def test_a_plot_follows_the_colour_of_the_page(name):
    assert "currentColor" in html_of(name)
    assert figures.INK not in html_of(name)


@every_plot
def test_the_text_of_a_plot_stays_text(name):
    assert list(svg_of(html_of(name)).iter(SVG + "text"))


@every_plot
def test_a_plot_is_the_same_every_time(name):
    assert ALL[name]().html == html_of(name)


@every_plot
def test_a_plot_has_a_caption_and_no_date(name):
    whole = r'<figure class="nr-figure"><svg.*</svg>\s*<figcaption>.+</figcaption></figure>'
    assert re.fullmatch(whole, html_of(name), re.DOTALL)
    assert "dc:date" not in html_of(name)


def test_hostile_names_stay_text():
    html = html_of("hostile")
    assert "<script" not in html
    assert "&lt;script&gt;" in html.split("<figcaption>")[1]


def test_the_text_of_a_histogram_gives_range_and_mode():
    assert "document: from 3 to 9, most often 5." in text_of(html_of("histogram"))


def test_the_text_of_a_heat_map_gives_range_and_best():
    assert "from 0.100 to 0.500; the best is k1 = 0.9, b = 0.2." in text_of(html_of("heatmap"))


def test_a_heat_map_of_an_incomplete_grid_names_the_best_of_what_there_is():
    grid = pd.DataFrame({"k1": [0.6, 0.6, 0.9], "b": [0.2, 0.4, 0.2], "RR@10": [0.1, 0.2, 0.5]})
    text = text_of(plots.grid_heatmap(grid, "k1", "b", "RR@10", "Tuning.").html)
    assert "from 0.100 to 0.500; the best is k1 = 0.9, b = 0.2." in text


def test_the_text_of_curves_gives_their_ends():
    assert "BM25: 0.200 at 1, 0.600 at 100." in text_of(html_of("curves"))


def test_the_text_of_groups_gives_every_mean():
    text = text_of(html_of("groups"))
    assert "BM25, plain: 0.333; BM25, oblique: 0.500; BM25, alone: 1.000; BERT, plain: 0.467" in text


def test_the_text_of_ranks_counts_the_first_and_what_is_beyond():
    assert "BM25: 1 at rank 1, 2 beyond rank 3. BERT: 2 at rank 1, 1 beyond rank 3." in text_of(html_of("ranks"))


@pytest.mark.parametrize("systems", [1, 6, 7])
def test_ranks_of_many_systems(systems):
    found = {f"system {n}": pd.Series([1, 2]) for n in range(systems)}
    assert text_of(plots.rank_distribution(found, 2, "Ranks.").html).count("at rank 1") == systems
