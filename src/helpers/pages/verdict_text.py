"""What a verdict rests on, as a line of text."""

from helpers.evaluation.verdicts import EQUIVALENT, Verdict
from helpers.pages.numbers import interval, p_value, plain, signed


def evidence(verdict: Verdict, unit: str = "") -> str:
    """Effect, interval, p, margin and minimum detectable effect in one line; what was assumed; why there is no verdict, if so."""
    if verdict.found is None:
        return verdict.reason
    found, d = verdict.found, verdict.found.difference
    parts = [f"{signed(d.mean)} {interval(d.low, d.high, sign=True)}{unit}, p {p_value(verdict.p or 0.0)}, "
             f"{found.queries} {found.unit}",
             f"margin {plain(verdict.margin)}, detectable {plain(found.detectable)}{unit}"]
    if verdict.verdict == EQUIVALENT:
        parts.append(f"a difference of ±{plain(verdict.margin)} is excluded")
    return "; ".join([*parts, *filter(None, (found.noise.said, verdict.reason))])
