"""How much a step reads beside another that was computed before, so that a small collection's seconds tell of a large one's."""

import contextlib
import functools
from typing import Any

from helpers.data.collection import open_collection
from helpers.data.elsewhere import listed
from helpers.errors import BadInput, NetworkNeeded
from helpers.steps import recipe

GZIP = 3.0  # how many bytes of text one of an archive holds


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
