"""What a missing step will cost, judged by the nearest computations that were made before, and why it is missing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from helpers.pages.numbers import plain
from helpers.steps import Step, fresh_since
from press.columns import shortened
from press.explain.known import HERE, Difference, Known, distance, nearest

# Arguments that the time of a step is in proportion to: its own ones, and the number of its queries
PROPORTIONAL = {("epochs",), ("candidates",), ("depth",), ("rounds",), ("timed",), ("queries", "sample")}
SHOWN = 3  # differences named
LONGEST = 40  # characters of a value

Ranked = Sequence[tuple[Known, list[Difference]]]  # known computations with their differences, the nearest first


@dataclass(frozen=True)
class Estimate:
    """Expected seconds: the median of the nearest known computations, scaled, with the least and the most; and their origin."""

    seconds: float
    low: float
    high: float
    basis: str


@dataclass(frozen=True)
class Expected:
    """A step that would be computed: why, and at what cost; the cost is None if nothing like it was ever computed."""

    step: Step
    why: str
    cost: Estimate | None


def expect(step: Step, known: Iterable[Known], missing_inputs: Sequence[Step] = ()) -> Expected:
    """Why a step, and some of its inputs, are missing, and what it will cost by the known computations of it."""
    ranked = nearest(step.recipe(), known)
    return Expected(step, _why(step, ranked, list(dict.fromkeys(part.name for part in missing_inputs))), _cost(ranked))


def _why(step: Step, ranked: Ranked, new: Sequence[str]) -> str:
    if not ranked:
        return "never computed"
    known, differing = ranked[0]
    if not differing:
        if known.folder is not None:
            return "its entry is damaged" if fresh_since() is None else "all is computed anew"
        return "no longer here" if known.place == HERE else "not shipped with the recorded runs"
    named = sorted({(d.step, d.argument, d.value, d.other) for d in differing if d.step == step.name or not new},
                   key=lambda line: (line[0] != step.name, line))  # what is new below it is told of there
    short = partial(shortened, longest=LONGEST)
    reasons = [f"{'' if name == step.name else f'{name}: '}{argument} = {short(value)} (nearest: {short(other)})"
               for name, argument, value, other in named[:SHOWN]]
    reasons += [f"{len(named) - SHOWN} more"] * (len(named) > SHOWN) + [f"follows {', '.join(new)}"] * bool(new)
    return "; ".join(reasons)


def _cost(ranked: Ranked) -> Estimate | None:
    timed = [(known, differing) for known, differing in ranked if known.seconds is not None]
    if not timed:
        return None
    closest = [(known, differing) for known, differing in timed if distance(differing) == distance(timed[0][1])]
    factors = [_factor(differing) for _, differing in closest]
    spent = [(known.seconds or 0.0) * factor for (known, _), factor in zip(closest, factors, strict=True)]
    places = " and ".join(sorted({known.place for known, _ in closest}))
    scaled = f", × {plain(median(factors), 2)} in size" if set(factors) != {1.0} else ""
    basis = f"{len(closest)} like it, {places}{scaled}" if closest[0][1] else f"the same, {places}"
    return Estimate(median(spent), min(spent), max(spent), basis)


def _factor(differing: Iterable[Difference]) -> float:
    """How much larger the missing computation is than the known one."""
    factor = 1.0
    for difference in differing:
        if difference.path in PROPORTIONAL:
            missing, known = _size(difference.value), _size(difference.other)
            factor *= missing / known if missing and known else 1.0
    return factor


def _size(text: str) -> float:
    """A number above zero; 0 for anything else, such as a sample of 0, which means all."""
    try:
        return max(0.0, float(text))
    except ValueError:
        return 0.0
