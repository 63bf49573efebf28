"""What a verdict rests on, as a line of text."""

from helpers.evaluation.verdicts import Verdict
from helpers.pages.numbers import interval, p_value, signed


def evidence(verdict: Verdict) -> str:
    """Effect, interval and p in one line, with the reason why they cannot be compared, or why there are none."""
    if verdict.found is None:
        return verdict.reason
    d = verdict.found.difference
    return (f"{signed(d.mean)} {interval(d.low, d.high, sign=True)}, p {p_value(verdict.p or 0.0).lstrip('= ')}, "
            f"{verdict.found.queries} {verdict.found.unit}" + (f"; {verdict.reason}" if verdict.reason else ""))
