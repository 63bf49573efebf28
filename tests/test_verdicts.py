import inspect
from dataclasses import replace

import pytest

from helpers.evaluation import verdicts
from helpers.evaluation.all_pairs import holm
from helpers.evaluation.significance import Interval, Paired
from helpers.evaluation.verdicts import AGREES, DISAGREES, OPEN, SMALL, UNTESTED, Verdict, false_discovery_rate, judge
from helpers.pages.claims import evidence

TURNED = {"higher": "lower", "lower": "higher", "no-difference": "no-difference"}


def trial(low, high, p=0.5):
    """A comparison by its 95 % interval; the 90 % interval is one hundredth narrower on either side."""
    mean = (low + high) / 2
    return Paired(Interval(mean, low, high), Interval(mean, low + 0.01, high - 0.01), 0.9, p, 200, (high - low) / 4)


# Each rule of the module's table, with a margin of .05: direction, the 95 % interval, the word.
RULES = {
    "on the claimed side": ("higher", (0.001, 0.10), AGREES),
    "on the claimed side, by however little of the margin": ("higher", (0.001, 0.07), AGREES),
    "on the claimed side, and within the margin": ("higher", (0.001, 0.055), SMALL),
    "on the other side": ("higher", (-0.10, -0.001), DISAGREES),
    "on the other side, and within the margin": ("higher", (-0.055, -0.001), SMALL),
    "zero and a gain beyond the margin": ("higher", (-0.001, 0.10), OPEN),
    "zero and a loss beyond the margin": ("higher", (-0.10, 0.001), OPEN),
    "within the margin": ("higher", (-0.02, 0.03), SMALL),
    "no difference: within the margin": ("no-difference", (-0.02, 0.03), AGREES),
    "no difference: within the margin, though not zero": ("no-difference", (0.001, 0.055), AGREES),
    "no difference: beyond it, and zero": ("no-difference", (-0.02, 0.08), OPEN),
    "no difference: beyond it, and not zero": ("no-difference", (0.01, 0.08), DISAGREES),
    "no difference: beyond it below, and not zero": ("no-difference", (-0.08, -0.01), DISAGREES)}


@pytest.mark.parametrize("direction, interval, word", RULES.values(), ids=RULES)
def test_each_rule_and_its_mirror_image(direction, interval, word):
    low, high = interval
    assert judge(direction, trial(low, high), 0.05) == word
    assert judge(TURNED[direction], trial(-high, -low), 0.05) == word


@pytest.mark.parametrize("interval, word", [
    ((-0.30, -0.10), AGREES),  # a loss is no gain
    ((-0.20, 0.05), AGREES), ((0.001, 0.055), AGREES), ((-0.02, 0.08), OPEN), ((0.01, 0.08), DISAGREES)])
def test_that_nothing_is_gained_is_judged_on_one_side(interval, word):
    assert judge("no-gain", trial(*interval), 0.05) == word


def test_the_margin_itself_is_not_within_the_margin():
    edge = replace(trial(-0.06, 0.06), narrow=Interval(0.0, -0.05, 0.05))
    assert judge("no-difference", edge, 0.05) == OPEN
    assert judge("no-difference", edge, 0.0501) == AGREES


def test_p_changes_no_word():
    assert judge("higher", trial(0.01, 0.10, p=0.9), 0.02) == AGREES
    assert judge("higher", trial(-0.01, 0.10, p=0.001), 0.02) == OPEN


def test_an_unknown_direction():
    with pytest.raises(ValueError, match="direction 'better': higher, lower, no-difference, no-gain"):
        judge("better", trial(0.03, 0.07))


def test_what_chance_would_give():
    assert false_discovery_rate(40, 20) == pytest.approx(0.1)  # two of forty, of twenty that were decided
    assert false_discovery_rate(40, 1) == 1.0
    assert false_discovery_rate(10, 0) == 0.0


def test_the_rules_are_read_in_two_minutes():
    assert len(inspect.getsource(verdicts).splitlines()) <= 150
    assert all(word in inspect.getdoc(verdicts) for word in verdicts.WORDS)


def test_the_smallest_difference_that_would_be_seen_stands_where_the_run_cannot_tell():
    assert "would be seen" in evidence(Verdict(OPEN, trial(-0.01, 0.05)))
    assert "would be seen" not in evidence(Verdict(AGREES, trial(0.01, 0.05)))
    untested = Verdict(UNTESTED, trial(-0.01, 0.05))  # sees .042, with a margin of .01
    assert "would be seen" in evidence(untested, level=True) and "would be seen" not in evidence(untested)


def test_holm_against_hand_computed_values():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize("values, ratio, delta", [((0.6, 0.5, 0.6, 0.5), 1.0, 0.0), ((0.55, 0.5, 0.6, 0.5), 0.5, 0.1),
                                                  ((0.45, 0.5, 0.6, 0.5), -0.5, 0.3), ((0.5, 0.5, 0.6, 0.5), 0.0, 0.2)])
def test_effect_ratio_and_relative_improvement(values, ratio, delta):
    assert verdicts.effect_ratio(*values) == pytest.approx(ratio)
    assert verdicts.delta_relative_improvement(*values) == pytest.approx(delta)
    assert verdicts.effect_ratio(0.6, 0.5, 0.5, 0.5) is None
    assert verdicts.delta_relative_improvement(0.6, 0.0, 0.5, 0.4) is None
