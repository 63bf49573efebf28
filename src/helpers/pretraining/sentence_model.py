"""What the Trainer trains on sentences: an encoder with its pooling and the loss of pairs or of triplets."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from helpers.networks.pooling import pool


class SentenceModel(nn.Module):
    """One encoder for all sentences; the margin is that of the triplet loss."""

    def __init__(self, encoder: Any, pooling: str, margin: float):
        super().__init__()
        self.encoder, self._pooling, self._margin = encoder, pooling, margin

    def forward(self, sentences: list[dict[str, Any]], target: Any) -> dict[str, Any]:
        """The mean loss of pairs (two kinds of sentence) or of triplets (three), from the encoder's inputs of all first
        sentences, of all second, and so on; for the target see `sentence_loss`."""
        states = [(self.encoder(**fed).last_hidden_state, fed["attention_mask"]) for fed in sentences]
        with torch.autocast(target.device.type, enabled=False):  # bfloat16 holds two to three digits of a cosine
            vectors = [pool(hidden.float(), mask, self._pooling) for hidden, mask in states]
            return {"loss": sentence_loss(vectors, target, self._margin)}


def sentence_loss(vectors: Sequence[Any], target: Any, margin: float) -> Any:
    """The regression and the triplet objective of Reimers & Gurevych (2019, section 3).

    Of pairs the mean of (cos(u, v) - y)^2, of triplets the mean of max(0, |a - p| - |a - n| + margin); the margin is 1 in that
    paper.

    The vectors are those of the first, second (and third) sentences, (examples, dimensions) each; the target is each pair's
    cosine, between 0 and 1, and unused for triplets.
    """
    first, second, *third = vectors
    if third:
        return nn.functional.triplet_margin_loss(first, second, third[0], margin=margin, p=2)
    return (nn.functional.cosine_similarity(first, second, dim=-1) - target).square().mean()
