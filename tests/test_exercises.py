"""The exercise of each chapter: parameters that it has, values that are not the default ones, and commands that a shell takes."""

import re
import shlex

import pytest

from press import chapters, execute, exercises

every_chapter = pytest.mark.parametrize("chapter", chapters.templates())


@every_chapter
def test_each_chapter_has_an_exercise_that_changes_something(chapter):
    change = exercises.load()[chapter]["change"]
    page = execute.request(chapter, "almanac", exercises.given(chapter))
    assert page.changed == change


@every_chapter
def test_the_commands_are_what_a_shell_hands_on(chapter):
    given = re.findall(r"^make (?:explain|chapter) NAME=(\w+) ARGS=(.*?)   #", exercises.text(chapter), re.M)
    assert [name for name, _ in given] == [chapter] * 2
    for _, arguments in given:
        (own,) = shlex.split(arguments)
        words = shlex.split(own)
        assert dict(zip(words[1::3], words[2::3], strict=True)) == exercises.given(chapter)


def test_no_exercise_is_of_a_chapter_that_is_not_there():
    assert set(exercises.load()) == set(chapters.templates())
    assert exercises.text("nowhere") == ""
