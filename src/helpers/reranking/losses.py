"""Losses: over groups of texts, and the parts of the distillation's."""

from collections.abc import Callable, Sequence
from typing import Any

from helpers.registry import Registry, call

# Losses over groups: `scores` and `teacher` are (groups, size), the relevant text of a labelled group first.
#
#     total({"lce": 1.0, "kl": 0.5}, scores, teacher)
#
# The teacher's scores are already divided by the temperature, so that its differences are in the units of a logit.

def lce(scores: Any) -> Any:
    """Localized contrastive estimation: softmax cross-entropy in a group (Gao et al. 2021; Pradeep et al. 2022)."""
    return -scores.log_softmax(-1)[:, 0].mean()


def bce(scores: Any) -> Any:
    """Binary cross-entropy of every text alone, the loss of monoBERT (Nogueira & Cho 2019; Steensland 2021, equation 3.2)."""
    return told_apart(scores, 1)


def duo(scores: Any) -> Any:
    """Binary cross-entropy of pairs, the loss of duoBERT (Nogueira et al. 2019; Steensland 2021, equation 3.3): in the first half
    of a group the relevant text stands before another, in the second half after it."""
    return told_apart(scores, scores.shape[1] // 2)


def told_apart(scores: Any, true: int) -> Any:
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


# The losses of Simplified TinyBERT (Chen et al. 2021, section 2; Jiao et al. 2020, equations 7 to 10).
#
# A student learns from a teacher in one stage, by a weighted sum: from its answers (soft), from the judgments (hard), from its
# hidden states and from its attention. The temperature is that of Hinton et al. (2015): both logits are divided by it. Equation
# 2.31 of Steensland (2021) prints the division outside of the softmax; that cannot be meant, since it would only scale the loss.
#
# Each part is a function of those of these values which it names: `student` and `teacher`, what the models give, all states and
# the student's hard loss among it; `mask`, (batch, tokens), true at real tokens; `matched`, the teacher's layer of each of the
# student's; `scores`, attention scores of both (see `distillation_trainer`); `temperature`; and `widen` (see `projection`).

def matched_layers(student: int, teacher: int) -> list[int]:
    """Which teacher layer (from 0) each student layer is matched with: every (teacher / student)-th, the last with the last.
    ValueError if the student has more layers than the teacher."""
    if not 0 < student <= teacher:
        raise ValueError(f"a student of {student} layers cannot be matched with a teacher of {teacher}")
    return [(number + 1) * teacher // student - 1 for number in range(student)]


def hard(student: Any) -> Any:
    """The cross-entropy with the judgments."""
    return student.loss


def soft(student: Any, teacher: Any, temperature: float) -> Any:
    """Cross-entropy of the student's probabilities with the teacher's, both at the temperature: above 1 they are softer.

    One logit a pair stands for the two classes of the thesis: the softmax of (0, z) is the sigmoid of z.
    """
    from torch.nn.functional import binary_cross_entropy_with_logits

    learned, taught = (side.logits.float() / temperature for side in (student, teacher))
    return binary_cross_entropy_with_logits(learned, taught.sigmoid())


def hidden(student: Any, teacher: Any, mask: Any, matched: Sequence[int], widen: Callable[[Any], Any]) -> Any:
    """Squared error of hidden states, (batch, tokens, dimensions) for the embeddings and each layer, at real tokens; those of a
    narrower student are widened by one projection (Jiao et al. 2020, equation 8)."""
    states = teacher.hidden_states
    taught = [states[0], *(states[n + 1] for n in matched)]
    return squared_error([widen(states) for states in student.hidden_states], taught, mask.unsqueeze(-1))


def attention(mask: Any, matched: Sequence[int], scores: dict[str, Any]) -> Any:
    """Squared error of attention scores before the softmax, (batch, heads, tokens, tokens) a layer, between real tokens."""
    taught = scores["teacher"].layers()
    between = (mask.unsqueeze(1) & mask.unsqueeze(2)).unsqueeze(1)
    return squared_error(scores["student"].layers(), [taught[n] for n in matched], between)


def projection(student: Any, teacher: Any) -> Any:
    """What widens a student's states, (..., its dimensions), to its teacher's: a linear layer to be learned where they differ."""
    from torch import nn

    narrow, wide = student.config.hidden_size, teacher.config.hidden_size
    return nn.Identity() if narrow == wide else nn.Linear(narrow, wide, bias=False)


def squared_error(student: Sequence[Any], matched: Sequence[Any], kept: Any) -> Any:
    """The mean squared error of each layer with its match where `kept` (which broadcasts) is true, summed over the layers."""
    errors = [(s.float() - t.float()).square() for s, t in zip(student, matched, strict=True)]
    return sum((error * kept).sum() / kept.expand_as(error).sum() for error in errors)


PARTS: Registry[Callable[..., Any]] = Registry("part of a distillation's loss", {
    "hard": hard, "soft": soft, "hidden": hidden, "attention": attention})
