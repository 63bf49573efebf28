"""Launch links lead to templates that are in the repository; their setup cell does nothing where the book is installed.
Citations: valid BibTeX for the book and each chapter."""

import json
import subprocess
import tomllib
import xml.etree.ElementTree as ElementTree

import pytest
from pybtex.database import parse_string

from dry_steps import write_template
from helpers import paths
from helpers.errors import BadInput
from press import chapters, cite, generated, launch, repository
from press.repository import Repository

KNOWN, UNKNOWN = ({"place": Repository(owner, "my-book", "main"), "pdf": None} for owner in ("me", repository.NOBODY))
MADE = {"pages": 9, "bytes": 100, "commit": "abc", "date": "2026-11-21"}
CONFIG = "title: x\n# kept\nrepository:\n  url: https://github.com/OWNER/x.git\n  branch: main\nz: 1\n"
TEMPLATES = chapters.templates()


def links_of(page, **known):
    """The links of the lines below a page's title, which are well-formed."""
    return [link.get("href") for link in ElementTree.fromstring(launch.lines_for(page, {**KNOWN, **known})).iter("a")]


def test_every_launch_link_opens_the_template_that_is_in_the_repository():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]  # with those whose commit is still to come
    listed = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=True).stdout
    assert {f"notebooks/{chapter}.ipynb" for chapter in TEMPLATES} <= set(listed.splitlines())
    for chapter in TEMPLATES:
        place = f"me/my-book/blob/main/notebooks/{chapter}.ipynb"
        assert links_of(f"chapters/{chapter}")[:3] == [
            f"https://mybinder.org/v2/gh/me/my-book/main?labpath=notebooks%2F{chapter}.ipynb",
            f"https://colab.research.google.com/github/{place}", f"https://github.com/{place}"]


def test_a_chapter_cites_itself_and_links_the_pdf_only_if_there_is_one():
    own = ["../generated/cite.html#cite-does-it-work"]
    assert links_of("chapters/does_it_work")[3:] == own
    assert links_of("chapters/does_it_work", pdf=MADE)[3:] == [*own, "../neural-ranking-reproduced.pdf"]
    assert links_of("index", pdf=MADE) == ["generated/cite.html", "neural-ranking-reproduced.pdf"]


def test_without_an_address_no_button_leads_elsewhere_and_no_page_speaks_of_it():
    text, known = (launch.lines_for("chapters/seeds", links) for links in (UNKNOWN, KNOWN))
    assert "mybinder" not in text and "colab.research" not in text and "github.com" not in text
    assert "make address" not in text + known and "mybinder" in known


@pytest.mark.parametrize(("remote", "owner"), [
    ("https://github.com/me/my-book.git", "me"), ("git@github.com:me/my-book.git", "me"),
    ("ssh://git@github.com/me/my-book", "me"), ("https://token@github.com/me/my-book", "me"),
    ("https://example.org/me/my-book", "set"), ("/srv/git/my-book", "set"),
    ("https://github.com/me/my-book/tree", "set"), (None, "set")])
def test_a_clone_of_a_public_repository_points_there_and_any_other_at_the_set_address(tmp_path, monkeypatch, remote, owner):
    monkeypatch.delenv("BOOK_REPOSITORY", raising=False)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    if remote:
        subprocess.run(["git", "remote", "add", "origin", remote], cwd=tmp_path, check=True)
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.setattr(repository, "configured", lambda: Repository("set", "my-book", "main"))
    assert repository.here() == Repository(owner, "my-book", "main")


@pytest.mark.parametrize("chapter", TEMPLATES)
def test_every_template_has_the_same_setup_cell_of_the_configured_address_below_its_title(chapter):
    cells, first = (json.loads(chapters.template(name).read_text())["cells"] for name in (chapter, TEMPLATES[0]))
    assert cells[1] == first[1] and f"{repository.configured().url} book" in "".join(first[1]["source"]), "run `make address`"
    assert ["setup" in cell["metadata"].get("tags", []) for cell in cells].count(True) == 1


def test_a_new_address_changes_one_line_and_every_setup_cell_once_and_a_wrong_one_nothing(places):
    places("BOOK", "NOTEBOOKS")
    config = paths.BOOK / "_config.yml"
    config.write_text(CONFIG)
    write_template("Über", "git clone https://github.com/OWNER/x book", "https://github.com/OWNER/xyz")
    assert repository.address("https://github.com/me/fork/").endswith("me/fork: 2 files changed")
    assert config.read_text() == (kept := CONFIG.replace("OWNER/x", "me/fork"))
    assert repository.address("").endswith("me/fork: 0 files changed")
    with pytest.raises(BadInput):
        repository.address("https://example.org/me/fork")
    assert config.read_text() == kept
    repository.address("https://github.com/you/other")
    text = (paths.NOTEBOOKS / "Über.ipynb").read_text()
    assert "git clone https://github.com/you/other book" in text and "OWNER/xyz" in text and "# Über" in text


def test_a_link_to_a_page_shows_its_title_and_where_it_is():
    shown = launch.preview("chapters/seeds", "How much does the <em>seed</em> matter? R&amp;D", KNOWN)
    assert '<meta property="og:title" content="How much does the seed matter? R&amp;D">' in shown
    assert '"og:url" content="https://me.github.io/my-book/chapters/seeds.html"' in shown
    assert "og:url" not in launch.preview("index", "Book", UNKNOWN)


def test_a_sitemap_needs_an_address(places, monkeypatch):
    places("HTML")
    monkeypatch.setenv("BOOK_REPOSITORY", "https://github.com/Me/my-book")
    for page in ("index", "chapters/seeds", "_static/frame"):
        (paths.HTML / f"{page}.html").parent.mkdir(exist_ok=True)
        (paths.HTML / f"{page}.html").touch()
    launch.write_sitemap()
    found = [one.text for one in ElementTree.parse(paths.HTML / "sitemap.xml").iter() if one.tag.endswith("}loc")]
    assert found == [f"https://me.github.io/my-book/{page}" for page in ("chapters/seeds.html", "index.html")]
    monkeypatch.setenv("BOOK_REPOSITORY", "https://github.com/OWNER/my-book")
    launch.write_sitemap()
    assert not (paths.HTML / "sitemap.xml").exists()


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
