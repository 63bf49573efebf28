"""What is known of computations that were made before, here or for the recorded runs: recipes and what they cost.

A manifest tells its own recipe and seconds, and those of every step below it, so that the cost of weights and indexes, which are
never shipped, is known from the recorded runs that rest on them.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.steps import recipe
from helpers.steps.store import MANIFEST

PLAIN, OTHER_DATA, OTHER_STEP = 1, 3, 20  # how far apart an argument sets two computations
OTHER_PARTS = 5  # more or fewer parts, such as a further split
SAME_PART = 2  # the same part of another collection, such as its documents
HERE, RECORDED = "here", "recorded run"  # where something was computed


@dataclass(frozen=True)
class Known:
    """A computation that was made before.

    Args:
        recipe: of its step.
        key: of the recipe.
        seconds: it took, without its inputs; None if nobody noted it.
        place: `HERE` or `RECORDED`.
        folder: its entry, not checked; None if only a later step tells of it.
    """

    recipe: dict[str, Any]
    key: str
    seconds: float | None
    place: str
    folder: Path | None


@dataclass(frozen=True)
class Difference:
    """An argument in which two recipes of one step differ, in the step itself or in one below it.

    Args:
        through: the argument of the upper step that leads to it; its own name for a plain argument.
        step: whose argument it is.
        argument: its name; `version` for the step's version.
        value: what the first recipe has.
        other: what the second has.
        weight: how far it sets the two apart.
    """

    through: str
    step: str
    argument: str
    value: str
    other: str
    weight: int = PLAIN


class Catalogue:
    """All known computations by the name of their step."""

    def __init__(self) -> None:
        by_step: dict[str, dict[str, Known]] = {}
        for root, place in ((paths.store(), HERE), (paths.RESULTS, RECORDED)):
            for manifest in sorted(root.glob(f"*/*/*/{MANIFEST}")):
                for known in _of_manifest(manifest, place):
                    entries = by_step.setdefault(known.recipe["step"], {})
                    if known.key not in entries or (entries[known.key].folder is None and known.folder is not None):
                        entries[known.key] = known
        self._by_step = by_step

    def of(self, name: str) -> list[Known]:
        """The known computations of a step."""
        return list(self._by_step.get(name, {}).values())


def _of_manifest(file: Path, place: str) -> list[Known]:
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
        own = Known(manifest["recipe"], manifest["key"], manifest.get("seconds"), place, file.parent)
        below = list(_below(own.recipe, manifest.get("inputs") or [], place))
        return [known for known in (own, *below) if known.recipe["step"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []  # an unfinished or damaged entry tells nothing


def _below(upper: dict[str, Any], lines: Sequence[dict[str, Any]], place: str) -> Iterator[Known]:
    """The steps below one; a manifest tells of them in the order in which they stand in the recipe."""
    for part, line in zip(recipe.input_steps(upper), lines, strict=False):
        if line["step"] == part["step"]:
            yield Known(part, line["key"], line.get("seconds"), place, None)
            yield from _below(part, line.get("inputs") or [], place)


def nearest(missing: dict[str, Any], known: Sequence[Known]) -> list[tuple[Known, frozenset[Difference]]]:
    """Known computations of the same step with their differences from the missing one, the nearest first.

    Among those that are equally near, the Almanac's come first, so that what stands in for several steps belongs together.
    """
    key = recipe.key_of(missing)
    compared = [(one, frozenset() if one.key == key else frozenset(differences(missing, one.recipe))) for one in known]
    return sorted(compared, key=lambda pair: (distance(pair[1]), _others(pair[0].recipe), pair[0].key))


def _others(value: Any) -> int:
    """How many parts of other collections than the Almanac a recipe names."""
    if isinstance(value, list):
        return sum(map(_others, value))
    if not isinstance(value, dict):
        return 0
    if "data" in value:
        return int(value.get("collection", "almanac") != "almanac")
    return sum(map(_others, value.values()))


def distance(differing: frozenset[Difference]) -> int:
    """How far apart two recipes are; what several inputs share counts once."""
    return sum(weight for *_, weight in {(d.step, d.argument, d.value, d.other, d.weight) for d in differing})


def differences(first: dict[str, Any], second: dict[str, Any]) -> set[Difference]:
    """In what two recipes of one step differ; what several inputs share is named once for each argument that leads to it."""
    differing = set()
    if first["version"] != second["version"]:
        differing.add(Difference("version", first["step"], "version", str(first["version"]), str(second["version"])))
    for name in {**first["arguments"], **second["arguments"]}:
        pair = first["arguments"].get(name), second["arguments"].get(name)
        differing |= {Difference(name, *rest) for rest in _differing(first["step"], name, *pair)}
    return differing


def _differing(step: str, name: str, first: Any, second: Any) -> Iterator[tuple[str, str, str, str, int]]:
    if first == second:
        return
    both = first, second
    if all(_is(value, "step") for value in both) and first["step"] == second["step"]:
        yield from ((d.step, d.argument, d.value, d.other, d.weight) for d in differences(first, second))
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second) and any(
            isinstance(item, dict) for item in (*first, *second)):
        for pair in zip(first, second, strict=True):
            yield from _differing(step, name, *pair)
    else:
        labels = _label(first), _label(second)
        weight = (OTHER_STEP if any(_is(value, "step") for value in both) else
                  OTHER_PARTS if any(isinstance(value, list) and any(_is(item, "data") for item in value) for value in both) else
                  SAME_PART if labels[0] == labels[1] and all(_is(value, "data") for value in both) else
                  OTHER_DATA if any(_is(value, "data") for value in both) else PLAIN)
        yield step, name, labels[0] if labels[0] != labels[1] else "changed", labels[1], weight


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, dict) and kind in value


def _label(value: Any) -> str:
    """An argument in a few words: a step by its name, data by theirs."""
    if _is(value, "step"):
        return value["step"]
    if _is(value, "data"):
        return "/".join(map(str, value["data"]))
    return "none" if value is None else json.dumps(value, ensure_ascii=False)
