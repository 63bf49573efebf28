"""What the engine knows of those that use it: the steps, and the kinds of data that steps take. They register themselves.

A step is registered where it is declared, and a kind of data where its class is:

    @kind("backbone")
    def _from_recipe(description: dict[str, Any]) -> Backbone:
        return resolve(description["data"][1])

Data has a `recipe()`, whose `digest` follows its content, and `sources()`, the files that it is read from, if there are any.

So a process knows them once it has imported their modules. One that makes a step again from its recipe is told which: a task of a
cluster carries `modules` of its recipe, and `book verify` imports the whole package.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from helpers.registry import Registry
from helpers.steps import recipe

Maker = TypeVar("Maker", bound=Callable[[dict[str, Any]], Any])


@dataclass(frozen=True)
class Shards:
    """How a step is computed in parts that are steps themselves, with the very result that it has as a whole."""

    split: Callable[[Any, dict[str, Any]], list[Any]]  # from the step and the values of its inputs, by argument, to its parts
    # from the values of the parts, in order, to the step's value; `folder` as the step's function has it
    join: Callable[..., Any]


@dataclass(frozen=True)
class Definition:
    """What `@step` knows of a function; its arguments are explained there."""

    name: str
    version: int
    form: str
    network: bool
    function: Callable[..., Any]
    hints: dict[str, Any] = field(repr=False, default_factory=dict)
    timing: bool = False
    resumable: bool = False
    parallel: bool = False
    shards: Shards | None = None


STEPS: dict[str, Definition] = {}
KINDS: Registry[Callable[[dict[str, Any]], Any]] = Registry("unknown kind of data", {})  # unless its module is imported


def kind(*names: str) -> Callable[[Maker], Maker]:
    """Register the function that makes data of these kinds again from its part of a recipe, `{"data": [kind, ...], ...}`."""
    def register(function: Maker) -> Maker:
        KINDS.update(dict.fromkeys(names, function))
        return function
    return register


def defined(description: dict[str, Any]) -> Definition:
    """The step that a recipe names; KeyError if there is none of that name and version."""
    if description["step"] not in STEPS:
        raise KeyError(f"there is no step {description['step']}")
    definition = STEPS[description["step"]]
    if definition.version != description["version"]:
        raise KeyError(f"{definition.name} is at version {definition.version}, not {description['version']}")
    return definition


def modules(description: dict[str, Any]) -> set[str]:
    """The modules that register the steps and the kinds of data in a recipe, at any depth."""
    found = recipe.parts(description)
    return {(defined(part).function if "step" in part else KINDS[part["data"][0]]).__module__ for part in found}
