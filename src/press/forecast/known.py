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
        wanted: what the first recipe has.
        known: what the second has.
        weight: how much it tells against taking the one for the other.
    """

    through: str
    step: str
    argument: str
    wanted: str
    known: str
    weight: int = PLAIN


class Catalogue:
    """All known computations by the name of their step."""

    def __init__(self) -> None:
        found: dict[str, dict[str, Known]] = {}
        for root, place in ((paths.store(), HERE), (paths.RESULTS, RECORDED)):
            for manifest in sorted(root.glob(f"*/*/*/{MANIFEST}")):
                for known in _told_by(manifest, place):
                    entries = found.setdefault(known.recipe["step"], {})
                    if known.key not in entries or (entries[known.key].folder is None and known.folder is not None):
                        entries[known.key] = known
        self._found = found

    def of(self, name: str) -> list[Known]:
        """The known computations of a step."""
        return list(self._found.get(name, {}).values())


def _told_by(file: Path, place: str) -> list[Known]:
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


def nearest(wanted: dict[str, Any], known: Sequence[Known]) -> list[tuple[Known, frozenset[Difference]]]:
    """Known computations of the same step with their differences from the wanted one, the nearest first.

    Among those that are equally near, the Almanac's come first, so that what stands in for several steps belongs together.
    """
    key = recipe.key_of(wanted)
    compared = [(each, frozenset() if each.key == key else frozenset(differences(wanted, each.recipe))) for each in known]
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


def distance(found: frozenset[Difference]) -> int:
    """How far apart two recipes are; what several inputs share counts once."""
    return sum(weight for *_, weight in {(d.step, d.argument, d.wanted, d.known, d.weight) for d in found})


def differences(wanted: dict[str, Any], known: dict[str, Any]) -> set[Difference]:
    """In what two recipes of one step differ; what several inputs share is found once for each argument that leads to it."""
    found = set()
    if wanted["version"] != known["version"]:
        found.add(Difference("version", wanted["step"], "version", str(wanted["version"]), str(known["version"])))
    for name in {**wanted["arguments"], **known["arguments"]}:
        pair = wanted["arguments"].get(name), known["arguments"].get(name)
        found |= {Difference(name, *rest) for rest in _differing(wanted["step"], name, *pair)}
    return found


def _differing(step: str, name: str, wanted: Any, known: Any) -> Iterator[tuple[str, str, str, str, int]]:
    if wanted == known:
        return
    both = wanted, known
    if all(_is(value, "step") for value in both) and wanted["step"] == known["step"]:
        yield from ((d.step, d.argument, d.wanted, d.known, d.weight) for d in differences(wanted, known))
    elif isinstance(wanted, list) and isinstance(known, list) and len(wanted) == len(known) and any(
            isinstance(item, dict) for item in (*wanted, *known)):
        for pair in zip(wanted, known, strict=True):
            yield from _differing(step, name, *pair)
    else:
        first, second = _said(wanted), _said(known)
        weight = (OTHER_STEP if any(_is(value, "step") for value in both) else
                  OTHER_PARTS if any(isinstance(value, list) and any(_is(item, "data") for item in value) for value in both) else
                  SAME_PART if first == second and all(_is(value, "data") for value in both) else
                  OTHER_DATA if any(_is(value, "data") for value in both) else PLAIN)
        yield step, name, first if first != second else "changed", second, weight


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, dict) and kind in value


def _said(value: Any) -> str:
    """An argument in a few words: a step by its name, data by theirs."""
    if _is(value, "step"):
        return value["step"]
    if _is(value, "data"):
        return "/".join(map(str, value["data"]))
    return "none" if value is None else json.dumps(value, ensure_ascii=False)
