import pytest

from helpers.evaluation import verdicts
from helpers.evaluation.significance import Interval, Paired, paired
from helpers.evaluation.verdicts import INSIGNIFICANT, NONE, OPPOSITE, SIGNIFICANT, Verdict, holm, judge
from helpers.pages.verdict_text import evidence

TURNED = {"higher": "lower", "lower": "higher", "no-difference": "no-difference"}


def found(mean, low, high, p=0.5):
    return Paired(Interval(mean, low, high), p_t=0.9, p_permutation=p, queries=200)


# Each rule of the module's table once: direction of the study, measured difference, p, verdict.
RULES = {
    "same sign, p < 0.05": ("higher", (0.05, 0.02, 0.08), 0.01, SIGNIFICANT),
    "same sign, p >= 0.05": ("higher", (0.05, -0.02, 0.12), 0.05, INSIGNIFICANT),
    "the interval within the margin": ("higher", (0.003, -0.002, 0.008), 0.2, NONE),
    "the interval within the margin, other sign": ("higher", (-0.003, -0.008, 0.002), 0.2, NONE),
    "the interval within the margin, though significant": ("higher", (0.003, 0.001, 0.005), 0.01, NONE),
    "the difference is zero": ("higher", (0.0, -0.05, 0.05), 1.0, NONE),
    "the other sign, significant": ("higher", (-0.05, -0.08, -0.02), 0.01, OPPOSITE),
    "the other sign, not significant": ("higher", (-0.05, -0.12, 0.02), 0.3, OPPOSITE),
    "none found, p >= 0.05": ("no-difference", (0.05, -0.02, 0.12), 0.05, NONE),
    "none found, p < 0.05": ("no-difference", (0.05, 0.02, 0.08), 0.049, OPPOSITE),
}


@pytest.mark.parametrize("direction, difference, p, verdict", RULES.values(), ids=RULES)
def test_each_rule(direction, difference, p, verdict):
    assert judge(direction, found(*difference, p)).verdict == verdict


@pytest.mark.parametrize("direction, difference, p, verdict", RULES.values(), ids=RULES)
def test_turning_study_and_measurement_round_leaves_the_verdict(direction, difference, p, verdict):
    mean, low, high = difference
    assert judge(TURNED[direction], found(-mean, -high, -low, p)).verdict == verdict


@pytest.mark.parametrize("direction, difference, p, verdict", RULES.values(), ids=RULES)
def test_a_study_that_found_lower_is_judged_like_one_that_found_higher(direction, difference, p, verdict):
    other = {SIGNIFICANT: OPPOSITE, INSIGNIFICANT: OPPOSITE, NONE: NONE,
             OPPOSITE: SIGNIFICANT if p < 0.05 else INSIGNIFICANT}[verdict]
    if direction != "no-difference":
        assert judge(TURNED[direction], found(*difference, p)).verdict == other


def test_the_edge_of_the_margin_is_a_difference():
    assert judge("higher", found(0.01, 0.0, 0.02, 0.2)).verdict == INSIGNIFICANT  # 0.01 itself is not below 0.01
    assert judge("higher", found(0.01, 0.0, 0.02, 0.2), margin=0.011).verdict == NONE


def test_a_small_difference_counts_if_it_is_significant_and_could_be_large():
    assert judge("higher", found(0.009, 0.001, 0.02, 0.03)).verdict == SIGNIFICANT
    assert judge("higher", found(-0.009, -0.02, -0.001, 0.03)).verdict == OPPOSITE
    assert judge("higher", found(0.004, 0.001, 0.009, 0.03)).verdict == NONE  # the whole interval is below the margin


def test_a_corrected_p_takes_the_place_of_the_tests_own():
    verdict = judge("higher", found(0.05, 0.02, 0.08, p=0.03), p=0.06)
    assert (verdict.verdict, verdict.p) == (INSIGNIFICANT, 0.06)
    assert judge("higher", found(0.05, 0.02, 0.08, p=0.03)).p == 0.03


