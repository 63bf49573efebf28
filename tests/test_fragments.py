"""What a cell shows: escaped, accessible, and with its data beside it."""

import pytest
from bs4 import BeautifulSoup
from markdown_it import MarkdownIt

from helpers.pages import page
from helpers.pages.fragments import DATA_MIME, Fragment, Html, badge, cell, details, explored, marked, table
from tables import cells

HOSTILE = "<script>alert('x')</script> & \"quoted\" </table>"


def read(html):
    return BeautifulSoup(html, "html.parser")


def classes(html):
    """The classes of a table's heads and of its values."""
    return tuple([one.get("class") for one in read(html).find_all(name)] for name in ("th", "td"))


def small_table(**changed):
    rows = [["BM25", "sparse", 0.5], ["BERT", "neural", 1]]
    return table(**{"caption": "Ranks", "header": ("system", "kind", "value"), "rows": rows, **changed}).text


@pytest.mark.parametrize("html", [
    table(HOSTILE, ("system", "value"), [["a", 1]]).text, table("caption", (HOSTILE, "value"), [["a", 1]]).text,
    table("caption", ("system", HOSTILE), [["a", 1]]).text, table("caption", ("system", "value"), [[HOSTILE, 1]]).text,
    table("caption", ("system", "text", "value"), [["a", HOSTILE, 1]], numeric_from=2).text,
    badge(HOSTILE, "profile").text, details(HOSTILE, Html("<p>inner</p>")).text, cell(HOSTILE),
    page.show_table(HOSTILE, (HOSTILE, HOSTILE), [[HOSTILE, HOSTILE]]).html])
def test_hostile_text_stays_text(html):
    assert read(html).find("script") is None and HOSTILE in read(html).text


END = "x\r\r<b>&\u2028\x0b```{include} /etc/passwd\n```\n\n# heading\n\n{raw}`html` \ud800"  # would end a block of HTML


@pytest.mark.parametrize("html", [table(END, (END, END), [[END, END]]).text, badge(END, "profile").text, cell(END),
                                  details(END, table(END, (END,), [[END]])).text])
def test_no_text_ends_a_block_of_html_on_a_page_of_markdown(html):
    tokens = MarkdownIt().parse(f"before\n\n<div>{html}</div>\n\nafter")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close", "html_block",
                                                "paragraph_open", "inline", "paragraph_close"]
    html.encode()


def test_a_table_stands_in_a_region_that_takes_the_focus_and_has_a_caption_and_heads_with_scope():
    region = read(small_table()).div
    assert (region["role"], region["tabindex"], region["aria-label"]) == ("region", "0", "Ranks")
    assert next(region.table.children).name == "caption" and region.caption.text == "Ranks"
    assert [head["scope"] for head in region.find_all("th")] == ["col"] * 3 + ["row"] * 2
    assert (len(region.find_all("tr")), len(region.find_all("td"))) == (3, 4)


def test_columns_are_set_like_numbers_from_the_given_one():
    assert marked("`a<b` and *c*").text == "<code>a&lt;b</code> and <em>c</em>"
    assert classes(small_table(numeric_from=2)) == ([None, None, ["num"], None, None], [None, ["num"]] * 2)


def test_a_column_with_sentences_keeps_room_for_them_unless_it_is_set_like_numbers():
    rows = [["a" * 61, "x", "y" * 61], ["b", Html(f"<b class='{'z' * 60}'>short</b>"), "short"]]
    heads, values = classes(small_table(rows=rows, numeric_from=2))
    assert (heads[3:], values) == ([["nr-long"]] * 2, [None, ["num"]] * 2)
    assert classes(small_table(rows=rows, numeric_from=9))[1] == [None, ["nr-long"]] * 2


def test_a_fragment_carries_its_data_under_a_type_of_its_own():
    bundle = Fragment("<p>x</p>", data={"values": [1]})._repr_mimebundle_()
    assert bundle == {"text/html": "<p>x</p>", DATA_MIME: {"values": [1]}}
    assert DATA_MIME.endswith("+json")


def test_a_record_of_a_table_may_leave_cells_out():
    shown = page.records_table("caption", [{"a": 1, "b": 2}, {"a": 3, "c": 4}])
    assert cells(shown) == [["a", "b", "c"], ["1", "2", ""], ["3", "", "4"]]


def test_the_column_of_verdicts_is_known_by_its_head_for_a_narrow_screen():
    html = table("caption", ("claim", "p", "verdict"), [["a", 1, "supported"]]).text
    assert '<th scope="col" class="nr-verdict">verdict</th>' in html and '<td class="nr-verdict">supported</td>' in html
    assert html.count("nr-verdict") == 2


def test_a_query_leads_into_the_explorer_whatever_its_id_and_text():
    assert explored("a b&c", "<b>").text == '<a href="explorer.html#q=a%20b%26c">&lt;b&gt;</a>'
    assert explored("\ud800", "x").text.startswith('<a href="explorer.html#q=%3F"')
