"""What archives read of the rendered book names what the pages rest on."""

import json

import pytest

from dry_steps import write_page
from helpers import paths
from press import chapters, metadata


@pytest.fixture
def html(places, monkeypatch):
    places("CHAPTERS", "HTML")
    monkeypatch.setenv("BOOK_REPOSITORY", "https://github.com/Me/my-book")
    values = chapters.resolve("seeds", "mini", {})
    run = {"profile": "mini", "commit": "0123abcd4567", "date": "2026-11-21T10:00:00Z", "parameters": values}
    write_page("seeds", {"run": run})
    metadata.write()
    return paths.HTML


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
