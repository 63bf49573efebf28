"""The networks that are trained: a bi-encoder with its loss, and an encoder that is taught another's states."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from helpers.encoders.bi_encoder import LOSSES, BiEncoderTraining
from helpers.encoders.embeddings import MAX_SIM, max_sims, words
from helpers.networks.encoder import normalised, pool
from helpers.registry import call


class BiEncoderModel(nn.Module):
    """One encoder for queries and passages."""

    def __init__(self, encoder: Any, training: BiEncoderTraining):
        super().__init__()
        self.encoder, self._training, self._loss = encoder, training, LOSSES[training.loss]

    def forward(self, queries: dict[str, Any], passages: dict[str, Any], positive: Any, relevant: Any,
                own: Any, teacher: Any) -> dict[str, Any]:
        """The loss of a batch, and for each query the share of its own negatives that are farther than its relevant passage.

        `queries` and `passages` are the encoder's inputs; for the other arguments see the losses of `bi_encoder`.
        """
        states = [(self.encoder(**fed).last_hidden_state, fed["attention_mask"]) for fed in (queries, passages)]
        with torch.autocast(positive.device.type, enabled=False):  # bfloat16 holds two to three digits of a cosine
            similarity = self._similarity([(hidden.float(), mask) for hidden, mask in states])
            loss = call(self._loss, similarity=similarity, positive=positive, relevant=relevant, own=own,
                        teacher=teacher, margin=self._training.margin, temperature=self._training.temperature)
        farther = own & (similarity < similarity.gather(1, positive[:, None]))
        return {"loss": loss, "nearer": farther.sum(1) / own.sum(1).clamp(min=1)}

    def _similarity(self, states: Sequence[tuple[Any, Any]]) -> Any:
        """(queries, passages), of the states and the attention masks of both sides."""
        if self._training.similarity == MAX_SIM:
            return max_sims(*((normalised(hidden), words(mask)) for hidden, mask in states))
        vectors = [pool(hidden, mask, self._training.pooling) for hidden, mask in states]
        if self._training.similarity == "cosine":
            vectors = [normalised(side) for side in vectors]
        return vectors[0] @ vectors[1].T


class Taught(nn.Module):
    """A student, and its teacher, which stays as it is and is none of the weights."""

    def __init__(self, student: Any, teacher: Any):
        super().__init__()
        self.student = student
        self._teacher = (teacher.eval().requires_grad_(False),)  # in a tuple, where no weights are looked for

    def forward(self, input_ids: Any, attention_mask: Any, return_loss: bool = True) -> dict[str, Any]:
        """The loss of a padded batch of texts, (texts, tokens); the Trainer looks for `return_loss`."""
        read = {"input_ids": input_ids, "attention_mask": attention_mask}
        with torch.no_grad():
            wanted = self._teacher[0].to(input_ids.device)(**read).last_hidden_state
        return {"loss": squared_error(self.student(**read).last_hidden_state, wanted, attention_mask)}


def squared_error(states: Any, wanted: Any, mask: Any) -> Any:
    """The mean squared error of a batch's states, (texts, tokens, dimensions): in a text over its tokens, then over the texts, so
    that a query counts as much as a passage.

    DistilBERT compares its states with the teacher's by their cosine, to which their length is nothing. Pooling reads it: a long
    state weighs more in the mean, and the maximum is one of values.
    """
    with torch.autocast(states.device.type, enabled=False):  # bfloat16 holds two to three digits of a difference
        return pool((states.float() - wanted.float()).square(), mask, "mean").mean()