def test_the_t_test_decides_nothing():
    assert judge("higher", Paired(Interval(0.05, 0.02, 0.08), 0.9, 0.01, 200)).verdict == SIGNIFICANT


def test_an_unknown_direction():
    with pytest.raises(ValueError, match="direction 'better': higher, lower or no-difference"):
        judge("better", found(0.05, 0.02, 0.08))


@pytest.mark.parametrize("direction", TURNED)
def test_measured_values_above_or_below_the_published_one_get_the_same_verdict(direction):
    # The study has 0.571 against 0.517. Eighths, so that moving all values by 0.5 is exact.
    ours, base = [0.25, 0.375, 0.5, 0.25, 0.375, 0.5, 0.375, 0.5], [0.125, 0.25, 0.125, 0.25, 0.25, 0.375, 0.125, 0.125]
    below = paired(ours, base)  # means 0.39 and 0.20, below the study's
    above = paired([value + 0.5 for value in ours], [value + 0.5 for value in base])  # above both
    assert judge(direction, below).verdict == judge(direction, above).verdict
    assert evidence(judge(direction, below)) == evidence(judge(direction, above))


def test_evidence_in_one_line():
    above, below = judge("higher", found(0.054, 0.01, 0.1, 0.0123)), judge("higher", found(-0.054, -0.1, 0.01, 0.0001))
    assert evidence(above) == "+0.054 [+0.010, +0.100], p 0.012, 200 queries"
    assert evidence(below) == "−0.054 [−0.100, +0.010], p < 0.001, 200 queries"


def test_what_was_not_measured_gives_its_reason():
    assert evidence(Verdict(verdicts.NOT_RUN, reason="needs a GPU")) == "needs a GPU"


def test_every_verdict_has_a_kind():
    assert set(verdicts.KINDS) == {SIGNIFICANT, INSIGNIFICANT, NONE, OPPOSITE, verdicts.INCOMPARABLE, verdicts.NOT_RUN}


# ---- Holm's correction ----

@pytest.mark.parametrize("p_values, adjusted", [
    ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),  # 3 x 0.01; 2 x 0.03; 1 x 0.04 is raised to the one before it
    ([0.5, 0.4], [0.8, 0.8]),  # 2 x 0.4; 1 x 0.5 is raised
    ([0.9, 0.6, 0.001], [1.0, 1.0, 0.003]),  # 2 x 0.6 is cut to 1
    ([0.02], [0.02]), ([], []),
    ([0.02, 0.02], [0.04, 0.04]),
])
def test_holm_by_hand(p_values, adjusted):
    assert holm(p_values) == pytest.approx(adjusted)


def test_holm_does_not_depend_on_the_order():
    assert holm([0.03, 0.01, 0.04]) == pytest.approx([0.06, 0.03, 0.06])


# ---- how far an effect is reproduced (Breuer et al. 2021) ----

def test_effect_ratio_by_hand():
    # measured 0.75 - 0.5 = 0.25, published 0.625 - 0.5 = 0.125: twice the effect
    assert verdicts.effect_ratio(0.75, 0.5, 0.625, 0.5) == 2.0
    assert verdicts.effect_ratio(0.5, 0.5, 0.625, 0.5) == 0.0
    assert verdicts.effect_ratio(0.375, 0.5, 0.625, 0.5) == -1.0  # the other way


def test_effect_ratio_needs_a_published_effect():
    assert verdicts.effect_ratio(0.75, 0.5, 0.5, 0.5) is None


def test_delta_relative_improvement_by_hand():
    # published 0.625 over 0.5 is 25 %, measured 0.75 over 0.5 is 50 %
    assert verdicts.delta_relative_improvement(0.75, 0.5, 0.625, 0.5) == -0.25
    assert verdicts.delta_relative_improvement(0.625, 0.5, 0.75, 0.5) == 0.25


@pytest.mark.parametrize("bases", [(0.0, 0.5), (0.5, 0.0)])
def test_delta_relative_improvement_needs_baselines_above_zero(bases):
    assert verdicts.delta_relative_improvement(0.75, bases[0], 0.625, bases[1]) is None
