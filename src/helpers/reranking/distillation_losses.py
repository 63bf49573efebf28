"""The losses of Simplified TinyBERT (Chen et al. 2021, section 2; Jiao et al. 2020, equations 7 to 10).

A student learns from a teacher in one stage: from its answers (soft), from the judgments (hard), from its hidden states
and from its attention. The temperature is that of Hinton et al. (2015): both logits are divided by it. Equation 2.31 of
Steensland (2021) prints the division outside of the softmax; that cannot be meant, since it would only scale the loss.
"""

from collections.abc import Sequence
from typing import Any


def soft_cross_entropy(student: Any, teacher: Any, temperature: float) -> Any:
    """Cross-entropy of the student's probabilities against the teacher's, both at a temperature.

    One logit a pair stands for the two classes of the thesis: the softmax of (0, z) is the sigmoid of z.

    Args:
        student: logits, any shape.
        teacher: logits, the same shape.
        temperature: above 0; 1 leaves the probabilities as they are, more makes them softer.
    """
    from torch.nn.functional import binary_cross_entropy_with_logits

    return binary_cross_entropy_with_logits(student.float() / temperature, (teacher.float() / temperature).sigmoid())


def hidden_loss(student: Sequence[Any], teacher: Sequence[Any], mask: Any) -> Any:
    """Mean squared error of hidden states at real tokens, summed over the layers.

    Args:
        student: one (batch, tokens, dimensions) for the embeddings and each layer.
        teacher: the states that they are matched with, as many and as wide.
        mask: (batch, tokens), true at real tokens.
    """
    kept = mask.unsqueeze(-1)
    return sum(masked_mean_square(s.float() - t.float(), kept) for s, t in zip(student, teacher, strict=True))


def attention_loss(student: Sequence[Any], teacher: Sequence[Any], mask: Any) -> Any:
    """Mean squared error of attention scores between real tokens, before the softmax, summed over the layers.

    Args:
        student: one (batch, heads, tokens, tokens) for each layer.
        teacher: the scores that they are matched with, as many, with as many heads.
        mask: (batch, tokens), true at real tokens.
    """
    kept = (mask.unsqueeze(1) & mask.unsqueeze(2)).unsqueeze(1)
    return sum(masked_mean_square(s.float() - t.float(), kept) for s, t in zip(student, teacher, strict=True))


def masked_mean_square(difference: Any, kept: Any) -> Any:
    """The mean of the squares where `kept` (which broadcasts) is true."""
    kept = kept.expand_as(difference)
    return (difference.square() * kept).sum() / kept.sum()


def matched_layers(student: int, teacher: int) -> list[int]:
    """Which teacher layer (from 0) each student layer is matched with: every (teacher / student)-th, the last with the last.

    Raises:
        ValueError: if the student has more layers than the teacher.
    """
    if not 0 < student <= teacher:
        raise ValueError(f"a student of {student} layers cannot be matched with a teacher of {teacher}")
    return [(number + 1) * teacher // student - 1 for number in range(student)]
