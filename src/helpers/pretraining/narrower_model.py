"""A narrower student beside the encoder that teaches it, and what it begins as (Jiao et al. 2020, sections 3.1 and 3.2)."""

from typing import Any

import torch
from torch import nn

from helpers.errors import BadInput
from helpers.networks.backbone import attention
from helpers.networks.imitation import projection, squared_error


def narrowed(teacher: Any, width: int) -> Any:
    """An encoder of another width: embeddings are the principal components of the teacher's, layers are random.

    Raises:
        BadInput: for a width that its heads cannot share, or one that is not narrower.
    """
    from transformers import AutoModel

    heads, wide = teacher.config.num_attention_heads, teacher.config.hidden_size
    if not 0 < width < wide or width % heads:
        raise BadInput(f"a width of {width}", mend=f"choose a multiple of {heads} (the heads) below {wide}")
    config = type(teacher.config).from_dict({**teacher.config.to_dict(), "hidden_size": width, "intermediate_size": 4 * width})
    student = AutoModel.from_config(config, attn_implementation=attention(), add_pooling_layer=False)
    components = principal_components(teacher.get_input_embeddings().weight.detach(), width)
    with torch.no_grad():
        for name, own in student.embeddings.named_parameters():
            if own.ndim == 2:  # of words, places and token types; the norm begins as it was made
                own.copy_(teacher.embeddings.get_parameter(name) @ components)
    return student


def principal_components(rows: Any, number: int) -> Any:
    """The first directions of (rows, dimensions) about their mean: (dimensions, number), orthonormal."""
    centred = rows.double() - rows.double().mean(0)
    values, directions = torch.linalg.eigh(centred.T @ centred)
    return directions[:, values.argsort(descending=True)[:number]].to(rows.dtype)


class Pair(nn.Module):
    """A student beside its teacher, which stays as it is and is no part of the weights."""

    def __init__(self, student: Any, teacher: Any):
        super().__init__()
        self.student, self.widen = student, projection(student, teacher)
        self._teacher = (teacher.requires_grad_(False),)  # in a tuple, where no weight is looked for

    def forward(self, input_ids: Any, attention_mask: Any, return_loss: bool = True, **_: Any) -> dict[str, Any]:
        """The squared error of a padded batch of texts, (texts, tokens), at their real tokens."""
        read = {"input_ids": input_ids, "attention_mask": attention_mask, "output_hidden_states": True}
        with torch.no_grad():
            states = self._teacher[0].to(input_ids.device)(**read).hidden_states
        own = [self.widen(state) for state in self.student(**read).hidden_states]
        return {"loss": squared_error(own, states, attention_mask.bool().unsqueeze(-1))}
