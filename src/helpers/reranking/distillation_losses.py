"""The losses of Simplified TinyBERT (Chen et al. 2021, section 2; Jiao et al. 2020, equations 7 to 10).

A student learns from a teacher in one stage: from its answers (soft), from the judgments (hard), from its hidden states
and from its attention. The temperature is that of Hinton et al. (2015): both logits are divided by it. Equation 2.31 of
Steensland (2021) prints the division outside of the softmax; that cannot be meant, since it would only scale the loss.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from helpers.registry import Registry


def matched_layers(student: int, teacher: int) -> list[int]:
    """Which teacher layer (from 0) each student layer is matched with: every (teacher / student)-th, the last with the last.
    ValueError if the student has more layers than the teacher."""
    if not 0 < student <= teacher:
        raise ValueError(f"a student of {student} layers cannot be matched with a teacher of {teacher}")
    return [(number + 1) * teacher // student - 1 for number in range(student)]


@dataclass(frozen=True)
class Batch:
    """One batch as student and teacher read it: what a part of the loss is computed from."""

    student: Any  # the model's outputs, its hard loss and hidden states among them
    teacher: Any  # likewise; None where only the hard loss is computed
    mask: Any  # (batch, tokens), true at real tokens
    matched: Sequence[int]  # the teacher's layer of each of the student's
    scores: dict[str, Any]  # attention scores of `student` and `teacher`, see `distillation_trainer`
    temperature: float  # of the soft loss
    widen: Callable[[Any], Any] = lambda states: states  # the student's states to the teacher's dimensions, see `projection`


def hard(batch: Batch) -> Any:
    """The cross-entropy with the judgments."""
    return batch.student.loss


def soft(batch: Batch) -> Any:
    """Cross-entropy of the student's probabilities with the teacher's, both at the temperature: above 1 they are softer.

    One logit a pair stands for the two classes of the thesis: the softmax of (0, z) is the sigmoid of z.
    """
    from torch.nn.functional import binary_cross_entropy_with_logits

    student, teacher = (side.logits.float() / batch.temperature for side in (batch.student, batch.teacher))
    return binary_cross_entropy_with_logits(student, teacher.sigmoid())


def hidden(batch: Batch) -> Any:
    """Squared error of hidden states, (batch, tokens, dimensions) for the embeddings and each layer, at real tokens; those of a
    narrower student are widened by one projection (Jiao et al. 2020, equation 8)."""
    states = batch.teacher.hidden_states
    matched = [states[0], *(states[n + 1] for n in batch.matched)]
    return squared_error([batch.widen(states) for states in batch.student.hidden_states], matched, batch.mask.unsqueeze(-1))


def attention(batch: Batch) -> Any:
    """Squared error of attention scores before the softmax, (batch, heads, tokens, tokens) a layer, between real tokens."""
    scores = batch.scores["teacher"].layers()
    between = (batch.mask.unsqueeze(1) & batch.mask.unsqueeze(2)).unsqueeze(1)
    return squared_error(batch.scores["student"].layers(), [scores[n] for n in batch.matched], between)


def projection(student: Any, teacher: Any) -> Any:
    """What widens a student's states, (..., its dimensions), to its teacher's: a linear layer to be learned where they differ."""
    from torch import nn

    narrow, wide = student.config.hidden_size, teacher.config.hidden_size
    return nn.Identity() if narrow == wide else nn.Linear(narrow, wide, bias=False)


def squared_error(student: Sequence[Any], matched: Sequence[Any], kept: Any) -> Any:
    """The mean squared error of each layer with its match where `kept` (which broadcasts) is true, summed over the layers."""
    def mean_square(difference: Any) -> Any:
        there = kept.expand_as(difference)
        return (difference.square() * there).sum() / there.sum()

    return sum(mean_square(s.float() - t.float()) for s, t in zip(student, matched, strict=True))


PARTS = Registry("part of a distillation's loss", {"hard": hard, "soft": soft, "hidden": hidden, "attention": attention})
