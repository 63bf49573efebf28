"""When a page is out of date, and when the book is rendered again, with a stand-in for Jupyter Book."""

from types import SimpleNamespace

import pytest

from helpers import paths
from helpers.errors import BadInput
from press import build, chapters, execute


@pytest.fixture
def book(places, monkeypatch):
    """A book of one page, whose renderer leaves compiled extensions behind, as Python does."""
    root = places("HTML", "CHAPTERS", "GENERATED", "BOOK") / "book"
    (root / "_toc.yml").write_text("root: index\nparts: []\n")
    (root / "index.md").write_text("# A book")
    (root / "references.bib").write_text("@book{one,}")

    def jupyter_book(command, **_):
        (root.parent / "asked.txt").write_text(" ".join(command))
        for file in ("_build/html/index.html", "_ext/__pycache__/launch.cpython-311.pyc"):
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text("made")
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(chapters, "names", list)
    monkeypatch.setattr(build.subprocess, "run", jupyter_book)
    monkeypatch.setattr(build.launch, "write_sitemap", lambda: None)  # test_launch has it
    return root


def test_a_book_is_rendered_again_when_a_page_has_changed(book):
    assert [build.render(), build.render()] == [True, False]
    (book / "index.md").write_text("# The book")
    assert build.render()


def test_all_pages_are_read_again_when_the_bibliography_has_changed(book):
    def asks_for_all():
        build.render()
        return (book.parent / "asked.txt").read_text().endswith(" --all")

    first = asks_for_all()
    (book / "index.md").write_text("# The book")
    second = asks_for_all()
    (book / "references.bib").write_text("@book{one,} @book{two,}")
    assert [first, second, asks_for_all()] == [True, False, True]


def test_a_failure_is_said_and_the_book_is_rendered_the_next_time(book, monkeypatch):
    build.render()
    (book / "index.md").write_text("# A [broken](link.md)")
    with monkeypatch.context() as broken, pytest.raises(BadInput, match="a broken link"):
        broken.setattr(build.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=1, stdout="", stderr="a broken link"))
        build.render()
    assert build.render()


def test_a_chapter_that_was_not_executed_has_a_page_that_says_so_while_the_book_is_rendered(book, monkeypatch):
    monkeypatch.setattr(chapters, "names", lambda: ["seeds"])
    page, seen = paths.CHAPTERS / "seeds.ipynb", []
    monkeypatch.setattr(build.launch, "write_sitemap", lambda: seen.append(page.read_text()))
    build.render()
    assert f"# {chapters.chapter('seeds').title}" in seen[0] and "make chapter NAME=seeds" in seen[0]
    assert not page.exists()


@pytest.mark.parametrize(("name", "matters"), [
    ("data/qrels.tsv", True), ("data/new.tsv", True), ("a.trec", True), ("results/step-0123456789abcdef.zip", True),
    ("results/notes.json", False), ("package/floor/words.txt", True), ("package/floor/a.py", True),
    ("package/__pycache__/a.pyc", False)])
def test_a_page_is_out_of_date_when_its_data_or_the_package_is(tmp_path, monkeypatch, name, matters):
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(paths, "PACKAGE", tmp_path / "package")
    file, values = tmp_path / name, {"collection": str(tmp_path / "data"), "run": str(tmp_path / "a.trec"), "other": "x" * 999}
    for other in (file, tmp_path / "data" / "docs.tsv"):
        other.parent.mkdir(parents=True, exist_ok=True)
    before = execute.fingerprint("seeds", values, "mini")
    file.write_text("other")
    assert (execute.fingerprint("seeds", values, "mini") != before) is matters


def test_a_narrower_backbone_is_known_by_the_files_of_the_one_that_it_is_made_from():
    assert execute.contents("packaged/256") == execute.contents("packaged")
    assert execute.contents("packaged:0,1/96") == execute.contents("packaged:0,1") != execute.contents("packaged")
