"""Inference over trainings and queries: components by hand, and beside a crossed mixed model."""

import math

import numpy as np
import pandas as pd
import pytest

from helpers.evaluation.hierarchical import KnownNoise, Rows, known_noise, measured_noise, own_noise, training_noise
from helpers.evaluation.significance import TrainingNoise, paired

KNOWN = KnownNoise(variance=0.0004, freedom=3, share=0.002)


def rows(*means, trained=1, groups=()):
    """A row of four queries for each mean."""
    return Rows(np.array([[mean - 0.1, mean + 0.1, mean, mean] for mean in means]), trained, groups)


def test_the_noise_of_one_seed_is_the_known_one_and_says_so():
    noise = training_noise(rows(0.5), rows(0.4, trained=0), "RR@10", known=KNOWN)
    assert (noise.variance, noise.freedom) == (pytest.approx(0.0004), 3)
    assert "one seed" in noise.assumption and "0.020" in noise.assumption
    for ours, theirs, trainings in ((1, 1, 2), (2, 0, 2), (0, 0, 0)):  # the lead of one model over another has two
        noise = training_noise(rows(0.5, trained=ours), rows(0.4, trained=theirs), "RR@10", known=KNOWN)
        assert noise.variance == pytest.approx(0.0004 * trainings)


def test_seeds_variances_are_pooled_over_both_systems_and_the_known_one():
    # squares: (.48, .52) has .0008, (.39, .40, .41) has .0002; known 3 x .0004 = .0012: .0022 over 1 + 2 + 3 degrees of freedom
    noise = training_noise(rows(0.48, 0.52), rows(0.39, 0.40, 0.41), "RR@10", known=KNOWN)
    assert noise.freedom == 6
    assert noise.variance == pytest.approx(0.0022 / 6 * (1 / 2 + 1 / 3))
    assert "one seed" not in noise.assumption


def test_one_training_put_to_two_uses_is_compared_seed_by_seed():
    # leads .05 and .07: variance .0002 over two trainings
    noise = training_noise(rows(0.50, 0.60), rows(0.45, 0.53), "RR@10", shared=True, known=KNOWN)
    assert (noise.variance, noise.freedom) == (pytest.approx(0.0001), 1)
    alone = training_noise(rows(0.5), rows(0.4), "RR@10", shared=True, known=KNOWN)
    assert alone.variance == 0 and "one training" in alone.assumption


def test_pretrainings_are_the_upper_level():
    # means of the pre-trainings: .50, .54 and .58, squares .0008 of two and .0032 of three; not those of the seeds
    for count, squares in ((2, 0.0008), (3, 0.0032)):
        seeds = rows(*(0.49, 0.51, 0.53, 0.55, 0.57, 0.59)[:2 * count], groups=tuple("aabbcc"[:2 * count]))
        noise = training_noise(seeds, rows(0.4, trained=0), "RR@10", known=KNOWN)
        assert noise.freedom == 2 + count
        assert noise.variance == pytest.approx((squares + 0.0012) / (2 + count) / count)


@pytest.mark.parametrize("trained", [1, 2])  # the variance of the lead of one model over another is that of two
def test_for_a_measure_that_seeds_were_not_measured_in_the_share_of_the_variance_over_queries_is_taken(trained):
    widest = max(own.share for own in measured_noise()["re-rankers of passages"]["single"].values())
    values = Rows(np.array([[0.0, 1.0, 0.0, 1.0]]), trained, kind="re-rankers of passages")  # variance 1/3
    noise = training_noise(values, rows(0.4, trained=0), "another measure")
    assert noise.variance == pytest.approx(widest / 3)


def test_a_kind_that_no_seeds_were_seen_of_has_the_noise_of_the_noisiest():
    assert known_noise("unheard of", "RR@10") == max(
        (ways["single"]["RR@10"] for ways in measured_noise().values() if "RR@10" in ways.get("single", {})),
        key=lambda own: own.variance)


