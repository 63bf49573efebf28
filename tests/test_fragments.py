"""What a cell shows: escaped, accessible, and with its data beside it."""

from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from helpers.pages import page
from helpers.pages.fragments import DATA_MIME, Fragment, Html, badge, cell, details, explored, table
from tables import cells

HOSTILE = "<script>alert('x')</script> & \"quoted\" </table>"


class Reader(HTMLParser):
    """The tags with their attributes, and the texts, of a piece of HTML."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts, self.open = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("br",):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]


def read(html):
    reader = Reader(html)
    assert reader.open == [], "every tag is closed"
    return reader


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
    elements = read(html)
    assert elements.all("script") == []
    assert HOSTILE in "".join(elements.texts)


END = "x\r\r<b>&\u2028\x0b```{include} /etc/passwd\n```\n\n# heading\n\n{raw}`html` \ud800"  # would end a block of HTML


@pytest.mark.parametrize("html", [table(END, (END, END), [[END, END]]).text, badge(END, "profile").text, cell(END),
                                  details(END, table(END, (END,), [[END]])).text])
def test_no_text_ends_a_block_of_html_on_a_page_of_markdown(html):
    tokens = MarkdownIt().parse(f"before\n\n<div>{html}</div>\n\nafter")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close", "html_block",
                                                "paragraph_open", "inline", "paragraph_close"]
    html.encode()


def test_a_table_stands_in_a_region_that_takes_the_focus_and_has_a_caption_and_heads_with_scope():
    elements = read(small_table())
    region = elements.all("div")[0]
    assert (region["role"], region["tabindex"], region["aria-label"]) == ("region", "0", "Ranks")
    assert elements.tags.index(("caption", {})) == elements.tags.index(("table", {"class": "nr-table"})) + 1
    assert "Ranks" in elements.texts
    assert [head["scope"] for head in elements.all("th")] == ["col"] * 3 + ["row"] * 2
    assert len(elements.all("tr")) == 3
    assert len(elements.all("td")) == 4


def test_columns_are_set_like_numbers_from_the_given_one():
    elements = read(small_table(numeric_from=2))
    assert [head.get("class") for head in elements.all("th")] == [None, None, "num", None, None]
    assert [data.get("class") for data in elements.all("td")] == [None, "num"] * 2


def test_a_column_with_sentences_keeps_room_for_them_unless_it_is_set_like_numbers():
    rows = [["a" * 61, "x", "y" * 61], ["b", Html(f"<b class='{'z' * 60}'>short</b>"), "short"]]
    elements = read(small_table(rows=rows, numeric_from=2))
    assert [head.get("class") for head in elements.all("th")][3:] == ["nr-long", "nr-long"]
    assert [data.get("class") for data in elements.all("td")] == [None, "num"] * 2
    elements = read(small_table(rows=rows, numeric_from=9))
    assert [data.get("class") for data in elements.all("td")] == [None, "nr-long"] * 2


def test_a_badge_carries_its_kind_as_class_and_its_meaning_as_text():
    elements = read(badge("agrees", "good").text)
    assert elements.all("span") == [{"class": "nr-badge nr-good"}]
    assert elements.texts == ["agrees"]


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
