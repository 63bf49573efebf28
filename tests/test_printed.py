"""The whole book as one page: the order of the contents, unique ids, links that stay inside, nothing that needs a screen. The
browser: finding it, and the printed book."""

import re
import shutil
from types import SimpleNamespace

import pytest
import yaml
from bs4 import BeautifulSoup
from pypdf import PdfReader

from extension import load
from helpers import paths
from helpers.errors import BadInput
from press import chromium, cli, launch, printed

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


# ---- finding the browser ----

@pytest.fixture
def programs(tmp_path, monkeypatch):
    """An empty path, and a way to put programs on it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("BOOK_CHROMIUM", raising=False)
    monkeypatch.setattr(chromium, "MAC", ())

    def put(name):
        file = tmp_path / name
        file.write_text("#!/bin/sh\n")
        file.chmod(0o755)
        return file

    return put


@pytest.mark.parametrize("name", chromium.NAMES)
def test_a_browser_on_the_path_is_found(programs, name):
    file = programs(name)
    assert chromium.find() == file


def test_the_named_one_comes_first_and_is_missed_even_if_there_is_another(programs, monkeypatch):
    programs("chromium")
    other = programs("my-own")
    monkeypatch.setenv("BOOK_CHROMIUM", str(other))
    assert chromium.find() == other
    monkeypatch.setenv("BOOK_CHROMIUM", "/no/such/program")
    with pytest.raises(BadInput, match="/no/such/program"):
        chromium.find()


@pytest.mark.parametrize("there", [False, True])
def test_without_a_program_that_can_run_the_error_says_what_to_do(programs, there):
    if there:
        programs("chromium").chmod(0o644)
    with pytest.raises(BadInput, match="no Chromium.*make browser.*BOOK_CHROMIUM"):
        chromium.find()


def test_the_makefile_looks_for_the_same_names():
    script = (paths.ROOT / ".ci" / "chromium.sh").read_text()
    assert f" {' '.join(chromium.NAMES)}; do" in script


# ---- the printed book ----

PRINTED = """<html><body><article><h1>{title}</h1><h2>Part of {title}</h2><p><a href="{other}.html">other</a></p>
<div class="nr-scroll"><table class="nr-table"><tr><th>{wide}</th><td>END</td></tr></table></div>
{filler}</article></body></html>"""


@pytest.fixture
def printable(places):
    css = paths.BOOK / "_static" / "print.css"
    places("HTML", "CHAPTERS", "BOOK")
    (paths.BOOK / "_toc.yml").write_text(yaml.safe_dump({"root": "index", "parts": [
        {"caption": "One", "chapters": [{"file": "long"}, {"file": "last"}]}]}))
    (paths.BOOK / "_config.yml").write_text("title: The title\nrepository: {url: 'https://github.com/a/b', branch: main}\n")
    (paths.HTML / "_static").mkdir()
    shutil.copy(css, paths.HTML / "_static")
    for page, other, filler in (("index", "long", ""), ("long", "last", "<p>text</p>" * 200), ("last", "index", "")):
        wide = '<span style="white-space: nowrap">' + "wide " * 60 + "</span>"
        (paths.HTML / f"{page}.html").write_text(PRINTED.format(title=page, other=other, filler=filler, wide=wide))


def test_without_a_browser_the_error_says_what_to_do_and_nothing_is_written(printable, monkeypatch, capsys):
    monkeypatch.setenv("BOOK_CHROMIUM", "/no/such/program")
    assert cli.main(["pdf"]) == 2
    assert "BOOK_CHROMIUM" in capsys.readouterr().err
    assert not printed.folder().exists()


@pytest.mark.slow
@pytest.mark.browser
def test_the_printed_book_is_published_beside_the_pages(printable, chromium_there):
    made = printed.write()
    assert printed.made() == made == launch.links()["pdf"]
    reader = PdfReader(printed.folder() / printed.NAME)
    texts = [page.extract_text() for page in reader.pages]
    assert len(texts) == made["pages"] >= 6  # cover, contents, index, two at least, last
    assert "The title" in texts[0]
    assert f"· {made['pages']}" in texts[-1].replace("\n", " ")
    assert all("END" in texts[number] for number in (2, 3, -1))  # too wide a table is made to fit
    titles = [item.title for item in reader.outline if not isinstance(item, list)]
    assert [title for title in titles if title in ("index", "long", "last")] == ["index", "long", "last"]
    links = {note.get_object().get("/Dest") for page in reader.pages for note in page.get("/Annots", [])}
    assert {"/index", "/long", "/last"} <= {str(link) for link in links}
    load("launch").publish(SimpleNamespace(outdir=paths.HTML, builder=SimpleNamespace(format="html")), None)
    assert (paths.HTML / printed.NAME).read_bytes() == (printed.folder() / printed.NAME).read_bytes()
