"""Explaining a command: what would run and for how long, in words; nothing is run."""

import re
import sys

import pytest

import dry_steps
from dry_steps import write_page, write_template
from helpers import paths
from helpers.data.irds import IrDatasets
from helpers.steps import ledger
from press import cli, execute, explain

CELLS = ("from dry_steps_module import doubled, numbers, total", "value = total([doubled(numbers(count), times)]).value()")


@pytest.fixture
def book(steps_module, tmp_path, monkeypatch):
    """A book of two chapters, `first` and `second`, and the profile `almanac`, with an empty store."""
    monkeypatch.setattr(ledger, "commit", lambda: "abc")
    (paths.PROFILES / "almanac.yaml").write_text("shared: {}\n")
    (paths.BOOK / "_toc.yml").write_text("parts: [{chapters: [{file: chapters/first}, {file: chapters/second}]}]")
    for name in ("first", "second"):
        write_template(name, *CELLS)
    return tmp_path


def compute(count=3, times=2):
    made = sys.modules["dry_steps_module"]
    made.total([made.doubled(made.numbers(count), times)]).value()


def executed(name, chapter="first", seconds=0.0, ledger=(), stamp=True):
    """A page as its execution would leave it."""
    page = execute.request(chapter, "almanac", {})
    run = {"profile": "almanac", "parameters": page.values, "commit": "abc", "date": "", "seconds": seconds}
    write_page(name, {"run": run}, {"ledger": list(ledger)})
    if stamp:
        (paths.CHAPTERS / f"{name}.stamp").write_text(execute.fingerprint(chapter, page.values, "almanac"))


def shown(name="first", **given):
    return explain.text(explain.plan(name, "almanac", given))


def test_a_changed_parameter_names_steps_and_pages(book):
    compute()
    assert "to compute 0, stored 1, recorded 0" in shown("second")
    text = shown(times="5")
    assert "times = 5, baseline 2" in text
    assert "to compute 2, stored 1" in text
    name = execute.request("first", "almanac", {"times": "5"}).name
    assert f"pages: {name}, {name}--compared; the baseline page first has not been executed" in text


def test_a_page_that_is_current_is_not_looked_into_and_one_that_is_out_of_date_would_run(book, monkeypatch):
    executed("first")
    with monkeypatch.context() as blind:
        blind.setattr(explain.dry_run, "of_chapter", None)
        assert shown().startswith("first: up to date, nothing would run")
    write_template("first", *CELLS, "more = 1")
    assert "would run" in shown()
    executed("second", "second", stamp=False)
    assert "would run" in shown("second")


def test_with_everything_fresh_a_current_page_would_run(book, monkeypatch):
    compute()
    executed("first")
    monkeypatch.setenv("BOOK_FRESH", "99999999999")
    text = shown()
    assert "to compute 3" in text
    assert "replaced" not in text  # each step's own old value stands in for it


def test_an_incomplete_list_says_so_and_values_that_stand_in_are_counted(book):
    write_template("first", CELLS[0], "a = total([numbers(1)]).value()", "b = doubled(a).value()")
    text = shown()
    assert "incomplete" in text
    assert "b = doubled(a).value(): needs a" in text
    compute()
    assert "incomplete" not in shown("second")
    assert "missing values replaced by those of similar steps to see what follows: 1;" in shown("second", times="5")


@pytest.mark.parametrize(("costs", "expected"), [
    ([], "0.0 s"), ([None], "1 unknown"), ([5.0], "5.0 s"), ([5.0, None, None], "5.0 s and 2 unknown"), ([20.0, 30.0], "50 s")])
def test_totals(costs, expected):
    assert explain.total(costs) == expected


def test_the_whole_book_counts_shared_steps_once_and_nothing_is_computed_or_written(book):
    before = sorted(book.rglob("*"))
    text = explain.whole_book("almanac")
    assert sorted(book.rglob("*")) == before and dry_steps.COMPUTED == []
    assert [line.split()[:2] for line in text.splitlines()[1:3]] == [["first", "would"], ["second", "would"]]
    assert "each step once: 3 to compute, expected 3 unknown" in text
    assert text.count("3 unknown+") == 2


def test_a_chapter_that_cannot_be_told_leaves_the_others(book):
    write_template("first", "raise_it = 1 / 0")
    compute()
    lines = explain.whole_book("almanac").splitlines()
    assert "cannot be told" in lines[1]
    assert lines[2].split()[:5] == ["second", "would", "run", "0", "1"]
    assert "each step once: 0 to compute" in lines[-1]


def test_the_command_explains_the_book_and_parameters_of_one_chapter_alone(book, capsys):
    compute()
    assert cli.main(["explain", "--profile", "almanac"]) == 0
    assert "all chapters, each step once" in capsys.readouterr().out
    assert cli.main(["explain", "-p", "times", "5"]) == 2
    assert "parameters belong to one chapter" in capsys.readouterr().err


def test_parameters_that_are_the_baselines_make_no_variant(book):
    assert execute.request("first", "almanac", {"times": "2"}).name == "first"
    given = ({"times": "5"}, {"times": "6"}, {"times": "5", "count": "3"})
    names = {execute.request("first", "almanac", options).name for options in given}
    assert len(names) == 2
    assert all(name.startswith("first--") for name in names)


# at the studies' own scale

AT_SCALE = ("from helpers.systems.testbed import Testbed",
            'run = Testbed(collection, "passage", queries=4).bm25(0.9, 0.4, 100).value()')


def test_every_large_collection_of_the_profile_is_known_with_ir_datasets_own_count():
    profile, known = (paths.PROFILES / "msmarco.yaml").read_text(), paths.listed(paths.PUBLISHED / "scale.yaml")["collections"]
    assert set(re.findall(r'"(irds:[^"\[]+)', profile)) <= set(known)
    counts = {name: IrDatasets(name)._dataset.metadata()["docs"]["count"] for name in known}
    assert counts == known


def test_what_is_not_fetched_is_named(steps_module, monkeypatch):
    (paths.BOOK / "_toc.yml").write_text("parts: [{chapters: [{file: chapters/one}, {file: chapters/small}]}]")
    (paths.PROFILES / "large.yaml").write_text("chapters: {one: {collection: 'irds:msmarco-passage'}}")
    for name in ("one", "small"):
        write_template(name, *AT_SCALE, parameters='collection: str = "almanac"  # what')
    one, book = explain.text(explain.plan("one", "large", {})), explain.whole_book("large")
    assert "not known before these are here: irds:msmarco-passage;" in one
    assert "would run, with irds:msmarco-passage" in book
    assert "all chapters, each step once: 4 to compute, expected 4 unknown" in book
