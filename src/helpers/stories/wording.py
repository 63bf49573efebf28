"""Results in words, alike on every page."""

from helpers.numbers import interval, p_value, signed
from helpers.significance import Paired
from helpers.verdicts import ALPHA


def effect(found: Paired) -> str:
    """A difference: value, interval, whether it is significant, and p."""
    d = found.difference
    sure = "significant" if found.p_permutation < ALPHA else "not significant"
    return f"{signed(d.mean)} {interval(d.low, d.high, sign=True)} ({sure}, permutation p {p_value(found.p_permutation)})"
