"""Conditions: what a paragraph rests on, as comparisons of the evaluations that its chapter hands over.

`sum > merge`: the 95 % interval of the difference lies above zero; `ranks !> merge`: it does not; `a >~ b`: the mean is higher.
"""

import re
from collections.abc import Mapping

from helpers import paths
from helpers.errors import BadInput
from helpers.systems.evaluated import Evaluation

COMPARISON = re.compile(r"(\w+)\s*(>~|!>|>)\s*(\w+)")


def failed(conditions: str, systems: Mapping[str, Evaluation], measure: str) -> list[str]:
    """Those of the comparisons, joined by `and`, that do not hold; none holds of a system that is not there. BadInput for what is
    no comparison."""
    return [one for one in map(str.strip, conditions.split(" and ")) if not _holds(one, systems, measure)]


def _holds(condition: str, systems: Mapping[str, Evaluation], measure: str) -> bool:
    parts = COMPARISON.fullmatch(condition)
    if parts is None:
        raise BadInput(f"{condition!r} is no condition", file=paths.PUBLISHED / "discussions.yaml",
                       mend="write `a > b`, `a !> b` or `a >~ b`, several joined by `and`")
    first, sign, second = parts.groups()
    if not {first, second} <= set(systems):
        return False
    if sign == ">~":
        return systems[first].mean(measure).mean > systems[second].mean(measure).mean
    return (systems[first].against(systems[second], measure).difference.low > 0) == (sign == ">")
