"""Comparisons of all pairs of systems, and of ranks."""

import math
from dataclasses import astuple, replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from helpers.evaluation import rank_correlation as rc
from helpers.evaluation import significance
from helpers.evaluation.significance import Interval, all_pairs, cohens_d, holm, mean_interval, paired, permutation_ps, unpaired
from helpers.systems.starting_points import correlations
from toys import Value

OURS = [0.50, 1.00, 0.33, 0.25, 1.00, 0.00, 0.50, 0.20]
THEIRS = [0.33, 0.50, 0.50, 0.20, 0.10, 0.00, 0.10, 0.25]
EIGHT = np.array([0.17, 0.5, -0.17, 0.05, 0.9, -0.3, 0.4, -0.05])


def enumerated(differences):
    """Two-sided p by all 2^n choices of signs: the share whose mean is at least as far from zero."""
    means = [abs(np.mean(np.array(signs) * differences)) for signs in product((1, -1), repeat=len(differences))]
    return np.mean(np.array(means) >= abs(np.mean(differences)) - 1e-12)


# ---- p-values ----

def test_p_t_is_scipys_paired_t_test():
    comparison = paired(OURS, THEIRS)
    assert comparison.p_t == pytest.approx(stats.ttest_rel(OURS, THEIRS).pvalue)
    assert comparison.queries == (8,) and comparison.difference.mean == pytest.approx(np.mean(OURS) - np.mean(THEIRS))


@pytest.mark.parametrize("differences, p", [
    (EIGHT, enumerated(EIGHT)), (np.concatenate([EIGHT, np.zeros(50)]), enumerated(EIGHT)),  # zeros have no sign
    (np.arange(1.0, 17.0), 2 / 2**16),  # only the two choices with all signs alike reach the mean
    (np.array([0.25, 0.0, 0.0]), 1.0),  # one difference: both choices of its sign are equally far from zero
    (np.array([0.5, 0.5]), 0.5), (np.array([0.5, 0.5, 0.5]), 0.25)])  # two of 2^n choices
def test_the_permutation_p_of_few_differences_is_exact(differences, p):
    assert permutation_ps(differences[:, None])[0] == pytest.approx(p)
    assert paired(differences, np.zeros(len(differences))).p_permutation == pytest.approx(p)


@pytest.mark.parametrize("shift, p_t", [(0.0, 1.0), (0.5, 0.0)])  # without spread t is infinite
def test_a_constant_difference_has_an_interval_without_width(shift, p_t):
    comparison = paired(np.array([1.0, 2.0, 3.0]) + shift, [1.0, 2.0, 3.0])
    assert (comparison.p_t, comparison.difference) == (p_t, Interval(shift, shift, shift))
    assert mean_interval([shift] * 3) == mean_interval([shift]) == Interval(shift, shift, shift)


def test_the_drawn_p_is_near_the_t_test_for_normal_differences():
    differences = np.random.default_rng(5).normal(0.2, 1.0, 100)
    comparison = paired(differences, np.zeros(100))
    assert comparison.p_permutation == pytest.approx(comparison.p_t, abs=0.01)  # both near 0.1; 100,000 draws err by 0.001


# ---- intervals ----

@pytest.mark.parametrize("values", [OURS, THEIRS, EIGHT, [0.0, 1.0], [0.0] * 99 + [1.0]])
def test_the_interval_contains_the_mean(values):
    interval = mean_interval(values)
    assert min(values) <= interval.low <= interval.mean <= interval.high <= max(values)
    assert interval.mean == pytest.approx(np.mean(values))


def test_the_interval_of_many_values_is_that_of_the_normal_distribution():
    values = np.random.default_rng(3).normal(0.5, 0.1, 400)
    interval, half = mean_interval(values), 1.96 * np.std(values) / 20  # 20 = sqrt(400)
    assert (interval.low, interval.high) == pytest.approx((interval.mean - half, interval.mean + half), abs=half / 10)


# ---- two groups of queries ----

def test_the_permutation_p_of_two_groups_by_hand():
    # Of the 10 ways to choose 2 of the 5 values the seen one alone has a difference as large; the test is two-sided,
    # and scipy doubles the smaller tail: 2 / 10.
    comparison = unpaired([4.0, 5.0], [1.0, 2.0, 3.0])
    assert (comparison.p_permutation, comparison.difference.mean) == (pytest.approx(0.2), pytest.approx(2.5))
    assert (comparison.queries, comparison.error) == ((2, 3), pytest.approx((0.5 / 2 + 1 / 3)**0.5))


