"""Pooling: one vector for a text from the states of its tokens (David 2020, section 3.3; Reimers & Gurevych 2019)."""

from typing import Any

POOLINGS = ("mean", "cls", "max")


def pool(hidden: Any, mask: Any, how: str) -> Any:
    """The vector of each text, not normalised; padding never counts.

    Args:
        hidden: (batch, tokens, dimensions), the last layer's states.
        mask: (batch, tokens), true for real tokens, which come first.
        how: `mean` of the tokens' states (the study's AVG), `cls` for the first token's, `max` of each dimension.

    Returns:
        (batch, dimensions).

    Raises:
        ValueError: for another `how`.
    """
    if how == "cls":
        return hidden[:, 0]
    kept = mask.bool().unsqueeze(-1)
    if how == "mean":
        weights = kept.to(hidden.dtype)
        return (hidden * weights).sum(1) / weights.sum(1)
    if how == "max":
        return hidden.masked_fill(~kept, float("-inf")).amax(1)
    raise ValueError(f"pooling {how!r}: one of {', '.join(POOLINGS)}")


def normalised(vectors: Any) -> Any:
    """The vectors, scaled to length 1: their inner products are cosines."""
    return vectors / vectors.norm(dim=-1, keepdim=True)
