"""All pairs: against the test of one pair, and by hand."""

import math
from dataclasses import astuple

import numpy as np
import pandas as pd
import pytest

from helpers.evaluation.all_pairs import (
    all_pairs,
    cohens_d,
    critical,
    differences,
    holm,
    permutation_ps,
    power,
    share_by_size,
    shift_of,
    sub_sample_ps,
)
from helpers.evaluation.significance import mean_interval, paired

RNG = np.random.default_rng(11)


def test_differences_are_those_of_every_pair_in_order():
    moved = differences(pd.DataFrame({"a": [3.0, 1.0], "b": [1.0, 1.0], "c": [0.0, 2.0]}))
    assert moved.tolist() == [[2.0, 3.0, 1.0], [0.0, -1.0, -1.0]]  # a - b, a - c, b - c


@pytest.mark.parametrize("values, d", [([1, 2, 3], 2.0), ([-1, -2, -3], -2.0), ([0, 0], 0.0), ([1, 1], math.inf),
                                       ([-1, -1], -math.inf), ([1, -1], 0.0)])
def test_cohens_d_by_hand(values, d):
    assert cohens_d(np.array(values, dtype=float)) == pytest.approx(d)


def test_p_is_never_zero_and_its_ties_count():
    clear = np.full((40, 1), 0.1)
    assert permutation_ps(clear)[0] == pytest.approx(1 / 20_001)
    tied = np.tile([0.1, 0.2, -0.3], 10)[:, None]  # mean zero but for rounding: every choice of signs is as extreme
    assert permutation_ps(tied)[0] == pytest.approx(1.0)


def test_two_systems_on_two_queries_are_enough():
    (pair,) = all_pairs(pd.DataFrame({"a": [1.0, 2.0], "b": [0.5, 1.0]})).itertuples()
    assert (pair.first, pair.second, pair.difference.mean, pair.holm) == ("a", "b", 0.75, pair.p)


def test_every_pair_has_its_interval_effect_and_corrected_p():
    values = pd.DataFrame(RNG.random((12, 3)), columns=["a", "b", "c"])
    result = all_pairs(values)
    assert list(zip(result["first"], result["second"], strict=True)) == [("a", "b"), ("a", "c"), ("b", "c")]
    for pair in result.itertuples():
        moved = (values[pair.first] - values[pair.second]).to_numpy()
        assert astuple(pair.difference) == pytest.approx(astuple(mean_interval(moved)))
        assert pair.d == cohens_d(moved)
        assert pair.p == paired(values[pair.first], values[pair.second]).p_permutation
    assert list(result["holm"]) == holm(list(result["p"]))


def test_more_queries_show_more_and_equal_systems_are_told_apart_by_chance_alone():
    rng = np.random.default_rng(1)
    moved = np.column_stack([rng.normal(0.2, 1.0, 2000), rng.normal(0.0, 1.0, 2000)])
    moved[:, 1] -= moved[:, 1].mean()
    shares = share_by_size(moved, [25, 100, 400])
    assert shares.shape == (3, 2) and (np.diff(shares[:, 0]) > 0.1).all() and shares[2, 0] > 0.9
    assert (np.abs(shares[:, 1] - 0.05) < 0.04).all()


def test_the_power_of_ten_pairs_is_the_tables():
    """A paired t-test of ten values at an effect of one standard deviation has a power of .803 (Cohen 1988; G*Power)."""
    assert critical(4) == pytest.approx(3.182, abs=5e-4)  # with three degrees of freedom
    assert power(10, 10 ** 0.5) == pytest.approx(0.803, abs=5e-4)
    assert shift_of(10, 0.803097) == pytest.approx(10 ** 0.5, abs=1e-3)


def test_the_p_of_sub_samples_has_one_degree_of_freedom_less_than_groups():
    # one query a group: a paired t-test of 1, 2, 3 by hand, see test_significance
    assert sub_sample_ps(np.array([[1.0], [2.0], [3.0]]), groups=3)[0] == pytest.approx(1 - (12 / 14) ** 0.5)
