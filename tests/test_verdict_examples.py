"""Each drawn example leads to the word beside it, by the book's own rule."""

import math

import pytest

from helpers.evaluation.significance import Interval, Paired
from helpers.evaluation.verdicts import HIGHER, UNTESTED, WORDS, judge
from helpers.pages.fragments import Fragment
from press import generated
from tables import cells


@pytest.mark.parametrize("word", [word for word in WORDS if word != UNTESTED])
def test_an_interval_leads_to_its_word(word):
    whole, _ = generated.EXAMPLES[word]
    narrow = Interval(whole.mean, *(whole.mean + (end - whole.mean) * 1.645 / 1.96 for end in (whole.low, whole.high)))
    assert judge(HIGHER, Paired(whole, narrow, math.nan, math.nan, 400, 0.01), generated.MARGIN) == word


def test_all_five_words_are_drawn_with_their_numbers_for_those_who_do_not_see():
    shown = generated.examples()
    assert [row[1] for row in cells(Fragment(shown))[1:]] == list(WORDS)
    assert "A difference of +0.060 with its interval [+0.030, +0.090]" in shown and "nothing was measured" in shown
