"""Results in words, alike on every page."""

from collections.abc import Sequence

from helpers.evaluation.significance import Paired, Unpaired
from helpers.evaluation.verdicts import ALPHA
from helpers.pages.numbers import interval, p_value, signed


def effect(found: Paired | Unpaired) -> str:
    """A difference: value, interval, whether it is significant, and p."""
    d = found.difference
    return (f"{signed(d.mean)} {interval(d.low, d.high, sign=True)} ({significance(found)}, permutation p "
            f"{p_value(found.p_permutation)})")


def significance(found: Paired | Unpaired) -> str:
    """`significant` or `not significant`, by the permutation test."""
    return "significant" if found.p_permutation < ALPHA else "not significant"


def unpaired_effect(found: Unpaired) -> str:
    """A difference of two groups of queries: value, interval, whether it is significant, p, and the groups' sizes."""
    return f"{effect(found)[:-1]}; {found.queries} queries)"


def joined(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