def test_the_interval_of_two_large_groups_is_that_of_the_normal_distribution():
    rng = np.random.default_rng(8)
    first, second = rng.normal(0.6, 0.2, 300), rng.normal(0.5, 0.3, 200)
    comparison, half = unpaired(first, second), 1.96 * np.sqrt(first.var() / 300 + second.var() / 200)
    assert (comparison.difference.low, comparison.difference.high) == pytest.approx(
        (comparison.difference.mean - half, comparison.difference.mean + half), abs=half / 10)


@pytest.mark.parametrize("first, second, p, shift", [([0.1] * 7, [0.1] * 4, 1.0, 0.0), ([1.0, 1.0], [0.0, 0.0], 2 / 6, 1.0),
                                                     ([1.0] * 20, [0.0] * 20, 2 / 20_001, 1.0)])
def test_groups_without_spread_have_an_interval_without_width(first, second, p, shift):
    comparison = unpaired(first, second)
    assert (comparison.p_permutation, comparison.difference.mean) == (pytest.approx(p), pytest.approx(shift))
    assert comparison.difference.low == comparison.difference.mean == comparison.difference.high
    assert unpaired(first, [0.0, 1.0] * 4).difference.low < 0.3  # one group without spread: not so


@pytest.mark.parametrize("resamples", [20, 2_000, 2_500])
def test_every_bootstrap_sample_has_as_many_queries_as_there_are(resamples):
    counts = significance.sample_counts(7, resamples, seed=1)
    assert counts.shape == (resamples, 7) and set(counts.sum(axis=1)) == {7}
    assert set(significance.first_groups(7, 3, resamples).sum(axis=1)) == {3}


def test_a_sample_scatters_as_the_mean_does():
    # of 1 and -1 a sample's mean is 1, 0 or -1: variance 1/2, times 2 / (2 - 1) that of the mean, whose values have 2
    draws = significance.bootstrap_draws(np.array([[1.0], [-1.0]]))
    assert np.unique(draws.round(6)).tolist() == [-1.414214, 0, 1.414214] and draws.var() == pytest.approx(1, abs=0.05)


def test_what_is_detectable_is_so_with_a_power_of_eighty_per_cent():
    comparison = paired(np.tile([1.0, -1.0], 200), np.zeros(400))
    assert comparison.freedom == pytest.approx(399)
    assert comparison.detectable == pytest.approx((1.960 + 0.842) / 20, rel=0.02)  # z of .975 and of .8, a standard error of .05
    shared = replace(comparison, queries=(11,), error=0.2, noise=significance.TrainingNoise(0.01, 5))  # a quarter is trainings'
    assert shared.freedom == pytest.approx(1 / (0.75**2 / 10 + 0.25**2 / 5))
    assert replace(shared, error=0.0).freedom == pytest.approx(10)


@pytest.mark.parametrize("values, d", [([2, 4, 6], 2.0), ([-2, -4, -6], -2.0), ([0, 0], 0.0), ([1, 1], math.inf),
                                       ([-1, -1], -math.inf), ([1, -1], 0.0)])
def test_cohens_d_by_hand(values, d):
    assert cohens_d(np.array(values, dtype=float)) == pytest.approx(d)


def test_p_is_never_zero_and_its_ties_count():
    clear = np.full((40, 1), 0.1)
    assert permutation_ps(clear)[0] == pytest.approx(1 / 20_001)
    tied = np.tile([0.1, 0.2, -0.3], 10)[:, None]  # mean zero but for rounding: every choice of signs is as extreme
    assert permutation_ps(tied)[0] == pytest.approx(1.0)


def test_every_pair_has_its_interval_effect_and_corrected_p():
    values = pd.DataFrame(np.random.default_rng(11).random((12, 3)), columns=["a", "b", "c"])
    result = all_pairs(values)
    assert list(zip(result["first"], result["second"], strict=True)) == [("a", "b"), ("a", "c"), ("b", "c")]
    for pair in result.itertuples():
        moved = (values[pair.first] - values[pair.second]).to_numpy()
        assert astuple(pair.difference) == pytest.approx(astuple(mean_interval(moved)))
        assert pair.d == cohens_d(moved)
        assert pair.p == paired(values[pair.first], values[pair.second]).p_permutation
    assert list(result["holm"]) == holm(list(result["p"]))
    (pair,) = all_pairs(pd.DataFrame({"a": [1.0, 2.0], "b": [0.5, 1.0]})).itertuples()  # two on two queries are enough
    assert (pair.difference.mean, pair.holm) == (0.75, pair.p)


# ---- correlations of ranks ----

