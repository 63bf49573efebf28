"""What a step would take at scale: disk, memory, a GPU's memory and hours, estimated from its recipe alone.

    load = workload.of(step.recipe())       # None: no rule, which means that it is small beside the others
    scale.gpu().hours(load.operations)

The formulas are in `workload_rules`, what they read off a recipe in `workload_inputs`, the facts in `published/scale.yaml`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from helpers.errors import BadInput
from press.forecast import scale


@dataclass(frozen=True)
class Load:
    """An estimate for one step.

    Args:
        disk: bytes that its value takes.
        memory: bytes of the process at its peak.
        gpu: bytes of a GPU's memory at its peak; 0 without a network.
        operations: floating-point operations of networks.
    """

    disk: float = 0.0
    memory: float = 0.0
    gpu: float = 0.0
    operations: float = 0.0

    @property
    def hours(self) -> float:
        """On the GPU that `published/scale.yaml` names."""
        return scale.gpu().hours(self.operations)


def rows(number: float, process: float) -> Load:
    """A run of so many rows: compressed on disk, a frame in the memory of the process."""
    return Load(number * scale.assumed("run_row"), process + number * scale.assumed("frame_row"))


def of(recipe: dict[str, Any]) -> Load | None:
    """The estimate for a step's recipe; None without a rule for it, or facts on what it reads."""
    from press.forecast.workload_rules import RULES

    try:
        return RULES[recipe["step"]](recipe["arguments"]) if recipe["step"] in RULES else None
    except (scale.Unknown, BadInput):
        return None


def together(loads: Iterable[Load | None]) -> Load:
    """Several steps, one after the other: disk and operations add up, of memory the largest counts."""
    known = [load for load in loads if load is not None]
    return Load(sum(load.disk for load in known), max((load.memory for load in known), default=0.0),
                max((load.gpu for load in known), default=0.0), sum(load.operations for load in known))


def is_large(recipe: dict[str, Any]) -> bool:
    """Whether a recipe rests on a collection of ir_datasets whose size is known."""
    return any(name.startswith("irds:") and name in scale.facts()["collections"] for name in _collections(recipe))


def _collections(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        if "data" in value:
            yield value.get("collection", "")
        else:
            for item in value.values():
                yield from _collections(item)
    elif isinstance(value, list):
        for item in value:
            yield from _collections(item)
