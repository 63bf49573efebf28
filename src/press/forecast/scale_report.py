"""What `book explain` says of disk, memory and GPU hours where collections are too large to have been computed here.

Every number is an estimate from formulas, see `workload`; expected times are judged from earlier computations instead, see
`estimates`, and tell nothing about a collection a thousand times as large.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from helpers.pages.numbers import count
from helpers.steps import Step
from press.forecast import scale, workload
from press.forecast.estimates import Expected
from press.forecast.workload import Load

HEADS = ("disk, GB", "memory, GB", "GPU, GB", "GPU hours")
GIGA = 1e9
Loads = Mapping[str, Load | None]


def is_large(expected: Sequence[Expected]) -> bool:
    """Whether any step rests on a large collection."""
    return any(workload.is_large(each.step.recipe()) for each in expected)


def loads(steps: Sequence[Step]) -> dict[str, Load | None]:
    """The estimate of each step by its key; None for a small one, which has no rule."""
    return {step.key: workload.of(step.recipe()) for step in steps}


def cells(load: Load | None) -> tuple[str, str, str, str]:
    """Disk, memory, GPU memory and GPU hours; empty for what is not known."""
    if load is None:
        return "", "", "", ""
    return (amount(load.disk / GIGA), amount(load.memory / GIGA), amount(load.gpu / GIGA) if load.gpu else "",
            amount(load.hours) if load.operations else "")


def amount(value: float) -> str:
    """A number of gigabytes or hours: `< 0.1`, `3.4`, `26`, `1,240`."""
    if 0 < value < 0.1:
        return "< 0.1"
    return f"{value:.1f}" if value < 10 else count(round(value))


def table(expected: Sequence[Expected]) -> tuple[list[tuple[Any, ...]], str]:
    """The rows of a chapter's steps that have an estimate, with a head, and the line below: the sum, what is left out."""
    found = loads([each.step for each in expected])
    rows = [(each.step.name, each.step.key[:10], *cells(load), each.why) for each in expected
            if (load := found[each.step.key]) is not None]
    return [("step to compute", "key", *HEADS, "why"), *rows], told(found)


def told(found: Loads) -> str:
    """The sum of estimates in a sentence."""
    whole, small = workload.together(found.values()), sum(load is None for load in found.values())
    disk, memory, on_gpu, hours = cells(whole)
    said = (f"estimated: {disk} GB of disk, up to {memory} GB of memory, {hours or 0} GPU hours"
            f"{f' with up to {on_gpu} GB of GPU memory' if on_gpu else ''}")
    return said + (f"; {small} small {'step' if small == 1 else 'steps'} not counted" if small else "")


def assumptions() -> str:
    """What the estimates rest on."""
    gpu = scale.gpu()
    return (f"estimates, nothing was measured at this size; GPU hours: operations counted from each network's shape, at "
            f"{gpu.share:.0%} of the {gpu.flops / 1e12:.0f} TFLOP/s that one {gpu.name} has at its peak, a training as three "
            "forward passes\n"
            "lengths are means, without padding; a training counts every query as if its candidates held a relevant text; disk "
            "is what stays in the store; memory is the process's, GPU its weights, optimiser and the activations of a batch\n"
            "facts and sources: published/scale.yaml")
