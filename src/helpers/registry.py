"""Parts by name: losses, poolings, aggregations, first stages. A name that is not there is an error, never a default."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from helpers.errors import BadInput

Part = TypeVar("Part")


class Registry(dict[str, Part]):
    """The parts of a kind, each under the name by which settings choose it; `kind` is what they are, for the error: `loss`."""

    def __init__(self, kind: str, parts: dict[str, Part]):
        super().__init__(parts)
        self.kind = kind

    def __missing__(self, name: str) -> Part:
        raise BadInput(f"{self.kind} {name!r}: one of {', '.join(self)}")


def call(function: Callable[..., Any], **known: Any) -> Any:
    """Call a part with those of the known values that its parameters name; TypeError if one without a default is none of them."""
    return function(**{name: known[name] for name in inspect.signature(function).parameters if name in known})
