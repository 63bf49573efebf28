"""The exercise of each chapter: its parameters and commands, and where its answer is shown."""

import re
import shlex

import pytest

from press import chapters, execute, page_header


@pytest.mark.parametrize("chapter", chapters.templates())
def test_each_chapter_has_an_exercise_that_changes_something_by_commands_as_a_shell_hands_them_on(chapter):
    assert execute.request(chapter, "almanac", page_header.changed(chapter)).changed == page_header.exercises()[chapter]["change"]
    given = re.findall(r"^make (?:explain|chapter) NAME=(\w+) ARGS=(.*?)   #", page_header.exercise(chapter, {}), re.M)
    assert [name for name, _ in given] == [chapter] * 2
    for _, arguments in given:
        (own,) = shlex.split(arguments)
        words = shlex.split(own)
        assert dict(zip(words[1::3], words[2::3], strict=True)) == page_header.changed(chapter)


def test_no_exercise_is_of_a_chapter_that_is_not_there():
    assert set(page_header.exercises()) == set(chapters.templates())
    assert page_header.exercise("nowhere", {}) == ""


def test_the_answer_is_folded_below_the_exercise_of_the_page_that_it_was_written_for():
    own = chapters.resolve("seeds", "almanac", {})
    text = page_header.exercise("seeds", own)
    assert text.index("make chapter") < text.index("<summary>What came out</summary>")
    assert "What came out" not in page_header.exercise("seeds", own | {"seeds": [9]})
