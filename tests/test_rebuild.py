"""The second `book build`: over in a moment, and never so if anything has changed."""

import pytest

from helpers import paths
from press import chapters, commands, rebuild


@pytest.fixture
def book(places, tmp_path, monkeypatch):
    """A project whose one chapter reads the folder `data`; `builds` counts how often it was built."""
    edited = ("NOTEBOOKS", "PROFILES", "PUBLISHED", "RESULTS", "BENCH", "BOOK")
    places(*edited, "CHAPTERS", "GENERATED", "HTML", "ROOT")
    for name in edited:
        (getattr(paths, name) / "file.yaml").write_text("as it was")
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(chapters, "names", lambda: ["seeds"])
    monkeypatch.setattr(chapters, "resolve", lambda *_: {"collection": "data", "seeds": [1, 2]})

    def build(_, only):
        (tmp_path / "builds").mkdir(exist_ok=True)
        (tmp_path / "builds" / str(len(list((tmp_path / "builds").iterdir())))).touch()
        for file in (paths.HTML / "index.html", paths.BOOK / "_static" / "explorer" / "data.js"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("made")
        yield "seeds: run"

    monkeypatch.setattr(commands, "build", build)
    return tmp_path


def builds(book):
    """How often the book has been built after one more `book build`."""
    assert list(rebuild.build("mini")) in (["seeds: run"], ["seeds: up to date", "book: up to date"])
    return len(list((book / "builds").iterdir()))


@pytest.mark.parametrize("changed", [
    "profiles/file.yaml", "published/new.yaml", "results/step/run.gz", "data/qrels.tsv", "book/_toc.yml", "requirements.lock",
    "book/_build/html/index.html", "book/chapters/seeds.ipynb", "book/_static/explorer/data.js", ".git/HEAD"])
def test_any_file_that_changes_has_it_built_again(book, changed):
    assert [builds(book) for _ in range(2)] == [1, 1]
    (book / changed).parent.mkdir(parents=True, exist_ok=True)
    (book / changed).write_text("otherwise")
    assert builds(book) == 2
    assert builds(book) == 2


@pytest.mark.parametrize(("setting", "value"), [("BOOK_DTYPE", "fp32"), ("BOOK_FRESH", "1e12")])
def test_a_setting_has_it_built_again(book, monkeypatch, setting, value):
    builds(book)
    monkeypatch.setenv(setting, value)
    assert builds(book) == 2


def test_another_profile_has_it_built_again(book):
    builds(book)
    assert list(rebuild.build("almanac")) == ["seeds: run"]


def test_what_changes_while_the_book_is_built_has_it_built_again(book, monkeypatch):
    whole = commands.build

    def edited(profile, only):
        yield from whole(profile, only)
        (paths.NOTEBOOKS / "file.yaml").write_text("edited meanwhile")

    monkeypatch.setattr(commands, "build", edited)
    assert builds(book) == 1
    monkeypatch.setattr(commands, "build", whole)
    assert builds(book) == 2
    assert builds(book) == 2


@pytest.mark.parametrize("change", [lambda html: (html / "index.html").unlink(),
                                    lambda html: (html.parent / "built.json").write_text('{"sources": ')])
def test_a_page_that_is_gone_or_a_damaged_note_has_it_built_again(book, change):
    builds(book)
    change(paths.HTML)
    assert builds(book) == 2
