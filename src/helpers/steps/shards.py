"""How a step is computed in parts that are steps themselves: by the workers of a cluster, with the very result of the whole."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from helpers.errors import BadInput
from helpers.steps.store import Entry, Store


@dataclass(frozen=True)
class Shards:
    """How a step is computed in parts that are steps themselves, with the very result that it has as a whole."""

    split: Callable[[Any, dict[str, Any]], list[Any]]  # from the step and the values of its inputs, by argument, to its parts
    # from the values of the parts, in order, to the step's value; `folder` as the step's function has it
    join: Callable[..., Any]


def of_one_class(store: Store, of: str, parts: Sequence[tuple[str, str]]) -> list[Entry]:
    """The entries of a value's shards; those that do not fit together are removed."""
    found = [entry for name, key in parts if (entry := store.find(name, key, "")) is not None]
    if len(found) < len(parts):
        raise BadInput(f"{len(parts) - len(found)} of {len(parts)} shards of {of} are gone", mend="call again")
    if len(classes := {entry.numerics for entry in found}) > 1:
        for name, key in parts:
            store.remove(name, key)
        raise BadInput(f"workers computed the shards of {of} in different arithmetic: {', '.join(sorted(classes))}",
                       mend="let workers of one kind do it, or set BOOK_DEVICE=cpu and BOOK_DTYPE=fp32")
    return found
