"""Which trainings lie behind a system: the steps with a seed that its step was made from, straight or through others."""

import functools
from typing import Any

from helpers.steps import recipe, registry

PRETRAINING = "pretrained"


def trainings(source: Any) -> frozenset[str]:
    """The keys of the trainings behind a step: network steps that take a seed. None for what has no recipe."""
    return frozenset(key for _, key in _seeded(source))


def pretrainings(source: Any) -> frozenset[str]:
    """The keys of those that are pre-trainings."""
    return frozenset(key for name, key in _seeded(source) if name == PRETRAINING)


def _seeded(source: Any) -> frozenset[tuple[str, str]]:
    return _seeded_of(source) if hasattr(source, "recipe") else frozenset()


@functools.lru_cache(maxsize=4096)
def _seeded_of(source: Any) -> frozenset[tuple[str, str]]:
    return frozenset((part["step"], recipe.key_of(part)) for part in recipe.parts(source.recipe())
                     if "step" in part and "seed" in part["arguments"] and registry.STEPS[part["step"]].network)
