"""What is known of computations that were made before, here or for the recorded runs: recipes, and the seconds that they took.

A manifest has its own recipe and seconds, and those of every step below it, so that the time of weights and indexes, which are
never shipped, is known from the recorded runs that rest on them.
"""

import contextlib
import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from helpers import paths
from helpers.data.collection import open_collection
from helpers.data.elsewhere import listed
from helpers.errors import BadInput, NetworkNeeded
from helpers.steps import fresh_since, recipe
from helpers.steps.recorded import Recorded
from helpers.steps.store import Store
from press.terminal import shortened

SHOWN, LONGEST = 3, 40  # arguments named as a reason, and characters of a value
GZIP = 3.0  # how many bytes of text one of an archive holds
Arguments = dict[tuple[str, str], str]  # values by step and argument


@dataclass(frozen=True)
class Known:
    """A computation that was made before."""

    recipe: dict[str, Any]  # of its step
    key: str  # of the recipe
    seconds: float | None  # it took, without its inputs; None if nobody noted it
    kept: Store | Recorded | None  # where its entry is, unread; None if only a later step names it

    @functools.cached_property
    def arguments(self) -> Arguments:
        """Its own and those of all below it."""
        return arguments(self.recipe)


def catalogue() -> dict[str, list[Known]]:
    """All known computations by the name of their step; an entry itself comes before what a later step has of it."""
    by_key: dict[str, Known] = {}
    for kept in (Store(paths.store()), Recorded(paths.RESULTS)):
        for known in (known for manifest in kept.manifests() for known in _of_manifest(manifest, kept)):
            if known.key not in by_key or (by_key[known.key].kept is None and known.kept is not None):
                by_key[known.key] = known
    by_step = defaultdict(list)
    for known in by_key.values():
        by_step[known.recipe["step"]].append(known)
    return by_step


def _of_manifest(manifest: dict[str, Any], kept: Store | Recorded) -> list[Known]:
    try:
        own = Known(manifest["recipe"], manifest["key"], manifest.get("seconds"), kept)
        return [own, *_below(own.recipe, manifest.get("inputs") or [])]
    except (LookupError, TypeError):
        return []  # a damaged entry holds nothing


def _below(upper: dict[str, Any], lines: Sequence[dict[str, Any]]) -> Iterator[Known]:
    """The steps below one, in the order in which they stand in the recipe."""
    for part, line in zip(recipe.input_steps(upper), lines, strict=False):
        if line["step"] == part["step"]:
            yield Known(part, line["key"], line.get("seconds"), None)
            yield from _below(part, line.get("inputs") or [])


def arguments(whole: dict[str, Any]) -> Arguments:
    """The plain arguments of a recipe's step, and of all steps below it, with the data."""
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


def times_as_many(ours: dict[str, Any], theirs: dict[str, Any]) -> float:
    """How many pairs of query and candidate a ranking has beside another's, or how much text is read without queries; 1 where
    that is not known."""
    here, there = _amount(ours), _amount(theirs)
    return here / there if here and there else 1.0


def _amount(whole: dict[str, Any]) -> float:
    """Pairs of query and candidate, those not counted that a model was trained on, or bytes of text; 0 if not known."""
    named = {(part["data"][0], part["collection"], part["data"][1]) for part in recipe.parts(whole)
             if {"data", "collection"} <= part.keys()}
    if not whole["step"].endswith("window_scores"):
        asks = any(kind == "queries" for kind, *_ in named)
        return 0 if asks else sum(_bytes(*text) for kind, *text in named if kind == "texts")
    for asked in (part["arguments"] for part in recipe.parts(whole) if part.get("step") == "queries"):
        data = asked["parts"][0]
        if data["data"][1] != "train":
            return whole["arguments"].get("candidates", 1) * (
                asked["sample"] or _queries(data["collection"], data["data"][1], data["digest"]))
    return 0


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
