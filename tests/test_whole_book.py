"""The whole book as one page: the order of the contents, unique ids, links that stay inside, nothing that needs a screen."""

import re

import pytest
import yaml
from bs4 import BeautifulSoup

from helpers import paths
from helpers.errors import BadInput
from press import printed

INDEX = """<section id="top"><h1>The book<a class="headerlink" href="#top">#</a></h1><p><a href="chapters/a.html">a</a></p>
<div class="toctree-wrapper">contents</div></section><script>kernelName</script>"""
A = """<section id="a"><h1>Über <em>A</em></h1><div class="nr-launch"><a href="x">Run</a></div>
<a id="here" href="b.html#there">b</a> <a href="#here">here</a> <a href="a.html">self</a> <a href="../index.html#top">top</a>
<a href="a--1.html">a variant</a> <a href="https://example.org/x.html#y">out</a> <a href="../search.html">search</a>
<details class="hide above-input"><summary>code</summary></details>
<details class="nr-details"><summary>more</summary>inside</details>
<img src="../_images/p.png" alt="p"><img src="data:image/png;base64,AA" alt="d">
<svg viewBox="0 0 1 1"><defs><clipPath id="c"><rect/></clipPath></defs>
<use xlink:href="#c" clip-path="url(#c)"/></svg></section>"""
B = """<section id="b"><h1>B &lt;b&gt;</h1><p id="there">x</p><p id="here">y</p></section>"""


@pytest.fixture
def book(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "BOOK", tmp_path)
    toc = {"root": "index", "parts": [{"caption": "Part <1>", "chapters": [{"file": "chapters/b"}, {"file": "chapters/a"}]}]}
    (tmp_path / "_toc.yml").write_text(yaml.safe_dump(toc))
    (tmp_path / "_config.yml").write_text("title: R & D\n")
    for page, text in (("index", INDEX), ("chapters/a", A), ("chapters/b", B), ("chapters/a--1", "<h1>variant</h1>")):
        file = tmp_path / "html" / f"{page}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"<html><body><nav id='a'>side</nav><article>{text}</article></body></html>")
    return tmp_path


@pytest.fixture
def whole(book):
    return printed.write_whole(book / "html", book / "pdf" / "whole.html", "<p>front</p>").read_text()


@pytest.fixture
def soup(whole):
    return BeautifulSoup(whole, "lxml")


def test_the_pages_stand_in_the_order_of_the_contents_with_their_texts_as_texts(soup, whole):
    assert "<title>R &amp; D</title>" in whole
    assert [page["id"] for page in soup.select(".nr-page")] == ["index", "chapters.b", "chapters.a"]
    assert [line.get_text() for line in soup.select(".nr-line a")] == ["B <b>", "Über A"]
    assert [part.get_text() for part in soup.select(".nr-page .nr-part")] == ["Part <1>"]


def test_what_needs_a_screen_is_gone_and_what_was_folded_is_open(soup):
    assert soup.select("script, .headerlink, .nr-launch, .toctree-wrapper, nav:not(.nr-contents)") == []
    assert [fold.get("open") for fold in soup.select("details")] == [""]
    assert "variant" not in soup.select_one("#chapters\\.b").get_text()


def test_every_id_is_unique_and_every_inner_link_leads_to_one(soup):
    ids = [element["id"] for element in soup.select("[id]")]
    assert len(ids) == len(set(ids))
    links = [element["href"] for element in soup.select("a[href]")]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert [link for link in links if not link.startswith("#")] == ["https://example.org/x.html#y"]


@pytest.mark.parametrize(("link", "leads_to"), [
    ("b.html#there", "#chapters.b--there"), ("#here", "#chapters.a--here"), ("a.html", "#chapters.a"), ("", "#chapters.a"),
    ("../index.html#top", "#index--top"), ("a--1.html", None), ("../search.html", None), ("mailto:a@b.c", "mailto:a@b.c"),
    ("https://example.org/a.html", "https://example.org/a.html"), ("b%2Ehtml", "#chapters.b")])
def test_where_links_lead(link, leads_to):
    assert printed.moved(link, "chapters/a", {"index", "chapters/a", "chapters/b"}) == leads_to


def test_pictures_and_parts_of_figures_are_found_from_the_new_place(whole, book):
    assert 'src="../html/_images/p.png"' in whole
    assert 'src="data:image/png;base64,AA"' in whole
    assert 'clip-path="url(#chapters.a--c)"' in whole
    assert 'xlink:href="#chapters.a--c"' in whole
    assert re.search(r'href="\.\./html/_static/print\.css"', whole)


@pytest.mark.parametrize(("change", "said"), [
    (lambda page: page.unlink(), "make book"), (lambda page: page.write_text("<p>nothing</p>"), "no article")])
def test_a_page_that_was_not_rendered_or_has_no_article_is_named(book, change, said):
    change(book / "html" / "chapters" / "a.html")
    with pytest.raises(BadInput, match=rf"chapters/a\.html.*{said}"):
        printed.write_whole(book / "html", book / "pdf" / "whole.html", "")
