"""Citations: valid BibTeX for the book, each chapter and each run, and a run that can be computed again from what it says."""

import shlex
import tomllib
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from pybtex.database import parse_string

from dry_steps import write_page
from helpers import paths
from helpers.errors import BadInput
from helpers.steps.recipe import canonical, sha256
from press import chapters, cite, generated

RUN = {"profile": "mini", "commit": "0123abcd4567+", "date": "2026-11-21T10:00:00Z"}


@pytest.fixture(autouse=True)
def address(monkeypatch):
    monkeypatch.setenv("BOOK_REPOSITORY", "https://github.com/Me/my-book")


def run_of(chapter, **changed):
    return {**RUN, "parameters": {**chapters.resolve(chapter, "mini", {}), **changed}}


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


@pytest.mark.parametrize("chapter", chapters.templates())
def test_every_chapter_and_every_run_has_a_valid_entry_that_names_it(chapter):
    entry, run, known = parsed(cite.bibtex(chapter)), run_of(chapter), chapters.schema(chapter)
    assert chapters.chapter(chapter).title in entry.fields["title"].replace("\\", "")
    assert entry.fields["url"].endswith(f"/chapters/{chapter}.html")
    note = parsed(cite.bibtex(chapter, run)).fields["note"]
    changed = [cite.latex(name) for name, value in run["parameters"].items() if value != known[name].default]
    assert all(text in note for text in ("profile mini", RUN["commit"], sha256(canonical(run["parameters"]))[:10], *changed))


@pytest.mark.parametrize(("changed", "said"), [({"epochs": 99}, ": epochs = 99; all others as the chapter declares them"),
                                               ({}, ": all as the chapter declares them")])
def test_a_run_says_its_date_and_only_the_parameters_that_were_changed(changed, said):
    defaults = {name: parameter.default for name, parameter in chapters.schema("seeds").items()}
    assert parsed(cite.bibtex("seeds", {**RUN, "parameters": {**defaults, **changed}})).fields["note"].endswith(
        f"{said}; run on 2026-11-21")


def test_a_variant_has_a_key_and_an_address_of_its_own():
    one, other = (cite.bibtex(name, run_of("seeds", epochs=n)) for name, n in (("seeds", 1), ("seeds--12ab34", 7)))
    assert parse_string(one, "bibtex").entries.keys() != parse_string(other, "bibtex").entries.keys()
    assert parsed(other).fields["url"].endswith("/chapters/seeds--12ab34.html")


def test_hostile_texts_stay_texts():
    text = r"50% {of} \x & #1 $y_2$ ~ ^"
    assert cite.latex(text) == (r"50\% \textbraceleft{}of\textbraceright{} \textbackslash{}x \& \#1 \$y\_2\$ "
                                r"\textasciitilde{} \textasciicircum{}")
    entry = parsed(cite.bibtex("seeds", run_of("seeds", backbone="a}, title = {b% #_")))
    assert entry.fields["title"].startswith(f"{{{chapters.chapter('seeds').title}}}")
    assert r"\textbraceright{}, title = \textbraceleft{}b\% \#\_" in entry.fields["note"]


def test_the_command_computes_the_run_again():
    run = run_of("seeds", seeds=[1, 7], collection="a b's")
    lines = cite.command("seeds--12ab34", run).splitlines()
    assert lines[0] == "git checkout 0123abcd4567"
    words = shlex.split(lines[-1])
    assert words[:3] == [".venv/bin/book", "chapter", "seeds"]
    given = {words[n + 1]: words[n + 2] for n, word in enumerate(words) if word == "-p"}
    assert set(given) == {"seeds", "collection"}
    assert chapters.resolve("seeds", words[words.index("--profile") + 1], given) == run["parameters"]


def test_the_page_has_the_book_each_chapter_each_run_and_the_licences(places):
    places("CHAPTERS")
    write_page("seeds", {"run": run_of("seeds")})
    write_page("seeds--12ab34", {"run": run_of("seeds", epochs=7)})
    write_page("grid")
    page = generated.cite_page()
    blocks = [part.split("```")[0] for part in page.split("```bibtex\n")[1:]]
    assert [parsed(block).type for block in blocks].count("incollection") == len(chapters.names())
    assert [parsed(block).type for block in blocks].count("misc") == 2  # a page that keeps no run has none
    assert len({key for block in blocks for key in parse_string(block, "bibtex").entries}) == len(blocks)
    for name in chapters.names():
        assert f"(cite-{name})=" in page
    assert "The variant `seeds--12ab34`" in page
    assert page.count("git checkout") == 2
    for file, licence in (("LICENSE", "MIT"), ("LICENSE-TEXT", "CC BY 4.0"), ("LICENSE-DATA", "CC0 1.0")):
        assert licence in page and licence in (paths.ROOT / file).read_text()


def test_no_parameter_closes_the_block_that_it_stands_in():
    text = cite.command("collection", run_of("collection", collection="x\n```\n\n````\n```{include} /etc/passwd\n```"))
    (block,) = MarkdownIt().parse(cite.block("bash", text))
    assert (block.type, block.info, block.content) == ("fence", "bash", f"{text}\n")


@pytest.mark.parametrize(("text", "said"), [
    ("title: [", r"CITATION\.cff:1: no YAML"), ("title: a\ntitle: b", r"cff:2: no YAML.*twice"), ("title: a", "no authors"),
    ("", "no title")])
def test_a_mistake_in_the_citation_file_is_named(tmp_path, monkeypatch, text, said):
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    (tmp_path / "CITATION.cff").write_text(text)
    with pytest.raises(BadInput, match=said):
        cite.citation()


def test_a_sitemap_needs_an_address(places, monkeypatch):
    places("HTML")
    for page in ("index", "chapters/seeds", "_static/frame"):
        (paths.HTML / f"{page}.html").parent.mkdir(exist_ok=True)
        (paths.HTML / f"{page}.html").touch()
    cite.write_sitemap()
    found = [one.text for one in ElementTree.parse(paths.HTML / "sitemap.xml").iter() if one.tag.endswith("}loc")]
    assert found == [f"https://me.github.io/my-book/{page}" for page in ("chapters/seeds.html", "index.html")]
    monkeypatch.setenv("BOOK_REPOSITORY", "https://github.com/OWNER/my-book")
    cite.write_sitemap()
    assert not (paths.HTML / "sitemap.xml").exists()
