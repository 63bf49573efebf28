import pytest

from helpers.evaluation import verdicts
from helpers.evaluation.significance import QUIET, Interval, Paired, TrainingNoise
from helpers.evaluation.verdicts import CONTRADICTED, EQUIVALENT, INCONCLUSIVE, INSIGNIFICANT, SUPPORTED, Case, holm, judge
from helpers.pages.claims import evidence

TURNED = {"higher": "lower", "lower": "higher", "no-difference": "no-difference"}


def trial(mean, low, high, p=0.5, error=0.01, noise=QUIET):
    """A comparison by its 90 % interval; the 95 % interval is one hundredth wider on either side."""
    return Paired(Interval(mean, low - 0.01, high + 0.01), Interval(mean, low, high), 0.9, p, 200, error, noise=noise)


# Each rule of the module's table once, with a margin of .02: direction, the study's test, mean and 90 % interval, p.
RULES = {
    "difference: same sign, significant": ("higher", None, (0.05, 0.03, 0.07), 0.049, SUPPORTED),
    "difference: same sign, significant and within the margin": ("higher", True, (0.01, 0.005, 0.015), 0.01, SUPPORTED),
    "difference: same sign, not significant": ("higher", None, (0.05, -0.01, 0.11), 0.05, INSIGNIFICANT),
    "difference: within the margin": ("higher", None, (0.005, -0.01, 0.019), 0.2, EQUIVALENT),
    "difference: within the margin, other sign": ("higher", None, (-0.005, -0.019, 0.01), 0.2, EQUIVALENT),
    "difference: other sign, not significant": ("higher", None, (-0.05, -0.11, 0.01), 0.3, INCONCLUSIVE),
    "difference: other sign, significant": ("higher", None, (-0.05, -0.07, -0.03), 0.01, CONTRADICTED),
    "difference: none at all, wide": ("higher", None, (0.0, -0.05, 0.05), 1.0, INCONCLUSIVE),
    "equality: within the margin": ("no-difference", None, (0.005, -0.01, 0.019), 0.4, SUPPORTED),
    "equality: within the margin, though significant": ("no-difference", None, (0.01, 0.005, 0.015), 0.001, SUPPORTED),
    "equality: wide, not significant": ("no-difference", None, (0.001, -0.05, 0.052), 0.95, INCONCLUSIVE),
    "equality: significant and beyond": ("no-difference", None, (0.03, 0.01, 0.05), 0.049, CONTRADICTED),
    "small: same sign, within the margin": ("higher", False, (0.008, -0.003, 0.019), 0.3, SUPPORTED),
    "small: same sign, within the margin, significant": ("higher", False, (0.008, 0.003, 0.013), 0.01, SUPPORTED),
    "small: significant and beyond": ("higher", False, (0.05, 0.03, 0.07), 0.001, CONTRADICTED),
    "small: significant, other sign": ("higher", False, (-0.01, -0.015, -0.005), 0.01, CONTRADICTED),
    "small: same sign, wide": ("higher", False, (0.01, -0.02, 0.04), 0.5, INSIGNIFICANT),
    "small: other sign, within the margin": ("higher", False, (-0.005, -0.015, 0.005), 0.4, EQUIVALENT),
    "small: other sign, wide": ("higher", False, (-0.01, -0.04, 0.02), 0.4, INCONCLUSIVE)}


@pytest.mark.parametrize("direction, significant, numbers, p, verdict", RULES.values(), ids=RULES)
def test_each_rule_and_its_mirror_image(direction, significant, numbers, p, verdict):
    mean, low, high = numbers
    assert judge(direction, trial(mean, low, high, p), None, 0.02, significant).verdict == verdict
    assert judge(TURNED[direction], trial(-mean, -high, -low, p), None, 0.02, significant).verdict == verdict


def test_the_margin_itself_is_not_within_the_margin():
    assert judge("no-difference", trial(0.0, -0.02, 0.02)).verdict == INCONCLUSIVE
    assert judge("no-difference", trial(0.0, -0.02, 0.02), margin=0.0201).verdict == SUPPORTED


@pytest.mark.parametrize("effect, margin", [(0.054, 0.027), (-0.054, 0.027), (0.01, 0.01), (0.0, 0.01), (None, 0.01)])
def test_the_margin_is_half_the_published_effect_and_one_hundredth_at_least(effect, margin):
    assert verdicts.margin_of(effect) == pytest.approx(margin)


def test_an_unknown_direction():
    with pytest.raises(ValueError, match="direction 'better': higher, lower or no-difference"):
        judge("better", trial(0.05, 0.03, 0.07))


# ---- several claims, several pairs ----

def test_correction_makes_a_claim_of_a_difference_harder_and_leaves_one_of_equality_alone():
    sure, equal, unequal = trial(0.05, 0.03, 0.07, 0.03), trial(0.0, -0.005, 0.005), trial(0.05, 0.03, 0.07, 0.03)
    alone = verdicts.judge_together({"a": Case("higher", (sure,))})
    assert (alone["a"].verdict, alone["a"].p) == (SUPPORTED, 0.03)
    both = verdicts.judge_together({
        "a": Case("higher", (sure,)), "b": Case("lower", (sure,)), "equal": Case("no-difference", (equal,)),
        "unequal": Case("no-difference", (unequal,)), "small": Case("higher", (sure,), significant=False)})
    assert [both[name].verdict for name in "ab"] == [INSIGNIFICANT, INCONCLUSIVE]
    assert both["a"].p == pytest.approx(0.06)  # two of a difference
    assert both["equal"].verdict == SUPPORTED
    assert (both["unequal"].verdict, both["small"].verdict) == (CONTRADICTED, CONTRADICTED)  # .03 stays .03: Holm helps neither


