
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from helpers.evaluation.variance import Components, components, queries_needed, seeds_needed


def simulated(queries, seeds):
    """A table of values whose variances are .04 between seeds, .25 between queries, .09 of both together."""
    random = np.random.default_rng(7)
    columns, rows = random.normal(0, 0.2, seeds), random.normal(0, 0.5, (queries, 1))
    return pd.DataFrame(0.5 + columns + rows + random.normal(0, 0.3, (queries, seeds)))


# ---- components ----

def test_the_components_of_a_table_by_hand():
    # Means of the queries 1, 3, 8, of the seeds 3, 5, of all 4. Left over: 0, 0 / 1, -1 / -1, 1, whose squares sum to 4,
    # with 2 x 1 degrees of freedom: 2. The means of the queries vary by 13, those of the seeds by 2.
    parts = components(pd.DataFrame([[0, 2], [3, 3], [6, 10]]))
    assert parts.rest == pytest.approx(2)
    assert parts.query == pytest.approx(13 - 2 / 2)
    assert parts.seed == pytest.approx(2 - 2 / 3)
    assert (parts.queries, parts.seeds) == (3, 2)
    assert parts.p_of_seeds == pytest.approx(stats.ttest_rel([0, 3, 6], [2, 3, 10]).pvalue)  # of two seeds F is the square of t


@pytest.mark.parametrize("table, parts", [
    ([[1.0, 0.0], [0.0, 1.0]], (0.0, 0.0, 1.0)),  # means are equal: negative estimates are 0; the rest is 4 x 0.25 over one
    ([[0.0, 0.0], [1.0, 1.0]], (0.0, 0.5, 0.0))])
def test_what_does_not_vary_has_no_variance(table, parts):
    found = components(pd.DataFrame(table))
    assert (found.seed, found.query, found.rest) == parts
    assert found.p_of_seeds > 0.3


# ---- deviations of means ----

def test_the_deviations_of_a_mean_by_hand():
    parts = Components(seed=0.01, query=0.5, rest=0.3, seeds=4, queries=10)
    assert parts.seed_deviation == pytest.approx(0.2)  # sqrt(0.01 + 0.3 / 10)
    assert parts.query_deviation == pytest.approx(0.08 ** 0.5)  # sqrt((0.5 + 0.3) / 10)


def test_the_deviation_over_seeds_is_that_of_the_seeds_means():
    table = simulated(50, 6)  # whose estimates are all positive
    assert components(table).seed_deviation == pytest.approx(table.mean().std(ddof=1))


# ---- how many would settle it ----

@pytest.mark.parametrize("differences, needed", [  # 7.849 is the square of 1.959964 + 0.841621, z of .975 and of .8
    ([1, 0, 0, 0], 32),  # mean 1/4, variance 1/4: 4 x 7.849 = 31.4
    ([0.5, 0, 0.5, 0], 11),  # mean 1/4, variance 1/12: 4 / 3 x 7.849 = 10.5
    ([-1, 0, 0, 0], 32), ([0.1, 0.1, 0.1], 2), ([0.5, -0.5, 0.0], None), ([0.1, 0.2, -0.3], None)])  # never fewer than two
def test_queries_needed_by_hand(differences, needed):
    assert queries_needed(np.array(differences, dtype=float)) == needed


@pytest.mark.parametrize("difference, deviation, needed", [
    (0.01, 0.01, 16),  # 2 x 7.849 = 15.7
    (-0.01, 0.01, 16), (0.02, 0.01, 4),  # a quarter of it: 3.9
    (0.1, 0.01, 2), (0.1, 0.0, 2), (0.0, 0.01, None)])
def test_seeds_needed_by_hand(difference, deviation, needed):
    assert seeds_needed(difference, deviation) == needed


def test_so_many_queries_have_the_wanted_power():
    # The share of paired tests with p < 0.05 over samples of the needed size, for normal differences.
    random = np.random.default_rng(11)
    needed = queries_needed(0.1 + 0.5 * np.array([-1.0, 1.0] * 500))  # deviation 0.5: 7.849 x 25 = 196.2, so 197
    assert needed == 197
    samples = random.normal(0.1, 0.5, (4000, needed))
    assert (stats.ttest_1samp(samples, 0, axis=1).pvalue < 0.05).mean() == pytest.approx(0.8, abs=0.02)
