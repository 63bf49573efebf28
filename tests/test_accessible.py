"""What the theme and docutils leave without a name or with an old role is mended on every page."""

import yaml
from bs4 import BeautifulSoup

from extension import load
from helpers import paths

accessible = load("accessible")
CONTENTS = """<ul><li><a href="a.html">A &amp; B</a>
<details><summary><span></span></summary><ul><li><a href="c.html">C</a></li></ul></details></li>
<li><a href="d.html">D</a></li></ul>"""


def mended(**context):
    accessible.mend(None, "page", "page.html", context, None)
    return context


def test_entries_of_the_bibliography_are_items_of_their_list():
    body = mended(body='<div role="list"><div role="doc-biblioentry">x</div></div>')["body"]
    assert body == '<div role="list"><div role="listitem">x</div></div>'


def test_the_box_of_a_table_has_a_name():
    body = mended(body='<div class="pst-scrollable-table-container"><table></table></div>')["body"]
    box = BeautifulSoup(body, "html.parser").div
    assert (box["role"], box["aria-label"], box["class"]) == ("region", "Table", ["pst-scrollable-table-container"])


def test_a_page_without_any_stays_what_it_is():
    assert mended(body="<p>doc-biblioentry</p>") == {"body": "<p>doc-biblioentry</p>"}
    assert mended() == {}


def test_every_arrow_of_the_contents_says_what_it_opens():
    context = mended(generate_toctree_html=lambda kind, **options: BeautifulSoup(CONTENTS, "html.parser"))
    arrows = context["generate_toctree_html"]("sidebar", maxdepth=1).select("summary")
    assert [arrow["aria-label"] for arrow in arrows] == ["Pages below A & B"]


def test_the_book_uses_it():
    assert "accessible" in yaml.safe_load((paths.BOOK / "_config.yml").read_text())["sphinx"]["local_extensions"]
