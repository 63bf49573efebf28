"""Verdicts: what a measured comparison says of a published claim, by rules that are declared here and symmetric.

| verdict | of a claim that there is a difference | of a claim that there is none |
|---|---|---|
| supported | same sign, p < .05 | the 90 % interval lies within the margin |
| contradicted | the other sign, p < .05 | p < .05, and the 90 % interval leaves the margin |
| equivalent | p >= .05, and the 90 % interval lies within the margin: a difference of that size is excluded | |
| same direction, not significant | same sign, none of the above | |
| inconclusive | the other sign or zero, none of the above | none of the above: these data cannot tell |
| not comparable | what was measured is not what the study measured | likewise |
| not run | nothing was measured; a reason is given | likewise |
| did not train | the model that the claim is about did not learn; a reason is given | likewise |

*The margin* is the claim's own, declared with a reason before any training shown here ran; by default half the published
effect, and .01 at least. That the 90 % interval lies within plus and minus the margin is two one-sided tests at .05 each
(Schuirmann 1987).

*p* is that of the permutation test with the noise of training. Claims of a difference have one p each, corrected by Holm's
method over such claims of the chapter. A claim of no difference is tested by itself: no other claim's correction raises the p
that would contradict it.

*A claim of a difference that the study itself found not significant* says two things, a sign and smallness. It is supported
if the sign is the same and the 90 % interval lies within the margin ("same direction, small"), significant or not. It is
contradicted if the difference is significant (uncorrected) and either has the other sign or leaves the margin. Otherwise it
is equivalent within the margin, same direction, not significant, or inconclusive, like a claim of a difference.

*A claim that several pairs must carry* is judged by all: supported if every pair supports it, p being the largest of theirs
(Berger 1982); contradicted if any pair contradicts it, p being the smallest of those, times the number of pairs; and otherwise
as weak as its weakest pair.

*Cause.* A claim that a gain comes from X is "supported, cause not established" if the gain is there and the claim's own
control, the same system without X, does not fall behind significantly.

The rules look at differences only: whether a value lies above or below the published one changes no verdict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from helpers.evaluation.significance import Paired, Unpaired

ALPHA = 0.05
MARGIN = 0.01  # the least margin of a measure between 0 and 1

SUPPORTED = "supported"
NO_CAUSE = "supported, cause not established"
INSIGNIFICANT = "same direction, not significant"
EQUIVALENT = "equivalent"
INCONCLUSIVE = "inconclusive"
CONTRADICTED = "contradicted"
INCOMPARABLE = "not comparable"
NOT_RUN = "not run"
UNTRAINED = "did not train"
KINDS = {SUPPORTED: "yes", NO_CAUSE: "weak", INSIGNIFICANT: "weak", EQUIVALENT: "none", INCONCLUSIVE: "none", CONTRADICTED: "no",
         INCOMPARABLE: "off", NOT_RUN: "off", UNTRAINED: "off"}
WEAKEST_FIRST = (CONTRADICTED, INCONCLUSIVE, EQUIVALENT, INSIGNIFICANT, SUPPORTED)

DIFFERENCE, EQUALITY, SMALL = "difference", "equality", "small"  # the rules


@dataclass(frozen=True)
class Verdict:
    """A verdict with what it rests on."""

    verdict: str  # one of `KINDS`
    # the comparison; of several pairs the one that decided; None where nothing was measured
    comparison: Paired | Unpaired | None = None
    p: float | None = None  # as it was judged, corrected for a claim of a difference
    reason: str = ""  # why it is not comparable or not run, or what the reader must know
    margin: float = MARGIN  # that it was judged by


def rule_of(direction: str, significant: bool | None = None) -> str:
    """Which rule judges a claim: `difference`, `equality`, or `small` for a difference that the study calls not significant."""
    if direction not in ("higher", "lower", "no-difference"):
        raise ValueError(f"direction {direction!r}: higher, lower or no-difference")
    if direction == "no-difference":
        return EQUALITY
    return SMALL if significant is False else DIFFERENCE


def margin_of(effect: float | None) -> float:
    """The margin of a claim that declares none: half the published effect, and .01 at least."""
    return max(MARGIN, abs(effect or 0.0) / 2)


def has_sign(direction: str, comparison: Paired | Unpaired) -> bool:
    """Whether a difference has the sign of a claim: above zero for `higher`, below for others."""
    return comparison.difference.mean > 0 if direction == "higher" else comparison.difference.mean < 0


def judge(direction: str, comparison: Paired | Unpaired, p: float | None = None, margin: float = MARGIN,
          significant: bool | None = None) -> Verdict:
    """The verdict on a claim of the given direction (`higher`, `lower`, `no-difference`), which the study saw in the first system
    compared with the second.

    Args:
        comparison: the measured comparison of the same two.
        p: the corrected p-value; by default the comparison's own.
        significant: what the study itself tested; False makes a claim of a difference one of a small difference.
    """
    rule = rule_of(direction, significant)
    p = comparison.p_permutation if p is None else p
    within, sure = -margin < comparison.narrow.low and comparison.narrow.high < margin, p < ALPHA
    same = has_sign(direction, comparison)
    if rule == EQUALITY:
        verdict = SUPPORTED if within else CONTRADICTED if sure else INCONCLUSIVE
    elif rule == SMALL and same and within:
        verdict = SUPPORTED
    elif rule == SMALL and sure:
        verdict = CONTRADICTED
    elif sure:
        verdict = SUPPORTED if same else CONTRADICTED
    else:
        verdict = EQUIVALENT if within else INSIGNIFICANT if same else INCONCLUSIVE
    return Verdict(verdict, comparison, p, margin=margin)


@dataclass(frozen=True)
class Case:
    """A claim and its comparisons, ready to be judged."""

    direction: str  # of the published difference: `higher`, `lower`, `no-difference`
    pairs: tuple[Paired | Unpaired, ...]  # the comparisons that must all carry it, one as a rule
    margin: float = MARGIN  # the claim's own
    significant: bool | None = None  # what the study itself tested
    picked_from: int = 1  # how many pairs these were picked from by their results, such as best and worst: p is multiplied by it

    @property
    def is_of_difference(self) -> bool:
        """Whether Holm's correction is for it."""
        return rule_of(self.direction, self.significant) == DIFFERENCE

    @property
    def p(self) -> float:
        """Of a claim of a difference, before any correction over claims: one p that decides for all its pairs."""
        adverse = [pair.p_permutation for pair in self.pairs if not has_sign(self.direction, pair)]
        p = len(self.pairs) * min(adverse) if adverse else max(pair.p_permutation for pair in self.pairs)
        return min(1.0, self.picked_from * p)


