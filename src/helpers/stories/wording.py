"""Results in words, alike on every page."""

from collections.abc import Sequence

from helpers.evaluation.significance import Paired, Unpaired
from helpers.evaluation.verdicts import ALPHA
from helpers.pages.numbers import interval, p_value, signed


def effect(comparison: Paired | Unpaired) -> str:
    """A difference: value, interval, whether it is significant, and p."""
    d, sure = comparison.difference, "significant" if comparison.p_permutation < ALPHA else "not significant"
    return f"{signed(d.mean)} {interval(d.low, d.high, sign=True)} ({sure}, permutation p {p_value(comparison.p_permutation)})"


def joined(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
