"""The browser: finding it, and the printed book."""

import shutil
from types import SimpleNamespace

import pytest
import yaml
from pypdf import PdfReader

from extension import load
from helpers import paths
from helpers.errors import BadInput
from press import chromium, cli, launch, printed

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
