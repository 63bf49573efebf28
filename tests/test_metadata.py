"""What archives and search engines read of the rendered book is well-formed, and names what the pages rest on."""

import json
from xml.etree import ElementTree

import pytest

from dry_steps import write_page
from helpers import paths
from press import chapters, cite, metadata


@pytest.fixture
def html(places, monkeypatch):
    places("CHAPTERS", "HTML")
    monkeypatch.setenv("BOOK_REPOSITORY", "https://github.com/Me/my-book")
    values = chapters.resolve("seeds", "mini", {})
    run = {"profile": "mini", "commit": "0123abcd4567", "date": "2026-11-21T10:00:00Z", "parameters": values}
    write_page("seeds", {"run": run})
    (paths.HTML / "chapters").mkdir()
    for page in ("index", "chapters/seeds", "_static/frame"):
        (paths.HTML / f"{page}.html").parent.mkdir(exist_ok=True)
        (paths.HTML / f"{page}.html").touch()
    metadata.write()
    return paths.HTML


def test_the_book_is_described_as_software(html):
    said, about = json.loads((html / "codemeta.json").read_text()), cite.citation()
    assert (said["name"], said["version"]) == (about["title"], about["version"])
    assert said["codeRepository"] == "https://github.com/Me/my-book"


def test_a_crate_names_each_page_the_run_that_made_it_and_its_parameters(html):
    crate = {one["@id"]: one for one in json.loads((html / metadata.CRATE).read_text())["@graph"]}
    run, values = crate["#run-seeds"], chapters.resolve("seeds", "mini", {})
    assert crate["./"]["hasPart"] == [run["result"]] == [{"@id": "chapters/seeds.html"}]
    assert crate[run["instrument"]["@id"]]["version"] == "0123abcd4567"
    assert {crate[one["@id"]]["name"]: json.loads(crate[one["@id"]]["value"]) for one in run["object"]} == values
    fields = [field for one in crate.values() for field in one.values()]
    named = [own["@id"] for field in fields for own in (field if isinstance(field, list) else [field])
             if isinstance(own, dict) and set(own) == {"@id"} and not own["@id"].startswith("https://")]
    assert set(named) <= set(crate)  # nothing is named that the crate does not describe


def test_a_sitemap_needs_an_address(html, monkeypatch):
    places = [one.text for one in ElementTree.parse(html / "sitemap.xml").iter() if one.tag.endswith("}loc")]
    assert places == [f"https://me.github.io/my-book/{page}" for page in ("chapters/seeds.html", "index.html")]
    monkeypatch.setenv("BOOK_REPOSITORY", "https://github.com/OWNER/my-book")
    metadata.write()
    assert not (html / "sitemap.xml").exists()