def test_a_claim_of_several_pairs_is_as_weak_as_its_weakest():
    strong, weak, other = trial(0.05, 0.03, 0.07, 0.001), trial(0.01, -0.02, 0.04, 0.5), trial(-0.05, -0.07, -0.03, 0.001)

    def of(direction, *pairs):
        return verdicts.judge_together({"a": Case(direction, pairs)})["a"]

    assert of("higher", strong, strong).verdict == SUPPORTED
    assert of("higher", strong, weak).verdict == INSIGNIFICANT
    assert of("higher", strong, weak).comparison is weak
    assert of("higher", strong, weak, other).verdict == CONTRADICTED
    behind, level = trial(-0.02, -0.06, 0.02, 0.3), trial(-0.001, -0.04, 0.04, 0.9)
    decided = of("higher", level, behind, strong)
    assert (decided.verdict, decided.comparison, decided.p) == (INCONCLUSIVE, behind, pytest.approx(0.9))  # .3 of three pairs
    assert of("no-difference", trial(0.0, -0.005, 0.005), weak).verdict == INCONCLUSIVE
    # beyond the margin with p .03 in one of two: .06 once corrected for having been picked
    assert of("no-difference", trial(0.0, -0.005, 0.005), trial(0.05, 0.03, 0.07, 0.03)).verdict == INCONCLUSIVE


def test_holms_family_is_of_claims_and_a_claims_p_is_its_largest():
    strong, fair, adverse = trial(0.05, 0.03, 0.07, 0.001), trial(0.05, 0.03, 0.07, 0.02), trial(-0.05, -0.07, -0.03, 0.01)
    both = verdicts.judge_together({"three": Case("higher", (strong, fair, strong)), "one": Case("lower", (adverse,))})
    assert (both["three"].p, both["one"].p) == (0.02, 0.02)  # .01 twice, .02 once: two claims, not four pairs
    assert (both["three"].verdict, both["three"].comparison) == (SUPPORTED, fair)
    alone = verdicts.judge_together({"a": Case("higher", (strong, adverse, strong))})["a"]
    assert (alone.verdict, alone.p, alone.comparison) == (CONTRADICTED, pytest.approx(0.03), adverse)  # picked from three


def test_p_is_multiplied_for_pairs_picked_by_their_results():
    best_and_worst = trial(0.05, 0.03, 0.07, 0.01)
    assert verdicts.judge_together({"a": Case("higher", (best_and_worst,), picked_from=6)})["a"].p == pytest.approx(0.06)


def test_a_gain_that_the_control_has_too_is_no_proof_of_its_cause():
    gain = judge("higher", trial(0.05, 0.03, 0.07, 0.001))
    assert verdicts.caused(gain, judge("higher", trial(0.04, 0.02, 0.06, 0.002))).verdict == SUPPORTED
    assert verdicts.caused(gain, judge("higher", trial(0.01, -0.02, 0.04, 0.4))).verdict == verdicts.NO_CAUSE
    weak = judge("higher", trial(0.05, -0.03, 0.13, 0.2))
    assert verdicts.caused(weak, judge("higher", trial(0.01, -0.02, 0.04, 0.4))) == weak


def test_evidence_in_one_line():
    text = evidence(judge("higher", trial(0.054, 0.02, 0.09, 0.0123), margin=0.027))
    # (.1 - .01) / 2 for significance, and the .8 quantile of t with 199 degrees of freedom, .843, times .01
    assert text == "+0.054 [+0.010, +0.100], p 0.012, 200 queries; margin 0.027, detectable 0.053"
    noise = TrainingNoise(0.00005, 3, "one seed")
    assert evidence(judge("higher", trial(-0.001, -0.005, 0.004, 0.8, noise=noise))).endswith(
        "a difference of ±0.010 is excluded; one seed")


def test_what_was_not_measured_gives_its_reason():
    assert evidence(verdicts.Verdict(verdicts.NOT_RUN, reason="needs a GPU")) == "needs a GPU"


# ---- Holm's correction ----

@pytest.mark.parametrize("p_values, adjusted", [
    ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),  # 3 x 0.01; 2 x 0.03; 1 x 0.04 is raised to the one before it
    ([0.5, 0.4], [0.8, 0.8]),  # 2 x 0.4; 1 x 0.5 is raised
    ([0.9, 0.6, 0.001], [1.0, 1.0, 0.003]),  # 2 x 0.6 is cut to 1
    ([0.03, 0.01, 0.04], [0.06, 0.03, 0.06]), ([0.02, 0.02], [0.04, 0.04]), ([], [])])
def test_holm_by_hand(p_values, adjusted):
    assert holm(p_values) == pytest.approx(adjusted)


# ---- how far an effect is reproduced (Breuer et al. 2021) ----

def test_effect_ratio_by_hand():
    # measured 0.75 - 0.5 = 0.25, published 0.625 - 0.5 = 0.125: twice the effect
    assert verdicts.effect_ratio(0.75, 0.5, 0.625, 0.5) == 2.0
    assert verdicts.effect_ratio(0.375, 0.5, 0.625, 0.5) == -1.0  # the other way
    assert verdicts.effect_ratio(0.75, 0.5, 0.5, 0.5) is None  # no published effect


def test_delta_relative_improvement_by_hand():
    # published 0.625 over 0.5 is 25 %, measured 0.75 over 0.5 is 50 %
    assert verdicts.delta_relative_improvement(0.75, 0.5, 0.625, 0.5) == -0.25
    assert verdicts.delta_relative_improvement(0.75, 0.0, 0.625, 0.5) is None
    assert verdicts.delta_relative_improvement(0.75, 0.5, 0.625, 0.0) is None
