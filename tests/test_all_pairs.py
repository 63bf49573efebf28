"""Comparisons of all pairs of systems, and of ranks."""

import math
from dataclasses import astuple

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from helpers.evaluation import rank_correlation as rc
from helpers.evaluation.significance import all_pairs, cohens_d, holm, mean_interval, paired, permutation_ps
from helpers.systems.starting_points import correlations
from toys import Value


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
