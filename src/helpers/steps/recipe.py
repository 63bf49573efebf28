"""Recipes and keys: what makes two computations the same one.

A recipe is the plain-JSON description of a step: its name, its integer version, its parameters, its inputs. The key is
the SHA-256 of the recipe with raw data replaced by its digest and every input step by its own key. JSON keeps `1`,
`1.0`, `"1"` and `true` apart, so parameters of different types never share a key by accident.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

AGAIN = "$again"  # a part's number in a folded recipe


def canonical(value: Any) -> str:
    """The one JSON text of a plain value (sorted keys, no spaces)."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256(text: str | bytes) -> str:
    """Hexadecimal SHA-256 of a text or of bytes."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def describe(value: Any) -> Any:
    """The recipe of a step's argument.

    Plain values describe themselves; steps and data describe themselves through their `recipe()`; lists, tuples and
    dictionaries are described element by element. TypeError for a value that has no exact plain form (arrays, sets, objects), or
    a float that is not finite.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"{value} cannot be a step's parameter: it has no place in JSON")
        return value
    if isinstance(value, list | tuple):
        return [describe(item) for item in value]
    if isinstance(value, dict):
        if odd := [name for name in value if not isinstance(name, str) or name in ("step", "data")]:
            raise TypeError(f"{odd[0]!r} cannot be a name in a step's parameter: use texts other than `step` and `data`")
        return {name: describe(item) for name, item in value.items()}
    if hasattr(value, "recipe"):
        return value.recipe()
    raise TypeError(f"{type(value).__name__} cannot be a step's parameter: use plain values, steps or collection parts")


def key_of(recipe: dict[str, Any], keys: Mapping[int, str] = MappingProxyType({})) -> str:
    """The key of a step's recipe: 64 hexadecimal digits. `keys` has the known ones of input steps, by their recipes' `id`."""
    def identity(part: dict[str, Any]) -> dict[str, str]:
        return {"$step": keys.get(id(part)) or key_of(part)} if "step" in part else {"$data": part["digest"]}

    arguments = {name: replaced(value, identity) for name, value in recipe["arguments"].items()}
    return sha256(canonical({"step": recipe["step"], "version": recipe["version"], "arguments": arguments}))


def is_part(value: Any) -> bool:
    """Whether a value is a step or data, or the recipe of one."""
    return hasattr(value, "recipe") or (isinstance(value, dict) and ("step" in value or "data" in value))


def parts_in(value: Any) -> Iterator[Any]:
    """The steps and the data in an argument, or their recipes in its recipe, in order of appearance."""
    if is_part(value):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from parts_in(item)


def replaced(value: Any, by: Callable[[Any], Any]) -> Any:
    """An argument, or its recipe, with what a function gives in place of each step and data."""
    if is_part(value):
        return by(value)
    if isinstance(value, list | tuple):
        return [replaced(item, by) for item in value]
    return {name: replaced(item, by) for name, item in value.items()} if isinstance(value, dict) else value


def input_steps(recipe: dict[str, Any]) -> list[dict[str, Any]]:
    """The recipes of the steps that a recipe takes directly as inputs, in order of appearance."""
    return [part for part in parts_in(list(recipe["arguments"].values())) if "step" in part]


def parts(recipe: dict[str, Any], without: str = "") -> Iterator[dict[str, Any]]:
    """A step's recipe and those of all steps and data below it, but for steps of one name and what is below these; what several
    inputs share comes several times."""
    if recipe.get("step") != without:
        yield recipe
        for part in parts_in(list(recipe.get("arguments", {}).values())):  # data has none
            yield from parts(part, without)


def folded(recipe: Any, numbers: dict[str, int] | None = None) -> Any:
    """A recipe as it is kept: a step or data part in full at its first place alone, elsewhere by its number among these. A chain
    of rankings repeats its collection and its models dozens of times."""
    numbers = {} if numbers is None else numbers
    if isinstance(recipe, list):
        return [folded(item, numbers) for item in recipe]
    if not isinstance(recipe, dict):
        return recipe
    if is_part(recipe):
        text = canonical(recipe)
        if text in numbers:
            return {AGAIN: numbers[text]}
        numbers[text] = len(numbers)
    return {name: folded(recipe[name], numbers) for name in sorted(recipe)}


def unfolded(kept: Any, parts: list[Any] | None = None) -> Any:
    """The whole recipe of a folded one; one that was kept whole stays as it is."""
    parts = [] if parts is None else parts
    if isinstance(kept, list):
        return [unfolded(item, parts) for item in kept]
    if not isinstance(kept, dict):
        return kept
    if AGAIN in kept:
        return parts[kept[AGAIN]]
    whole: dict[str, Any] = {}
    if is_part(kept):
        parts.append(whole)
    whole.update({name: unfolded(kept[name], parts) for name in sorted(kept)})
    return whole
