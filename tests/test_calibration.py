"""The simulation runs, what it promises holds roughly, and the page shows it."""

import numpy as np

from bench import verdicts
from helpers.pages.fragments import Fragment
from press import calibration
from tables import cells

REPETITIONS = 120


def test_rates_are_kept_and_a_test_over_queries_alone_does_not_keep_them():
    result = verdicts.row(np.random.default_rng(5), 2, 2, 100, 1.0, REPETITIONS)
    assert result["false"] <= 0.05 + 2 * 0.02  # two standard errors of a share of .05 in 120
    assert result["equal"] <= 0.05 + 2 * 0.02
    assert 0.70 < result["power"] < 0.90
    assert result["false_queries_alone"] > 0.08


def test_the_page_shows_each_experiment():
    line = {"seeds": [1, 0], "queries": 1800, "wider": 1.5, "detectable": 0.0712, "false": 0.031, "false_queries_alone": 0.24,
            "equal": 0.041, "power": 0.79}
    shown = calibration.text({"repetitions": 2000, "margin": 0.05, "components": {"seed": 0.0003, "query": 0.05, "rest": 0.01},
                              "rows": [line]})
    assert cells(Fragment(shown))[1] == ["1 seed and nothing trained, 1,800 queries, seeds scattering 1.5 times as much", "0.071",
                                         "0.031", "0.240", "0.041", "0.790"]
