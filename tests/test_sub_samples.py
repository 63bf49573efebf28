"""The study's t-test over means of sub-samples, against scipy, against hand-computed values, and against simulation."""

import numpy as np
import pytest

from helpers.evaluation.all_pairs import divide, group_means, power, shift_of, significant_share, sub_sample_ps
from helpers.evaluation.significance import SEED

RNG = np.random.default_rng(4)


# ---- the division ----

@pytest.mark.parametrize("queries, groups", [(100, 10), (103, 10), (10, 10), (7, 2), (2, 2)])
def test_every_query_is_in_one_group_and_sizes_differ_by_one_at_most(queries, groups):
    sizes = np.bincount(divide(queries, groups))
    assert (len(sizes), sizes.sum()) == (groups, queries)
    assert sizes.max() - sizes.min() <= 1
    assert (divide(100) == divide(100)).all() and (divide(100, seed=1) != divide(100, seed=2)).any()


def test_group_means_by_hand():
    moved = np.array([[1.0, 0.0], [3.0, 0.5], [5.0, 1.0]])
    assert group_means(moved, np.array([0, 1, 0])).tolist() == [[3.0, 0.5], [3.0, 0.5]]


# ---- the test ----

def test_p_by_hand():
    # Three groups of one query: means 1, 2, 3, so t = 2 / (1 / sqrt(3)) with 2 degrees of freedom and
    # p = 1 - t / sqrt(2 + t^2) = 1 - sqrt(12 / 14), whatever the division.
    assert sub_sample_ps(np.array([[1.0], [2.0], [3.0]]), groups=3)[0] == pytest.approx(1 - (12 / 14) ** 0.5)


def test_equal_systems_have_p_1_and_a_constant_difference_p_0():
    result = sub_sample_ps(np.column_stack([np.zeros(30), np.full(30, 0.1), np.full(30, -0.1)]))
    assert result.tolist() == [1.0, 0.0, 0.0]


def test_one_pair_in_twenty_of_equal_systems_is_called_different():
    result = sub_sample_ps(RNG.normal(size=(200, 4000)))
    assert (result < 0.05).mean() == pytest.approx(0.05, abs=0.012)  # 3.5 standard deviations


# ---- how far the division decides ----


def test_the_share_counts_divisions():
    moved = np.random.default_rng(4).normal(0.2, 1, (120, 1))
    one_by_one = [sub_sample_ps(moved, 10, SEED + number)[0] < 0.05 for number in range(40)]
    assert 0 < np.mean(one_by_one) < 1  # a difference on which divisions disagree
    assert significant_share(moved, 10, divisions=40)[0] == np.mean(one_by_one)


# ---- power ----


@pytest.mark.parametrize("values, expected", [(10, 0.8), (1799, 0.8), (40, 0.5)])
def test_the_shift_has_the_wanted_power(values, expected):
    assert power(values, shift_of(values, expected)) == pytest.approx(expected)
