"""A vocabulary trimmed to the texts at hand: the same training with a table of embeddings a tenth as large.

Pieces that no text holds have no gradient, so leaving their rows out changes nothing that is read. With short texts, updating the
whole table costs more than the layers do.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np


def trim(encoder: Any, pad: int, texts: Iterable[Sequence[int]]) -> Callable[[Sequence[int]], list[int]]:
    """Keep only the embeddings of the pieces in the texts (in place); returns what maps a text's ids to the new ones.

    Args:
        encoder: a transformer; its weights and `config.vocab_size` change.
        pad: the padding id, which stays what it is.
        texts: token ids of every text that the encoder will read.
    """
    from torch import nn

    old = encoder.get_input_embeddings()
    used = np.array(sorted({number for ids in texts for number in ids} | set(range(pad + 1))))
    table = nn.Embedding(len(used), old.embedding_dim, padding_idx=pad)
    table.weight.data.copy_(old.weight.data[used])
    encoder.set_input_embeddings(table)
    encoder.config.vocab_size = len(used)
    place = {int(number): new for new, number in enumerate(used)}
    return lambda ids: [place[number] for number in ids]
