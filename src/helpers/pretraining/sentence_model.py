"""What the Trainer trains on sentences: an encoder with its pooling and the loss of pairs or of triplets."""

from typing import Any

import torch
from torch import nn

from helpers.networks.pooling import pool


class SentenceModel(nn.Module):
    """One encoder for all sentences.

    Args:
        encoder: a transformer.
        margin: of the triplet loss.
    """

    def __init__(self, encoder: Any, pooling: str, margin: float):
        super().__init__()
        self.encoder, self._pooling, self._margin = encoder, pooling, margin

    def forward(self, sentences: list[dict[str, Any]], target: Any) -> dict[str, Any]:
        """The mean loss of pairs (two kinds of sentence) or of triplets (three).

        Args:
            sentences: the encoder's inputs of all first sentences, of all second, and so on.
            target: (examples,), the wanted cosine of each pair; unused for triplets.
        """
        states = [(self.encoder(**fed).last_hidden_state, fed["attention_mask"]) for fed in sentences]
        with torch.autocast(target.device.type, enabled=False):  # bfloat16 holds two to three digits of a cosine
            vectors = [pool(hidden.float(), mask, self._pooling) for hidden, mask in states]
            first, second, *third = vectors
            loss = triplet_hinge(first, second, third[0], self._margin) if third else squared_error(first, second, target)
        return {"loss": loss}


def squared_error(first: Any, second: Any, target: Any) -> Any:
    """The mean of (cos(u, v) - y)^2 (Reimers & Gurevych 2019, section 3, regression objective).

    Args:
        first: (pairs, dimensions).
        second: (pairs, dimensions).
        target: (pairs,), between 0 and 1.
    """
    return (nn.functional.cosine_similarity(first, second, dim=-1) - target).square().mean()


def triplet_hinge(anchor: Any, same: Any, other: Any, margin: float) -> Any:
    """The mean of max(0, |a - p| - |a - n| + margin) (Reimers & Gurevych 2019, section 3, triplet objective).

    Args:
        anchor: (triplets, dimensions).
        same: (triplets, dimensions), to be near.
        other: (triplets, dimensions), to be farther by the margin.
        margin: 1 in that paper.
    """
    return nn.functional.triplet_margin_loss(anchor, same, other, margin=margin, p=2)