def judge_together(cases: Mapping[str, Case]) -> dict[str, Verdict]:
    """The verdicts on the claims of a chapter: Holm's correction runs over the claims of a difference, whatever their pairs."""
    family = [name for name, case in cases.items() if case.is_of_difference]
    adjusted = dict(zip(family, holm([cases[name].p for name in family]), strict=True))
    return {name: weakest([judge(case.direction, pair, adjusted[name] if case.is_of_difference else
                                 min(1.0, case.picked_from * len(case.pairs) * pair.p_permutation), case.margin, case.significant)
                           for pair in case.pairs], case) for name, case in cases.items()}


def weakest(verdicts: Sequence[Verdict], case: Case) -> Verdict:
    """Of the verdicts on the pairs of one claim the one that decides: contradicted if any is, else the weakest; of equally weak
    ones that whose p is the claim's."""
    def place(one: Verdict) -> tuple[int, bool, float]:
        own = one.comparison.p_permutation if one.comparison else 0.0
        against = case.is_of_difference and one.comparison is not None and not has_sign(case.direction, one.comparison)
        return WEAKEST_FIRST.index(one.verdict), not against, own if against or one.verdict == CONTRADICTED else -own

    return min(verdicts, key=place)


def caused(verdict: Verdict, control: Verdict) -> Verdict:
    """The verdict on a claim that names a cause, given that on its control: the same sign, the same system without the cause."""
    if verdict.verdict == SUPPORTED and control.verdict != SUPPORTED:
        return replace(verdict, verdict=NO_CAUSE)
    return verdict


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979): adjusted p-values in the given order."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, (len(p) - np.arange(len(p))) * p[order]))
    return adjusted.tolist()


def effect_ratio(measured: float, measured_base: float, published: float, published_base: float) -> float | None:
    """Effect ratio from means (Breuer et al. 2021): measured over published improvement; None if that was zero."""
    effect = published - published_base
    return None if effect == 0 else (measured - measured_base) / effect


def delta_relative_improvement(measured: float, measured_base: float, published: float, published_base: float) -> float | None:
    """Published less measured relative improvement (Breuer et al. 2021); None where a baseline is zero."""
    if 0 in (measured_base, published_base):
        return None
    return (published - published_base) / published_base - (measured - measured_base) / measured_base
