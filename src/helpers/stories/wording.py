"""Results in words, alike on every page."""

from collections.abc import Sequence

from helpers.evaluation.significance import Paired, Unpaired
from helpers.evaluation.verdicts import ALPHA
from helpers.pages.numbers import interval, p_value, signed


def effect(comparison: Paired | Unpaired) -> str:
    """A difference: value, interval, whether it is significant, and p."""
    d = comparison.difference
    return (f"{signed(d.mean)} {interval(d.low, d.high, sign=True)} ({significance(comparison)}, permutation p "
            f"{p_value(comparison.p_permutation)})")


def significance(comparison: Paired | Unpaired) -> str:
    """`significant` or `not significant`, by the permutation test."""
    return "significant" if comparison.p_permutation < ALPHA else "not significant"


def unpaired_effect(comparison: Unpaired) -> str:
    """A difference of two groups of queries: value, interval, whether it is significant, p, and the groups' sizes."""
    return f"{effect(comparison)[:-1]}; {comparison.queries} queries)"


def joined(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
