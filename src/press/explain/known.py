"""What is known of computations that were made before, here or for the recorded runs: recipes and what they cost.

A manifest tells its own recipe and seconds, and those of every step below it, so that the cost of weights and indexes, which are
never shipped, is known from the recorded runs that rest on them.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from helpers import paths
from helpers.steps import recipe
from helpers.steps.store import MANIFEST

PLAIN, SAME_PART, OTHER_DATA, OTHER_STEP = 1, 2, 3, 20  # how far apart an argument sets two computations
HERE, RECORDED = "here", "recorded run"  # where something was computed


@dataclass(frozen=True)
class Known:
    """A computation that was made before."""

    recipe: dict[str, Any]  # of its step
    key: str  # of the recipe
    seconds: float | None  # it took, without its inputs; None if nobody noted it
    place: str  # `HERE` or `RECORDED`
    folder: Path | None  # its entry, not checked; None if only a later step tells of it


class Difference(NamedTuple):
    """An argument in which two recipes of one step differ, in the step itself or in one below it.

    `path` has the arguments that lead to it, `step` is whose argument it is, `value` what the first recipe has, `other` what the
    second has, and `weight` how far that sets the two apart.
    """

    path: tuple[str | int, ...]
    step: str
    argument: str
    value: str
    other: str
    weight: int = PLAIN


def catalogue() -> dict[str, list[Known]]:
    """All known computations by the name of their step; an entry itself comes before what a later step tells of it."""
    by_key: dict[str, Known] = {}
    for root, place in ((paths.store(), HERE), (paths.RESULTS, RECORDED)):
        for manifest in sorted(root.glob(f"*/*/*/{MANIFEST}")):
            for known in _of_manifest(manifest, place):
                if known.key not in by_key or (by_key[known.key].folder is None and known.folder is not None):
                    by_key[known.key] = known
    by_step = defaultdict(list)
    for known in by_key.values():
        by_step[known.recipe["step"]].append(known)
    return by_step


def _of_manifest(file: Path, place: str) -> list[Known]:
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
        own = Known(recipe.unfolded(manifest["recipe"]), manifest["key"], manifest.get("seconds"), place, file.parent)
        return [own, *_below(own.recipe, manifest.get("inputs") or [], place)]
    except (OSError, ValueError, LookupError, TypeError):
        return []  # an unfinished or damaged entry tells nothing


def _below(upper: dict[str, Any], lines: Sequence[dict[str, Any]], place: str) -> Iterator[Known]:
    """The steps below one; a manifest tells of them in the order in which they stand in the recipe."""
    for part, line in zip(recipe.input_steps(upper), lines, strict=False):
        if line["step"] == part["step"]:
            yield Known(part, line["key"], line.get("seconds"), place, None)
            yield from _below(part, line.get("inputs") or [], place)


def nearest(missing: dict[str, Any], known: Iterable[Known]) -> list[tuple[Known, list[Difference]]]:
    """Known computations of the same step with their differences from the missing one, the nearest first.

    Among those that are equally near, the Almanac's come first, so that what stands in for several steps belongs together.
    """
    compared = [(one, list(differences(missing, one.recipe))) for one in known]
    others = {one.key: sum(part.get("collection", "almanac") != "almanac" for part in recipe.parts(one.recipe))
              for one, _ in compared}
    return sorted(compared, key=lambda pair: (distance(pair[1]), others[pair[0].key], pair[0].key))


def distance(differing: Iterable[Difference]) -> int:
    """How far apart two recipes are; what several inputs share counts once."""
    return sum(weight for *_, weight in {difference[1:] for difference in differing})


def differences(first: Any, second: Any, step: str = "", path: tuple[str | int, ...] = ()) -> Iterator[Difference]:
    """In what two recipes differ, followed through steps of one name, and through lists of steps or data, item by item.

    They are those of steps, of data, or of plain values: arguments of `step`, to which the arguments of `path` lead.
    """
    if first == second:
        return
    ours, theirs = _parts_of(first), _parts_of(second)
    if ours.get("step") == theirs.get("step") and ours and theirs:
        for name in {**ours, **theirs}:
            yield from differences(ours.get(name), theirs.get(name), ours.get("step", step), (*path, name))
    else:
        argument = next(name for name in reversed(path) if isinstance(name, str))
        labels = _label(first), _label(second)
        weight = PLAIN
        if _is(first, "step") or _is(second, "step"):
            weight = OTHER_STEP
        elif _is(first, "data") or _is(second, "data"):
            weight = SAME_PART if labels[0] == labels[1] else OTHER_DATA
        yield Difference(path, step, argument, labels[0] if labels[0] != labels[1] else "changed", labels[1], weight)


def _parts_of(value: Any) -> dict[Any, Any]:
    """What a step, or a list of steps or data, is made of, by name or place; nothing for other values."""
    if _is(value, "step"):
        return {"step": value["step"], "version": value.get("version"), **value["arguments"]}
    return dict(enumerate(value)) if isinstance(value, list) and any(isinstance(item, dict) for item in value) else {}


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, dict) and kind in value


def _label(value: Any) -> str:
    """An argument in a few words: a step by its name, data by theirs."""
    if _is(value, "step"):
        return value["step"]
    if _is(value, "data"):
        return "/".join(map(str, value["data"]))
    return "none" if value is None else json.dumps(value, ensure_ascii=False)
