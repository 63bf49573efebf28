"""Losses over groups: `scores` and `teacher` are (groups, size), the relevant text of a labelled group first.

    total({"lce": 1.0, "kl": 0.5}, scores, teacher)

The teacher's scores are already divided by the temperature, so that its differences are in the units of a logit.
"""

from collections.abc import Callable
from typing import Any

from helpers.registry import Registry, call


def lce(scores: Any) -> Any:
    """Localized contrastive estimation: softmax cross-entropy in a group (Gao et al. 2021; Pradeep et al. 2022)."""
    return -scores.log_softmax(-1)[:, 0].mean()


def bce(scores: Any) -> Any:
    """Binary cross-entropy of every text alone, the loss of monoBERT (Nogueira & Cho 2019; Steensland 2021, equation 3.2)."""
    return _told_apart(scores, 1)


def duo(scores: Any) -> Any:
    """Binary cross-entropy of pairs, the loss of duoBERT (Nogueira et al. 2019; Steensland 2021, equation 3.3): in the first half
    of a group the relevant text stands before another, in the second half after it."""
    return _told_apart(scores, scores.shape[1] // 2)


def _told_apart(scores: Any, true: int) -> Any:
    """The first `true` scores of a group should be high, the others low."""
    from torch.nn.functional import logsigmoid

    return -(logsigmoid(scores[:, :true]).sum() + logsigmoid(-scores[:, true:]).sum()) / scores.numel()


def soft_bce(scores: Any, teacher: Any) -> Any:
    """Binary cross-entropy to the teacher's probabilities, of duoBERT's pairs that the first text is the more relevant."""
    from torch.nn.functional import binary_cross_entropy_with_logits

    return binary_cross_entropy_with_logits(scores, teacher)


def kl(scores: Any, teacher: Any) -> Any:
    """How far the student's distribution over the group is from the teacher's: listwise distillation (Cao et al. 2007)."""
    target = teacher.log_softmax(-1)
    return (target.exp() * (target - scores.log_softmax(-1))).sum(-1).mean()


def margin_mse(scores: Any, teacher: Any) -> Any:
    """Squared error of the relevant text's margins over the others (Hofstätter et al. 2020)."""
    return (scores[:, :1] - scores[:, 1:] - teacher[:, :1] + teacher[:, 1:]).square().mean()


def centred_mse(scores: Any, teacher: Any) -> Any:
    """Squared error of the scores less their group's mean: of the margins between all texts, so that no label is needed."""
    error = scores - teacher
    return (error - error.mean(-1, keepdim=True)).square().mean()


LOSSES: Registry[Callable[..., Any]] = Registry("loss of groups", {
    "lce": lce, "bce": bce, "duo": duo, "soft_bce": soft_bce, "kl": kl, "margin_mse": margin_mse, "centred_mse": centred_mse})


def total(weights: dict[str, float], scores: Any, teacher: Any) -> Any:
    """The sum of the named losses, each times its weight."""
    return sum(weight * call(LOSSES[name], scores=scores, teacher=teacher) for name, weight in weights.items())
