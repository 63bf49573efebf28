"""Pooling: one vector for a text from the states of its tokens (David 2020, section 3.3; Reimers & Gurevych 2019)."""

from typing import Any

from helpers.registry import Registry


def mean(hidden: Any, kept: Any) -> Any:
    """The mean of the tokens' states (the study's AVG)."""
    weights = kept.to(hidden.dtype)
    return (hidden * weights).sum(1) / weights.sum(1)


def cls(hidden: Any, kept: Any) -> Any:
    """The first token's state."""
    return hidden[:, 0]


def maximum(hidden: Any, kept: Any) -> Any:
    """The maximum of each dimension."""
    return hidden.masked_fill(~kept, float("-inf")).amax(1)


POOLINGS = Registry("pooling", {"mean": mean, "cls": cls, "max": maximum})


def pool(hidden: Any, mask: Any, how: str) -> Any:
    """The vector of each text, (batch, dimensions), not normalised; padding never counts.

    Args:
        hidden: (batch, tokens, dimensions), the last layer's states.
        mask: (batch, tokens), true for real tokens, which come first.
        how: one of `POOLINGS`, which take the mask as (batch, tokens, 1).
    """
    return POOLINGS[how](hidden, mask.bool().unsqueeze(-1))


def normalised(vectors: Any) -> Any:
    """The vectors, scaled to length 1: their inner products are cosines."""
    return vectors / vectors.norm(dim=-1, keepdim=True)