@pytest.mark.parametrize("trained, squares", [(1, 0.0002), (2, 0.0001)])  # .0002 of two trainings each: half of it is of one
def test_systems_over_the_same_seeds_are_compared_seed_by_seed(trained, squares):
    # leads .05, .07, .06: squares .0002; known 3 x .0004, over 2 + 3 degrees of freedom, over three seeds
    ours, theirs = (Rows(rows(*means).values, trained, (), "re-rankers of passages", seeds=((1,), (2,), (3,)))
                    for means in ((0.50, 0.62, 0.56), (0.45, 0.55, 0.50)))
    noise = training_noise(ours, theirs, "RR@10", known=KNOWN)
    assert (noise.variance, noise.freedom) == (pytest.approx((squares + 0.0012) / 5 * trained / 3), 5)
    assert "3 paired seeds" in noise.assumption


def test_two_kinds_have_each_their_own_noise():
    # .0004 of either kind, over one training each: the freedoms 3 and 3 of equal parts give 6 (Welch)
    noise = training_noise(Rows(rows(0.5).values, 1, (), "re-rankers of passages"), Rows(rows(0.4).values, 1, (), "bi-encoders"),
                           "RR@10", known=KNOWN)
    assert (noise.variance, noise.freedom) == (pytest.approx(0.0008), pytest.approx(6))


def test_noise_from_the_seeds_means_alone():
    noise = own_noise(np.array([0.48, 0.52]), np.array([0.39, 0.41]))
    assert (noise.variance, noise.freedom) == (pytest.approx(0.0005), 2)  # (.0008 + .0002) / 2 x (1/2 + 1/2)
    assert own_noise(np.array([0.48, 0.52]), np.array([0.4])) == TrainingNoise(pytest.approx(0.0012), 1)  # .0008 x (1/2 + 1)
    assert own_noise(np.array([0.5]), np.array([0.4])).variance == 0
    three = own_noise(np.array([0.48, 0.52]), np.array([0.4]))  # .0008 between the two, and a mean over two seeds and over one
    assert (three.variance, three.freedom) == (pytest.approx(0.0008 * 1.5), 1)


def test_noise_of_training_widens_the_interval_and_raises_p():
    rng = np.random.default_rng(4)
    ours, theirs = rng.random(300) + 0.05, rng.random(300)
    quiet, noisy = paired(ours, theirs), paired(ours, theirs, noise=TrainingNoise(0.02**2, math.inf))
    half = (quiet.difference.high - quiet.difference.low) / 2
    assert (noisy.difference.high - noisy.difference.low) / 2 == pytest.approx(math.hypot(half, 1.96 * 0.02), rel=0.03)
    assert noisy.error == pytest.approx(math.hypot(quiet.error, 0.02))
    assert noisy.p_permutation > quiet.p_permutation
    assert noisy.p_t == quiet.p_t  # the studies' test sees no trainings
    for shift in (0.02, 0.05, 0.08):
        comparison = paired(rng.random(400) + shift, rng.random(400), noise=TrainingNoise(0.01**2, 6))
        assert (comparison.p_permutation < 0.05) == (comparison.difference.low > 0)
        assert (comparison.p_permutation < 0.10) == (comparison.narrow.low > 0)


def test_beside_a_crossed_mixed_model():
    """statsmodels fits value = system + seed of the system + query + query's own way with the system + rest."""
    formula = pytest.importorskip("statsmodels.formula.api")
    rng, seeds, queries = np.random.default_rng(12), 6, 60
    query, way = rng.normal(0, 0.3, queries), rng.normal(0, 0.15, (2, queries))
    values = [0.6 - 0.1 * place + query + way[place] + rng.normal(0, 0.05, (seeds, 1)) + rng.normal(0, 0.1, (seeds, queries))
              for place in (0, 1)]
    noise = training_noise(Rows(values[0], 1), Rows(values[1], 1), "RR@10")
    comparison = paired(values[0].mean(axis=0), values[1].mean(axis=0), noise)
    frame = pd.DataFrame([{"system": place, "seed": f"{place}-{seed}", "query": str(q), "both": f"{place}-{q}",
                           "value": values[place][seed, q], "all": 1}
                          for place in (0, 1) for seed in range(seeds) for q in range(queries)])
    parts = {name: f"0 + C({name})" for name in ("seed", "query", "both")}
    fitted = formula.mixedlm("value ~ system", frame, groups="all", vc_formula=parts).fit(reml=True)
    assert comparison.difference.mean == pytest.approx(-fitted.params["system"], abs=1e-6)
    assert comparison.error == pytest.approx(fitted.bse["system"], rel=0.2)