def test_rho_by_hand():
    poor, truth = np.array([10.0, 20, 40, 30]), np.array([1.0, 2, 3, 4])
    assert rc.rho(poor, truth) == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert rc.rho(np.ones(3), truth[:3]) == 0 and rc.rho(poor[:2], truth[:2]) == pytest.approx(1)
    found = rc.compared([truth], [poor], truth, np.array([0.2, 0.4, 0.6]))  # rho 1 and .8: one standard error of .2
    assert [found[name] for name in ("difference", "low", "high", "p_t")] == pytest.approx([0.2, 0.21, 0.59, 0.3173], abs=1e-4)
    assert rc.compared([poor], [poor], truth, np.zeros(3)) == dict.fromkeys(found, 0.0) | {"p_t": 1.0, "p_permutation": 1.0}


def test_bootstrap_samples_are_ranked_anew():
    generator = np.random.default_rng(4)
    truth, predicted = generator.random(30), generator.random(30)
    draws = generator.integers(30, size=(5, 30))
    expected = [stats.spearmanr(predicted[row], truth[row]).statistic for row in draws]
    assert rc.resampled([predicted], truth, draws) == pytest.approx(expected)


def test_exchanging_ranks_agrees_with_all_exchanges():
    generator = np.random.default_rng(5)
    truth = generator.random(8)
    first, second = truth + 0.3 * generator.random(8), generator.random(8)
    a, b, t = (stats.rankdata(values) for values in (first, second, truth))

    def difference(flips):
        return np.corrcoef(np.where(flips, b, a), t)[0, 1] - np.corrcoef(np.where(flips, a, b), t)[0, 1]

    every = [difference(np.array([n >> place & 1 for place in range(8)], dtype=bool)) for n in range(256)]
    exact = np.mean(np.abs(every) >= abs(every[0]) - 1e-12)
    assert rc.permutation_p([first], [second], truth) == pytest.approx(exact, abs=0.02)


@pytest.fixture
def facts():
    generator = np.random.default_rng(7)
    truth = pd.DataFrame({"pair_id": [f"p{n}" for n in range(60)], "score": generator.integers(6, size=60).astype(float)})

    def seed(noise):
        texts = truth["score"] + noise * generator.normal(size=60)
        frame = truth[["pair_id"]].assign(predicted=texts).sample(frac=1, random_state=1)
        return [frame[:20], frame[20:]]  # two folds, in another order

    return truth, {"good": [seed(0.5), seed(0.5)], "poor": [seed(9), seed(9)]}


def test_folds_are_joined_and_compared(facts):
    truth, predicted = facts
    correlations = rc.rank_correlations.definition.function(predicted, truth)
    by_hand = [stats.spearmanr(pd.concat(folds).set_index("pair_id")["predicted"].loc[truth["pair_id"]], truth["score"]).statistic
               for folds in predicted["good"]]
    assert correlations["systems"]["good"]["seeds"] == pytest.approx(by_hand)
    assert correlations["systems"]["good"]["mean"] == pytest.approx(np.mean(by_hand))
    there, back = correlations["against"]["good"]["poor"], correlations["against"]["poor"]["good"]
    assert there["difference"] == pytest.approx(-back["difference"]) and there["low"] == pytest.approx(-back["high"])
    assert there["low"] > 0 and there["p_permutation"] < 0.01 and there["p_t"] < 0.01


def test_predictions_must_cover_all_pairs_once(facts):
    truth, predicted = facts
    for spoiled in ([predicted["good"][0][:1]], [[*predicted["good"][0], predicted["good"][0][0]]]):
        with pytest.raises(ValueError, match="every pair once"):
            rc.rank_correlations.definition.function({"good": spoiled}, truth)
    with pytest.raises(ValueError, match="same number of seeds"):
        rc.rank_correlations.definition.function({"good": predicted["good"], "poor": predicted["poor"][:1]}, truth)


def test_an_evaluation_looks_up_its_comparisons(facts):
    truth, predicted = facts
    result = rc.rank_correlations.definition.function(predicted, truth)
    systems = correlations(Value(result))
    assert systems["good"].mean().mean == result["systems"]["good"]["mean"]
    against = systems["good"].against(systems["poor"])
    assert against.difference.mean == result["against"]["good"]["poor"]["difference"] and against.unit == "pairs"
    assert systems["good"].against(systems["good"]).p_permutation == 1
    assert list(systems["good"].seed_means["spearman"]) == result["systems"]["good"]["seeds"]
    with pytest.raises(ValueError, match="one step"):
        systems["good"].against(correlations(Value(result))["poor"].__class__("x", None, None, None, facts={}))
