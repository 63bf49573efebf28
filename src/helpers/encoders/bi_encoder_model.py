"""What the Trainer trains: an encoder with its pooling and its loss."""

from typing import Any

import torch
from torch import nn

from helpers.encoders import bi_encoder_losses
from helpers.networks.pooling import normalised, pool


class BiEncoderModel(nn.Module):
    """One encoder for queries and passages; arguments as in `bi_encoder_training.bi_encoder`."""

    def __init__(self, encoder: Any, pooling: str, loss: str, margin: float, temperature: float, similarity: str):
        super().__init__()
        self.encoder, self._pooling, self._similarity = encoder, pooling, similarity
        self._loss, self._margin, self._temperature = loss, margin, temperature

    def forward(self, queries: dict[str, Any], passages: dict[str, Any], positive: Any, relevant: Any,
                own: Any) -> dict[str, Any]:
        """The loss of a batch, and for each query the share of its own negatives that are farther than its relevant passage.

        Args:
            queries: the encoder's inputs.
            passages: the encoder's inputs, of all passages of the batch.
            positive: (queries,), the place of each query's relevant passage.
            relevant: (queries, passages), true for every passage known to be relevant to the query.
            own: (queries, passages), true for the negatives drawn for the query.
        """
        states = [(self.encoder(**fed).last_hidden_state, fed["attention_mask"]) for fed in (queries, passages)]
        with torch.autocast(positive.device.type, enabled=False):  # bfloat16 holds two to three digits of a cosine
            vectors = [pool(hidden.float(), mask, self._pooling) for hidden, mask in states]
            if self._similarity == "cosine":
                vectors = [normalised(each) for each in vectors]
            similarity = vectors[0] @ vectors[1].T
            loss = self.loss(similarity, positive, relevant, own)
        farther = own & (similarity < similarity.gather(1, positive[:, None]))
        return {"loss": loss, "nearer": farther.sum(1) / own.sum(1).clamp(min=1)}

    def loss(self, similarity: Any, positive: Any, relevant: Any, own: Any) -> Any:
        """The chosen loss of a matrix of similarities."""
        if self._loss == "triplet":
            return bi_encoder_losses.triplet(similarity, positive, own, self._margin)
        if self._loss == "multi_label_margin":
            return bi_encoder_losses.multi_label_margin(similarity, relevant)
        return bi_encoder_losses.contrastive(similarity, positive, relevant, self._temperature)
