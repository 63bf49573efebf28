import math

import numpy as np
import pandas as pd
import pytest

from helpers.evaluation.variance import Components, components, queries_needed, seeds_needed

Z = 1.959964 + 0.841621  # of 0.05 two-sided, and of a power of 0.8


def simulated(queries, seeds, seed=0.04, query=0.25, rest=0.09):
    """A table of values whose variances are known."""
    random = np.random.default_rng(7)
    columns = random.normal(0, math.sqrt(seed), seeds)
    rows = random.normal(0, math.sqrt(query), (queries, 1))
    return pd.DataFrame(0.5 + columns + rows + random.normal(0, math.sqrt(rest), (queries, seeds)))


# ---- components ----

def test_the_components_of_a_table_by_hand():
    # Means of the queries 1, 3, 8, of the seeds 3, 5, of all 4. Left over: 0, 0 / 1, -1 / -1, 1, whose squares sum to 4,
    # with 2 x 1 degrees of freedom: 2. The means of the queries vary by 13, those of the seeds by 2.
    parts = components(pd.DataFrame([[0, 2], [3, 3], [6, 10]]))
    assert parts.rest == pytest.approx(2)
    assert parts.query == pytest.approx(13 - 2 / 2)
    assert parts.seed == pytest.approx(2 - 2 / 3)
    assert (parts.queries, parts.seeds) == (3, 2)


def test_the_components_are_those_of_the_sums_of_squares_of_nested_regressions():
    queries, seeds = 7, 4
    table = np.random.default_rng(3).normal(size=(queries, seeds)) + np.arange(queries)[:, None] + np.arange(seeds)
    rows, columns = np.repeat(np.eye(queries), seeds, axis=0), np.tile(np.eye(seeds), (queries, 1))

    def left(*design):  # the sum of squares that a regression on these indicators leaves
        matrix = np.hstack([np.ones((queries * seeds, 1)), *design])
        fitted = matrix @ np.linalg.lstsq(matrix, table.ravel(), rcond=None)[0]
        return ((table.ravel() - fitted) ** 2).sum()

    rest = left(rows, columns) / ((queries - 1) * (seeds - 1))
    mean_squares = (left(columns) - left(rows, columns)) / (queries - 1), (left(rows) - left(rows, columns)) / (seeds - 1)
    parts = components(pd.DataFrame(table))
    assert parts.rest == pytest.approx(rest)
    assert parts.query == pytest.approx((mean_squares[0] - rest) / seeds)
    assert parts.seed == pytest.approx((mean_squares[1] - rest) / queries)


def test_the_components_of_a_simulation_are_its_variances():
    parts = components(simulated(queries=500, seeds=300))
    assert parts.seed == pytest.approx(0.04, rel=0.25)  # three standard errors: 3 sqrt(2 / 299)
    assert parts.query == pytest.approx(0.25, rel=0.2)  # 3 sqrt(2 / 499)
    assert parts.rest == pytest.approx(0.09, rel=0.02)


@pytest.mark.parametrize("name", ["seed", "query", "rest"])
def test_a_source_without_variance_is_found_to_have_little(name):
    assert getattr(components(simulated(500, 300, **{name: 0.0})), name) < 1e-3


def test_turning_the_table_swaps_seeds_and_queries():
    table = simulated(9, 4)
    one, other = components(table), components(table.T)
    assert (one.seed, one.query, one.rest) == pytest.approx((other.query, other.seed, other.rest))
    assert (one.seeds, one.queries) == (other.queries, other.seeds)


def test_negative_estimates_become_zero():
    # All means are 0.5, so nothing varies but seed and query together: 4 x 0.25 over one degree of freedom.
    parts = components(pd.DataFrame([[1.0, 0.0], [0.0, 1.0]]))
    assert (parts.seed, parts.query, parts.rest) == (0.0, 0.0, 1.0)


def test_equal_seeds_have_no_variance_but_that_of_the_queries():
    parts = components(pd.DataFrame([[0.0, 0.0], [1.0, 1.0]]))
    assert (parts.seed, parts.query, parts.rest) == (0.0, 0.5, 0.0)


@pytest.mark.parametrize("table, words", [([[1.0], [2.0]], "got 2 and 1"), ([[1.0, 2.0]], "got 1 and 2")])
def test_one_query_or_one_seed_is_refused(table, words):
    with pytest.raises(ValueError, match=f"at least two queries and two seeds are wanted, {words}"):
        components(pd.DataFrame(table))


# ---- deviations of means ----

def test_the_deviations_of_a_mean_by_hand():
    parts = Components(seed=0.01, query=0.5, rest=0.3, seeds=4, queries=10)
    assert parts.seed_deviation == pytest.approx(0.2)  # sqrt(0.01 + 0.3 / 10)
    assert parts.query_deviation == pytest.approx(0.08 ** 0.5)  # sqrt((0.5 + 0.3) / 10)


def test_the_deviation_over_seeds_is_that_of_the_seeds_means():
    table = simulated(50, 6)  # whose estimates are all positive
    assert components(table).seed_deviation == pytest.approx(table.mean().std(ddof=1))


def test_the_deviation_over_queries_is_about_the_standard_error_of_one_models_mean():
    table = simulated(500, 300)
    errors = table.std(ddof=1) / math.sqrt(500)
    assert components(table).query_deviation == pytest.approx(errors.mean(), rel=0.01)


# ---- how many would settle it ----

@pytest.mark.parametrize("differences, ratio, needed", [
    ([1, 0, 0, 0], 4, 32),  # mean 1/4, variance 1/4: 4 x 7.849 = 31.4
    ([0.5, 0, 0.5, 0], 4 / 3, 11),  # mean 1/4, variance 1/12: 10.5
    ([-1, 0, 0, 0], 4, 32)])
def test_queries_needed_by_hand(differences, ratio, needed):
    assert math.ceil(Z ** 2 * ratio) == needed
    assert queries_needed(np.array(differences, dtype=float)) == needed


@pytest.mark.parametrize("difference, deviation, needed", [
    (0.01, 0.01, 16),  # 2 x 7.849 = 15.7
    (-0.01, 0.01, 16), (0.02, 0.01, 4),  # a quarter of it: 3.9
    (0.1, 0.01, 2), (0.1, 0.0, 2)])  # never fewer than two
def test_seeds_needed_by_hand(difference, deviation, needed):
    assert max(2, math.ceil(2 * (Z * deviation / difference) ** 2)) == needed
    assert seeds_needed(difference, deviation) == needed


def test_no_number_settles_a_difference_of_zero():
    assert queries_needed(np.array([0.5, -0.5, 0.0])) is None
    assert seeds_needed(0.0, 0.01) is None


def test_so_many_queries_have_the_wanted_power():
    # The share of paired tests with p < 0.05 over samples of the needed size, for normal differences.
    from scipy import stats

    random = np.random.default_rng(11)
    needed = queries_needed(0.1 + 0.5 * np.array([-1.0, 1.0] * 500))  # deviation 0.5: 7.849 x 25 = 196.2, so 197
    assert needed == 197
    samples = random.normal(0.1, 0.5, (4000, needed))
    assert (stats.ttest_1samp(samples, 0, axis=1).pvalue < 0.05).mean() == pytest.approx(0.8, abs=0.02)


def test_a_mean_that_is_rounding_is_no_difference():
    assert queries_needed(np.array([0.1, 0.2, -0.3])) is None


def test_a_constant_difference_needs_two_queries():
    assert queries_needed(np.array([0.1, 0.1, 0.1])) == 2
