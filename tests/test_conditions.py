"""Conditions of paragraphs: comparisons of evaluations, each seen to hold and not to hold."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from helpers.errors import BadInput
from helpers.pages import conditions
from helpers.pages.discussion import discussion
from helpers.systems.evaluated import Evaluation

NOISE = np.random.default_rng(0).normal(0, 0.2, 400)


def system(shift, noise=0.0):
    values = pd.DataFrame({"RR@10": 0.3 + shift + noise * NOISE, "R@10": 0.5 - shift}, index=[str(n) for n in range(400)])
    return Evaluation("any", pd.DataFrame(), values, SimpleNamespace(key="k"))


SYSTEMS = {"low": system(0.0), "high": system(0.2), "a_little": system(0.001, noise=1.0), "level": True, "steep": False}


@pytest.mark.parametrize(("text", "failed"), [
    ("high > low", []), ("low > high", ["low > high"]), ("low !> high", []), ("high !> low", ["high !> low"]),
    ("high >~ low", []), ("low >~ high", ["low >~ high"]),
    ("a_little > low", ["a_little > low"]), ("a_little !> low", []),
    ("high > low and low > high and high !> low", ["low > high", "high !> low"]),
    ("high > lost", ["high > lost"]), ("high !> lost", ["high !> lost"]),
    ("low !>~ high", []), ("high !>~ low", ["high !>~ low"]),
    ("high >~ low + .19", []), ("high >~ low + .21", ["high >~ low + .21"]), ("high > low + .21", ["high > low + .21"]),
    ("level and not steep", []), ("steep", ["steep"]), ("not level", ["not level"]), ("lost", ["lost"]),
    ("not lost", ["not lost"]),
    ("high > low in R@10", ["high > low in R@10"]), ("low > high in R@10", [])])
def test_a_condition_follows_the_interval_or_the_means(text, failed):
    assert conditions.failed(text, SYSTEMS, "RR@10") == failed


@pytest.mark.parametrize("text", ["", "high low", "high = low", "high > low, low > high", "__import__('os') > low"])
def test_what_is_no_comparison_is_an_error(text):
    with pytest.raises(BadInput, match="is no condition"):
        conditions.failed(text, SYSTEMS, "RR@10")


def test_a_paragraph_of_another_outcome_names_the_condition_that_failed(monkeypatch):
    paragraph = {"rests_on": {}, "when": "low > high and high > low", "text": "Why.\n"}
    monkeypatch.setattr("helpers.pages.discussion.paragraphs", lambda: {"any": [paragraph]})
    assert discussion("any", None, "RR@10", **SYSTEMS).markdown.endswith("another outcome of *low > high*.")
    other = SYSTEMS | {"low": SYSTEMS["high"], "high": SYSTEMS["low"]}
    assert "another outcome of *high > low*" in discussion("any", None, "RR@10", **other).markdown
