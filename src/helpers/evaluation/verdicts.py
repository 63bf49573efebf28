"""Verdicts: what a measured comparison says of a published finding, by rules that are declared here and symmetric.

| verdict | when the study found a difference | when the study found none |
|---|---|---|
| same direction and significant | same sign, p < 0.05 | |
| same direction, not significant | same sign, p >= 0.05 | |
| no difference | smaller than the margin and p >= 0.05, or the whole 95 % interval within the margin | p >= 0.05 |
| opposite direction | the other sign, significant or not (the p-value beside it says which) | p < 0.05 |
| not comparable | what was measured is not what the study measured | |
| not run | nothing was measured; a reason is given | |

p is the permutation test's, Holm-corrected within the family of comparisons made for one table. The margin is 0.01 of a
measure between 0 and 1. The rules look at the difference from the baseline only: whether a value lies above or below the
published one changes no verdict.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from helpers.evaluation.significance import Paired, Unpaired

ALPHA = 0.05
MARGIN = 0.01  # smaller differences of a measure between 0 and 1 are called none

SIGNIFICANT = "same direction and significant"
INSIGNIFICANT = "same direction, not significant"
NONE = "no difference"
OPPOSITE = "opposite direction"
INCOMPARABLE = "not comparable"
NOT_RUN = "not run"
KINDS = {SIGNIFICANT: "yes", INSIGNIFICANT: "weak", NONE: "none", OPPOSITE: "no", INCOMPARABLE: "off", NOT_RUN: "off"}


@dataclass(frozen=True)
class Verdict:
    """A verdict with what it rests on; `found` is None where nothing was measured."""

    verdict: str
    found: Paired | Unpaired | None = None
    p: float | None = None
    reason: str = ""


def judge(direction: str, found: Paired | Unpaired, p: float | None = None, margin: float = MARGIN) -> Verdict:
    """The verdict on a finding of the given direction (`higher`, `lower`, `no-difference`).

    Args:
        direction: what the study found of the first system against the second.
        found: the measured comparison of the same two.
        p: the corrected p-value; by default the permutation test's own.
        margin: what is smaller and not significant, or lies within it with its whole interval, is called none.
    """
    p = found.p_permutation if p is None else p
    d = found.difference
    if direction == "no-difference":
        return Verdict(OPPOSITE if p < ALPHA else NONE, found, p)
    if direction not in ("higher", "lower"):
        raise ValueError(f"direction {direction!r}: higher, lower or no-difference")
    same = (d.mean > 0) == (direction == "higher")
    if (abs(d.mean) < margin and p >= ALPHA) or (-margin < d.low and d.high < margin):
        return Verdict(NONE, found, p)
    if not same:
        return Verdict(OPPOSITE, found, p)
    return Verdict(SIGNIFICANT if p < ALPHA else INSIGNIFICANT, found, p)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979): adjusted p-values in the given order."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = highest
    return adjusted


def effect_ratio(measured: float, measured_base: float, published: float, published_base: float) -> float | None:
    """Effect ratio from means (Breuer et al. 2021): measured over published improvement; None if that was zero."""
    effect = published - published_base
    return None if effect == 0 else (measured - measured_base) / effect


def delta_relative_improvement(measured: float, measured_base: float, published: float,
                               published_base: float) -> float | None:
    """Published less measured relative improvement (Breuer et al. 2021); None where a baseline is zero."""
    if 0 in (measured_base, published_base):
        return None
    return (published - published_base) / published_base - (measured - measured_base) / measured_base
