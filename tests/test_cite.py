"""Citations: valid BibTeX for the book and each chapter."""

import tomllib

import pytest
from pybtex.database import parse_string

from helpers import paths
from helpers.errors import BadInput
from press import chapters, cite, generated


@pytest.fixture(autouse=True)
def address(monkeypatch):
    monkeypatch.setenv("BOOK_REPOSITORY", "https://github.com/Me/my-book")


def parsed(text):
    entries = parse_string(text, "bibtex").entries
    assert len(entries) == 1
    return next(iter(entries.values()))


def test_the_citation_file_has_what_the_format_demands_and_the_package_s_version():
    about = cite.citation()  # with title, authors, version and date
    assert (about["cff-version"], about["license"]) == ("1.2.0", "MIT") and about["message"]
    assert isinstance(about["date-released"], str)  # quoted: the format wants a text
    assert about["version"] == tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_the_book_s_entry_makes_no_address_up(monkeypatch):
    fields, about = parsed(cite.bibtex()).fields, cite.citation()
    assert (fields["title"], fields["url"]) == (about["title"], "https://me.github.io/my-book/")
    assert fields["year"] == about["date-released"][:4]
    monkeypatch.setenv("BOOK_REPOSITORY", "https://github.com/OWNER/my-book")
    assert "url" not in parsed(cite.bibtex()).fields
    assert "OWNER" not in generated.cite_page()


def test_hostile_texts_stay_texts():
    assert cite.latex(r"50% {of} \x & #1 $y_2$ ~ ^") == (
        r"50\% \textbraceleft{}of\textbraceright{} \textbackslash{}x \& \#1 \$y\_2\$ \textasciitilde{} \textasciicircum{}")


def test_the_page_has_the_book_each_chapter_and_the_licences():
    page = generated.cite_page()
    entries = [parsed(part.split("```")[0]) for part in page.split("```bibtex\n")[1:]]
    assert [entry.type for entry in entries] == ["book", *["incollection"] * len(chapters.names())]
    assert len({entry.key for entry in entries}) == len(entries)
    for name, entry in zip(chapters.names(), entries[1:], strict=True):
        assert f"(cite-{name})=" in page
        assert chapters.chapter(name).title in entry.fields["title"].replace("\\", "")
        assert entry.fields["url"].endswith(f"/chapters/{name}.html")
    for file, licence in (("LICENSE", "MIT"), ("LICENSE-TEXT", "CC BY 4.0"), ("LICENSE-DATA", "CC0 1.0")):
        assert licence in page and licence in (paths.ROOT / file).read_text()


@pytest.mark.parametrize(("text", "said"), [
    ("title: [", r"CITATION\.cff:1: no YAML"), ("title: a\ntitle: b", r"cff:2: no YAML.*twice"), ("title: a", "no authors"),
    ("", "no title")])
def test_a_mistake_in_the_citation_file_is_named(tmp_path, monkeypatch, text, said):
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    (tmp_path / "CITATION.cff").write_text(text)
    with pytest.raises(BadInput, match=said):
        cite.citation()
