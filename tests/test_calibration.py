"""The simulation runs, what it promises holds roughly, and the page shows it."""

import numpy as np
import pytest

from bench import verdicts
from helpers.pages.fragments import Fragment
from press import generated
from tables import cells

REPETITIONS = 120


@pytest.mark.parametrize("paired", [False, True])
def test_rates_are_kept(paired):
    result = verdicts.row(np.random.default_rng(5), verdicts.Setting((2, 2), 100, verdicts.MUCH, paired), REPETITIONS)
    assert result["false"] <= 0.05 + 2 * 0.02  # two standard errors of a share of .05 in 120
    assert result["equal"] <= 0.05 + 2 * 0.02
    assert 0.70 < result["power"] < 0.90
    assert result["false_queries_alone"] > result["false"]


def test_the_page_shows_each_experiment():
    line = {"seeds": [1, 0], "queries": 1800, "scatter": 0.006, "paired": False, "wider": 1.5,
             "detectable": 0.0712, "false": 0.031, "false_queries_alone": 0.24,
            "equal": 0.041, "power": 0.79}
    shown = generated.calibration({"repetitions": 2000, "margin": 0.05,
                              "components": {"little": 0.006, "much": 0.018, "query": 0.05, "rest": 0.01},
                              "rows": [line]})
    assert cells(Fragment(shown))[1] == [
        "1 seed and nothing trained, 1,800 queries, scatter 0.006, 1.5 times as much as is known", "0.071", "0.031", "0.240",
        "0.041", "0.790"]
