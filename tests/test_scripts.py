"""What scripts add to a page: sliders of figures, and the box that filters the numbers."""

import contextlib
import json
import re
from html import unescape

import pandas as pd
import pytest

from helpers import paths
from helpers.pages import figures, plots
from helpers.pages.fragments import table
from helpers.pages.plots import slider
from looking import AXE_SCRIPT, axe, context
from press import generated

# ---- sliders ----

STATIC = paths.PACKAGE.parents[1] / "book" / "_static"
LINES = {"RR@10": pd.Series([0.5, 0.6, 0.7], index=[10, 20, 1000]), '<b>"&': pd.Series([0.1, 0.2, 0.3], index=[10, 20, 1000])}
GRID = pd.DataFrame({"k1": [0.6, 0.6, 2.0], "b": [0.2, 0.4, 0.2], "RR@10": [0.1, 0.2, 0.5]})


def one():
    table = pd.DataFrame(LINES).assign(ceiling=[0.8, 0.85, 0.9]).rename_axis("candidates")
    return slider(plots.curves(LINES, "candidates", "value", "A curve."), table, 20)


def two():
    drawn = figures.grid_heatmap(GRID, "k1", "b", "RR@10", "A grid.")
    return slider(drawn, GRID.set_index(["k1", "b"]), (2.0, 0.2))


def carried(fragment, name):
    return [json.loads(unescape(found)) for found in re.findall(rf'data-{name}="([^"]*)"', fragment.html)]


@pytest.mark.parametrize("made", [one(), two()])
def test_every_setting_marks_what_the_figure_says(made):
    (marks,), tips = carried(made, "marks"), set(map(unescape, re.findall(r"<title>(.*?)</title>", made.html)))
    for settings in marks:
        assert {mark for mark in settings if "ceiling" not in mark} <= tips
    assert sum(map(len, marks)) >= len(tips) > 0


def test_settings_are_told_in_order_and_a_missing_one_is_said():
    assert carried(one(), "values") == [["10", "20", "1,000"]]
    assert carried(one(), "told")[0][1] == 'RR@10 0.600; <b>"& 0.200; ceiling 0.850'
    assert carried(two(), "values") == [["0.6", "2"], ["0.2", "0.4"]]
    assert carried(two(), "told") == [["RR@10 0.100", "RR@10 0.200", "RR@10 0.500", "not computed"]]


@contextlib.contextmanager
def opened(browser, folder, script, shown):
    """A page with a script of the book, in the browser; in the end the script may not have complained."""
    (folder / "page.html").write_text(
        '<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8"><title>Page</title>'
        '<meta http-equiv="Content-Security-Policy" content="script-src file: \'unsafe-eval\'">'
        f'<link rel="stylesheet" href="{(STATIC / "book.css").as_uri()}"><script defer src="{(STATIC / script).as_uri()}">'
        f"</script></head><body><main><h1>Page</h1>{shown}</main></body></html>", encoding="utf-8")
    with context(browser) as window:
        page, errors = window.new_page(), []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((folder / "page.html").as_uri())
        yield page
        assert errors == []


@pytest.fixture(scope="module")
def page(tmp_path_factory, browser):
    with opened(browser, tmp_path_factory.mktemp("sliders"), "sliders.js", one().html + two().html) as page:
        yield page


def told(page, number):
    return page.locator(".nr-slider output").nth(number).text_content()


@pytest.mark.slow
@pytest.mark.browser
def test_the_keyboard_moves_a_slider_its_words_and_its_frames(page):
    first = page.locator(".nr-slider input").first
    assert told(page, 0).startswith("RR@10 0.600") and first.get_attribute("aria-valuetext") == "20"
    before = page.locator(".nr-chosen").first.locator("rect").first.get_attribute("x")
    first.focus()
    page.keyboard.press("ArrowRight")
    assert told(page, 0) == 'RR@10 0.700; <b>"& 0.300; ceiling 0.900' and first.get_attribute("aria-valuetext") == "1,000"
    frames = page.locator(".nr-chosen").first.locator("rect")
    assert frames.count() == 1 and float(frames.first.get_attribute("x")) > float(before)


@pytest.mark.slow
@pytest.mark.browser
def test_two_sliders_choose_a_cell_and_one_that_is_missing_frames_nothing(page):
    b = page.locator(".nr-slider input").nth(2)
    b.focus()
    page.keyboard.press("Home")
    assert told(page, 1) == "RR@10 0.500" and page.locator(".nr-chosen").nth(1).locator("rect").count() == 1
    page.keyboard.press("End")
    assert told(page, 1) == "not computed" and page.locator(".nr-chosen").nth(1).locator("rect").count() == 0


# ---- the filter of the numbers ----

ROWS = {"Study one": [["table 1 | BM25", "MRR@10"], ["table 1 | BERT", "MRR@10"]], "Study two": [["table 2 | BM25", "R@10"]]}


def test_the_page_of_numbers_has_a_box_that_its_script_shows():
    assert '<div class="nr-filter" hidden><label>' in generated.numbers_page([])


@pytest.mark.slow
@pytest.mark.browser
def test_typing_leaves_the_rows_with_all_words_and_tables_that_have_some(tmp_path, browser):
    filter_box = next(line for line in generated.numbers_page([]).splitlines() if "nr-filter" in line)
    tables = "".join(table(caption, ("where", "measure"), rows).text for caption, rows in ROWS.items())
    with opened(browser, tmp_path, "filter.js", filter_box + tables) as page:
        shown, box = page.locator("tbody tr:visible"), page.get_by_role("searchbox", name="Rows with these words")
        assert shown.count() == 3
        for typed, rows, tables, told in (("bm25", 2, 2, "2 of 3 rows"), ("bm25 two", 1, 1, "1 of 3 rows"),
                                          ("none", 0, 0, "0 of 3 rows"), ("", 3, 2, "")):
            box.fill(typed)
            assert (shown.count(), page.locator("table:visible").count()) == (rows, tables)
            assert page.locator("output").text_content() == told
        page.evaluate(AXE_SCRIPT)
        assert axe(page, {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa"]}}) == []
