"""Computations that were made before: which is nearest to one that is missing, what differs, and how long that one should take.

A small collection's seconds tell of a larger one's by how much is read: pairs of query and candidate, or bytes of text.
"""

import contextlib
import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from helpers import paths
from helpers.data.collection import open_collection
from helpers.data.elsewhere import listed
from helpers.errors import BadInput, NetworkNeeded
from helpers.steps import Step, fresh_since, recipe
from helpers.steps.recorded import Recorded
from helpers.steps.store import Store
from press.terminal import shortened

SHOWN, LONGEST = 3, 40  # arguments named as a reason, and characters of a value
GZIP = 3.0  # how many bytes of text one of an archive holds


@dataclass(frozen=True)
class Known:
    """A computation that was made before."""

    recipe: dict[str, Any]  # of its step
    key: str  # of the recipe
    seconds: float | None  # it took, without its inputs; None if nobody noted it
    kept: Store | Recorded | None  # where its entry is, unread; None if only a later step names it

    @functools.cached_property
    def arguments(self) -> dict[tuple[str, str], str]:
        """Its own and those of all below it."""
        return arguments(self.recipe)


Catalogue = dict[str, list[Known]]  # by the name of the step


def catalogue() -> Catalogue:
    """All known computations; an entry itself goes before what a later step tells of it."""
    found = list[Known]()
    for kept in (Recorded(paths.RESULTS), Store(paths.store())):
        for manifest in kept.manifests():
            with contextlib.suppress(LookupError, TypeError):  # a damaged entry holds nothing
                found += _told(manifest["recipe"], manifest, kept)
    found.sort(key=lambda one: (one.kept is not None, one.seconds is not None))
    by_step = defaultdict(list)
    for one in {one.key: one for one in found}.values():
        by_step[one.recipe["step"]].append(one)
    return by_step


def _told(whole: dict[str, Any], line: dict[str, Any], kept: Store | Recorded | None = None) -> Iterator[Known]:
    """A computation and those below it, whose lines stand in the recipe's order."""
    yield Known(whole, line["key"], line.get("seconds"), kept)
    for part, below in zip(recipe.input_steps(whole), line.get("inputs") or [], strict=False):
        if below["step"] == part["step"]:
            yield from _told(part, below)


def arguments(whole: dict[str, Any]) -> dict[tuple[str, str], str]:
    """The plain arguments of a recipe's step, and of all steps below it, with the data: values by step and argument."""
    values: dict[tuple[str, str], set[str]] = defaultdict(set)
    for part in recipe.parts(whole):
        if "data" in part:
            values["data", "/".join(map(str, part["data"]))].add(f"{part.get('collection', '')} {part.get('digest', '')}".strip())
            continue
        values[part["step"], "version"].add(str(part.get("version")))
        for name, value in part["arguments"].items():
            if not any(recipe.parts_in(value)):
                values[part["step"], name].add(recipe.canonical(value))
    return {place: ", ".join(sorted(found)) for place, found in values.items()}


def nearest(missing: dict[str, Any], known: Iterable[Known]) -> Known | None:
    """The known computation that differs from a missing one in the fewest arguments; among equals one of the Almanac."""
    ours = arguments(missing)

    def distance(one: Known) -> tuple[int, int, str]:
        away = sum(step == "data" and not value.startswith("almanac") for (step, _), value in one.arguments.items())
        return sum(ours.get(place) != one.arguments.get(place) for place in {*ours, *one.arguments}), away, one.key

    return min(known, default=None, key=distance)


def why(missing: dict[str, Any], key: str, near: Known | None) -> str:
    """Why a step is missing: what differs from the nearest computation, or what became of it."""
    if near is None:
        return "never computed"
    if near.key == key:
        return "all is computed again" if fresh_since() is not None else "not kept" if near.kept is None else "damaged"
    ours, theirs = arguments(missing), near.arguments
    differing = sorted((place for place in ours if ours[place] != theirs.get(place)),
                       key=lambda place: (place[0] != missing["step"], place))
    reasons = [f"{'' if step == missing['step'] else f'{step}: '}{name} = {shortened(ours[step, name], LONGEST)} "
               f"(nearest: {shortened(theirs.get((step, name), 'none'), LONGEST)})" for step, name in differing[:SHOWN]]
    return "; ".join([*reasons, *([f"{len(differing) - SHOWN} more"] if len(differing) > SHOWN else [])])


def seconds_of(step: Step, known: Iterable[Known]) -> float | None:
    """The seconds of the nearest computation, and of a network those for as much as this step reads; None if none is known."""
    near = nearest(step.recipe(), [one for one in known if one.seconds is not None])
    if near is None or near.seconds is None:
        return None
    return near.seconds * (times_as_many(step.recipe(), near.recipe) if step.definition.network else 1.0)


def times_as_many(ours: dict[str, Any], theirs: dict[str, Any]) -> float:
    """How many pairs of query and candidate are scored beside another step's, or how much text is read without queries; 1 where
    that is not known."""
    here, there = _amount(ours), _amount(theirs)
    return here / there if here and there else 1.0


def _amount(whole: dict[str, Any]) -> float:
    """Pairs of query and candidate, those not counted that a model was trained on, or bytes of text; 0 if not known."""
    below = list(recipe.parts(whole))
    if whole["step"].endswith("window_scores"):
        for asked in (part["arguments"] for part in below if part.get("step") == "queries"):
            data = asked["parts"][0]
            if data["data"][1] != "train":
                return whole["arguments"].get("candidates", 1) * (
                    asked["sample"] or _queries(data["collection"], data["data"][1], data["digest"]))
        return 0
    named = {(part["data"][0], part["collection"], part["data"][1]) for part in below if {"data", "collection"} <= part.keys()}
    return 0 if any(kind == "queries" for kind, *_ in named) else sum(_bytes(*text) for kind, *text in named if kind == "texts")


@functools.cache
def _bytes(collection: str, unit: str) -> float:
    with contextlib.suppress(BadInput, NetworkNeeded, OSError):
        return sum(file.stat().st_size * (GZIP if file.suffix == ".gz" else 1.0)
                   for file in open_collection(collection).sources("texts", unit))
    return 0.0


@functools.cache
def _queries(collection: str, split: str, digest: str) -> int:
    for own in listed().values():
        if digest in own["digests"].values():
            return own["queries"]
    with contextlib.suppress(BadInput, NetworkNeeded, OSError):
        return 0 if collection.startswith("irds:") else len(open_collection(collection).queries(split))
    return 0
