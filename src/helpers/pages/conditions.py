"""Conditions: what a paragraph rests on, as comparisons of the evaluations, and as facts, that its chapter hands over.

`sum > merge`: the 95 % interval of the difference lies above zero; `ranks !> merge`: it does not; `a >~ b`: the mean is higher;
`a !>~ b`: it is not. `a >~ b + .01`: it is so by more than .01; `a > b in R@10`: in another measure. A single name is a fact,
true or false: `level`, `not level`.
"""

import re
from collections.abc import Iterator, Mapping

from helpers import paths
from helpers.errors import BadInput
from helpers.systems.evaluated import Evaluation

COMPARISON = re.compile(r"(\w+)\s*(!?>)(~?)\s*(\w+)(?:\s*\+\s*(\d*\.\d+))?(?:\s+in\s+(\S+))?")
FACT = re.compile(r"(not\s+)?(\w+)")


def failed(conditions: str, known: Mapping[str, Evaluation | bool], measure: str) -> list[str]:
    """Those of the conditions, joined by `and`, that do not hold; none holds of what is not there. BadInput for what is no
    condition."""
    return [one for one in map(str.strip, conditions.split(" and ")) if not _holds(one, known, measure)]


def compared(conditions: str, known: Mapping[str, Evaluation | bool], measure: str) -> Iterator[tuple[str, str, str]]:
    """The two systems and the measure of each comparison among the conditions, those whose systems are there."""
    for parts in filter(None, map(COMPARISON.fullmatch, map(str.strip, conditions.split(" and ")))):
        if all(isinstance(known.get(parts[n]), Evaluation) for n in (1, 4)):
            yield parts[1], parts[4], parts[6] or measure


def _holds(condition: str, known: Mapping[str, Evaluation | bool], measure: str) -> bool:
    if fact := FACT.fullmatch(condition):
        return fact[2] in known and bool(known[fact[2]]) != bool(fact[1])
    if not (parts := COMPARISON.fullmatch(condition)):
        raise BadInput(f"{condition!r} is no condition", file=paths.PUBLISHED / "discussions.yaml",
                       mend="write `a > b`, `a !> b`, `a >~ b` or a fact's name, several joined by `and`")
    first, second = known.get(parts[1]), known.get(parts[4])
    if not isinstance(first, Evaluation) or not isinstance(second, Evaluation):
        return False
    measure, more = parts[6] or measure, float(parts[5] or 0)
    moved = first.mean(measure).mean - second.mean(measure).mean if parts[3] else first.against(second, measure).difference.low
    return (moved > more) == (parts[2] == ">")
