"""Steps made again from their recipes: for a worker of a cluster, for `book verify`."""

import functools
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
    if isinstance(description, list):
        return [rebuild(item, lazily) for item in description]
    if not isinstance(description, dict):
        return description
    if "data" in description:
        return _rebuild_data(description)
    if "step" not in description:
        return {name: rebuild(item, lazily) for name, item in description.items()}
    if lazily:
        return _Described(description)
    return Step(registry.defined(description), {name: rebuild(item) for name, item in description["arguments"].items()})


class _Described(Step):
    def __init__(self, description: dict[str, Any]):
        self.definition, self._recipe = registry.defined(description), description
        self.name, self.key = self.definition.name, recipe.key_of(description)

    @functools.cached_property
    def arguments(self) -> dict[str, Any]:  # type: ignore[override]
        return {name: rebuild(item, lazily=True) for name, item in self._recipe["arguments"].items()}


def _rebuild_data(description: dict[str, Any]) -> Any:
    data = registry.maker_of(description)(description)
    if data.recipe()["digest"] != description["digest"]:
        raise BadInput(f"{'/'.join(description['data'])} has changed since", mend="compute the step again")
    return data
