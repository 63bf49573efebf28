"""What the Trainer trains: a student beside the encoder that teaches it its states."""

from typing import Any

import torch
from torch import nn

from helpers.networks.pooling import pool


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
