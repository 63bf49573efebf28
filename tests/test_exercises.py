"""The exercise of each chapter: its parameters and commands; what its answer keeps of the two pages, and where that is shown."""

import json
import re
import shlex

import nbformat
import pandas as pd
import pytest

from dry_steps import write_page
from helpers.pages.carried import System, packed
from helpers.pages.fragments import details, table
from press import answers, chapters, execute, exercises

RUN = {"profile": "almanac", "commit": "abc", "date": "2026-01-02T03:04:05Z", "seconds": 9.0, "changed": {"candidates": 10},
       "parameters": {"k": 5}}
BASIS = {"parameters": {"k": 5}, "systems": ["1"]}


@pytest.mark.parametrize("chapter", chapters.templates())
def test_each_chapter_has_an_exercise_that_changes_something_by_commands_as_a_shell_hands_them_on(chapter):
    assert execute.request(chapter, "almanac", exercises.given(chapter)).changed == exercises.load()[chapter]["change"]
    given = re.findall(r"^make (?:explain|chapter) NAME=(\w+) ARGS=(.*?)   #", exercises.text(chapter), re.M)
    assert [name for name, _ in given] == [chapter] * 2
    for _, arguments in given:
        (own,) = shlex.split(arguments)
        words = shlex.split(own)
        assert dict(zip(words[1::3], words[2::3], strict=True)) == exercises.given(chapter)


def test_no_exercise_is_of_a_chapter_that_is_not_there():
    assert set(exercises.load()) == set(chapters.templates())
    assert exercises.text("nowhere") == ""


# ---- answers ----

@pytest.fixture(autouse=True)
def own_pages(places):
    places("CHAPTERS")


def page_of(name, systems, tables=(), ledger=()):
    values = [System(label, key, pd.DataFrame({"RR@10": numbers}, index=pd.Index([f"q{n}" for n, _ in enumerate(numbers)])))
              for label, (key, numbers) in systems.items()]
    html = [details("folded", one).text if folded else one.text for one, folded in tables]
    cells = [nbformat.v4.new_code_cell(id=f"c{number}", outputs=[nbformat.v4.new_output("display_data", {"text/html": one})])
             for number, one in enumerate(html)]
    lines = [{"step": "bm25_run", "numerics": "exact", "key": key, "seconds": seconds} for key, seconds in ledger]
    return write_page(name, {"run": RUN}, {"ledger": lines, "evaluations": packed(values)}, cells=cells)


def test_systems_that_moved_and_new_ones_are_kept_with_the_time_of_the_steps_that_the_page_has_not():
    before = page_of("a", {"BM25": ("1", [0.5, 1]), "s": ("2", [0.2, 0.4])}, ledger=[("x", 100)])
    after = page_of("a--b", {"BM25": ("1", [0.5, 1]), "s": ("3", [0.4, 0.8]), "new": ("4", [1, 0])},
                    ledger=[("x", 100), ("y", 20.4), ("z", 1)])
    known = answers.kept(before, after)
    assert (known["seconds"], known["date"]) == (30, "2026-01-02")
    assert known["rests_on"] == {"parameters": {"k": 5}, "systems": ["1", "2"]}
    (only,) = known["shown"]
    assert "BM25" not in only
    assert all(text in only for text in (">s<", "0.300", "0.600", "+0.300", ">new<", "0.500"))


def test_where_no_system_moved_what_differs_is_kept():
    def made(name, number):
        tables = [(table("One", ("a", "b"), [["x", "same"]]), False), (table("Folded", ("a", "b"), [["x", number]]), True)]
        tables += [(table(f"Table {n}", ("a", "b"), [["x", f"{number}{n}"]]), False) for n in range(3)]
        return page_of(name, {"BM25": ("1", [0.5, 1])}, tables)

    before, after = made("a", "7"), made("a--b", "8")
    kept = answers.kept(before, after)["shown"]
    assert [text.count("<table") for text in kept] == [1, 1]
    assert ">80<" in kept[0] and ">81<" in kept[1]
    named, still = answers.kept(before, after, ["c4", "c0"])["shown"]  # c0 did not change, and is asked for
    assert ">82<" in named and ">same<" in still


@pytest.fixture
def answered(places):
    (places("BOOK") / "book" / "answers").mkdir()
    known = {"change": exercises.load()["seeds"]["change"], "commit": "abc", "date": "2026-01-02", "seconds": 75,
             "rests_on": BASIS, "shown": ["<table></table>"]}
    exercises.answer_file("seeds").write_text(json.dumps(known))
    return known


def test_an_answer_is_folded_below_the_exercise_of_a_page_that_rests_on_the_same_steps(answered):
    text = exercises.text("seeds", BASIS)
    assert text.index("make chapter") < text.index("<summary>What came out</summary>") < text.index("commit abc")


@pytest.mark.parametrize("other", [{"change": {"seeds": [9]}}, {"rests_on": BASIS | {"systems": ["other"]}},
                                   {"rests_on": BASIS | {"parameters": {"k": 6}}}])
def test_an_answer_of_another_exercise_or_for_another_page_is_not_shown(answered, other):
    exercises.answer_file("seeds").write_text(json.dumps(answered | other))
    assert "What came out" not in exercises.text("seeds", BASIS)
