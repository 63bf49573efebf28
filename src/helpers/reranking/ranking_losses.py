"""Losses over groups: `scores` and `teacher` are (groups, size).

    total({"kl": 1.0, "centred_mse": 0.05}, scores, teacher)

The teacher's scores are already divided by the temperature, so that its differences are in the units of a logit.
"""

from collections.abc import Callable
from typing import Any

from helpers.registry import Registry, call


def kl(scores: Any, teacher: Any) -> Any:
    """How far the student's distribution over the group is from the teacher's: listwise distillation (Cao et al. 2007)."""
    target = teacher.log_softmax(-1)
    return (target.exp() * (target - scores.log_softmax(-1))).sum(-1).mean()


def centred_mse(scores: Any, teacher: Any) -> Any:
    """Squared error of the scores less their group's mean: of the margins between all texts, so that no label is needed."""
    error = scores - teacher
    return (error - error.mean(-1, keepdim=True)).square().mean()


LOSSES: Registry[Callable[..., Any]] = Registry("loss of groups", {
    "kl": kl, "centred_mse": centred_mse})


def total(weights: dict[str, float], scores: Any, teacher: Any) -> Any:
    """The sum of the named losses, each times its weight."""
    return sum(weight * call(LOSSES[name], scores=scores, teacher=teacher) for name, weight in weights.items())
