"""The box that filters the rows of the page of numbers: hidden without its script, and driven by typing."""

import pytest

from helpers import paths
from helpers.pages.fragments import table
from looking import AXE_SCRIPT, axe, context
from press import generated

STATIC = paths.PACKAGE.parents[1] / "book" / "_static"
ROWS = {"Study one": [["table 1 | BM25", "MRR@10"], ["table 1 | BERT", "MRR@10"]], "Study two": [["table 2 | BM25", "R@10"]]}


def test_the_page_of_numbers_has_a_box_that_its_script_shows():
    assert '<div class="nr-filter" hidden><label>' in generated.numbers_page([])


@pytest.mark.slow
@pytest.mark.browser
def test_typing_leaves_the_rows_with_all_words_and_tables_that_have_some(tmp_path, browser):
    filter_box = next(line for line in generated.numbers_page([]).splitlines() if "nr-filter" in line)
    tables = "".join(table(caption, ("where", "measure"), rows).text for caption, rows in ROWS.items())
    (tmp_path / "page.html").write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Page</title>'
        f'<script defer src="{(STATIC / "filter.js").as_uri()}"></script></head><body><main><h1>Page</h1>'
        f"{filter_box}{tables}</main></body></html>", encoding="utf-8")
    with context(browser) as window:
        page = window.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        shown, box = page.locator("tbody tr:visible"), page.get_by_role("searchbox", name="Rows with these words")
        assert shown.count() == 3
        for typed, rows, tables, told in (("bm25", 2, 2, "2 of 3 rows"), ("bm25 two", 1, 1, "1 of 3 rows"),
                                          ("none", 0, 0, "0 of 3 rows"), ("", 3, 2, "")):
            box.fill(typed)
            assert (shown.count(), page.locator("table:visible").count()) == (rows, tables)
            assert page.locator("output").text_content() == told
        page.evaluate(AXE_SCRIPT)
        assert axe(page, {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa"]}}) == []
