"""Steps made again from their recipes: for a worker of a cluster, for `book verify`."""

import functools
from collections.abc import Callable
from typing import Any

from helpers.errors import BadInput
from helpers.steps import recipe, registry
from helpers.steps.computation import Step


def rebuild(description: Any, lazily: bool = False) -> Any:
    """The argument that a recipe describes: steps and data parts are made again, the rest is plain.

    Args:
        description: a recipe, or a part of one.
        lazily: whether the inputs of a step are made again only when they are asked for: looking it up reads no data.

    Raises:
        KeyError: if a step of that name and version no longer exists.
    """
    made: dict[int, Any] = {}  # what several inputs share is one object in a recipe that was unfolded, and made once

    def again(part: dict[str, Any]) -> Any:
        if id(part) not in made:
            made[id(part)] = _Described(part) if lazily and "data" not in part else _made(part, again)
        return made[id(part)]

    return recipe.replaced(description, again)


def _made(part: dict[str, Any], again: Callable[[dict[str, Any]], Any]) -> Any:
    if "data" in part:
        data = registry.KINDS[part["data"][0]](part)
        if data.recipe()["digest"] != part["digest"]:
            raise BadInput(f"{'/'.join(part['data'])} has changed since", mend="compute the step again")
        return data
    return Step(registry.defined(part), {name: recipe.replaced(item, again) for name, item in part["arguments"].items()})


class _Described(Step):
    def __init__(self, description: dict[str, Any]):
        self.definition, self._recipe = registry.defined(description), description
        self.name, self.key = self.definition.name, recipe.key_of(description)

    @functools.cached_property
    def arguments(self) -> dict[str, Any]:  # type: ignore[override]
        return {name: rebuild(item, lazily=True) for name, item in self._recipe["arguments"].items()}
