"""The simulation runs, what it promises holds roughly, and the page shows it."""

import numpy as np
import pytest

from bench import verdicts

REPETITIONS = 120


@pytest.mark.parametrize("paired", [False, True])
def test_rates_are_kept(paired):
    result = verdicts.row(np.random.default_rng(5), verdicts.Setting((2, 2), 100, verdicts.MUCH, paired), REPETITIONS)
    assert result["false"] <= 0.05 + 2 * 0.02  # two standard errors of a share of .05 in 120
    assert result["equal"] <= 0.05 + 2 * 0.02
    assert 0.70 < result["power"] < 0.90
    assert result["false_queries_alone"] > result["false"]
