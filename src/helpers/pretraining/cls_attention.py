"""Where [CLS] looks: how evenly it attends to the tokens of a text, layer by layer.

A [CLS] that is to hold a whole text must have read all of it on its way up. The entropy of its attention says how much of the
text it looks at: all tokens alike, or one of them, which is often [SEP], where attention goes that wants nothing.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from helpers.data.tokens import WindowTokens
from helpers.networks.backbone import Backbone
from helpers.networks.encoder import build, inputs, wrapped
from helpers.pretraining.pretraining_data import sampled
from helpers.steps import step

if TYPE_CHECKING:
    from torch import Tensor


@step(version=1, form="json", network=True)
def cls_attention(texts: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone, sample: int, max_length: int, seed: int,
                  start: Path | None = None) -> dict[str, list[float]]:
    """Of [CLS]'s attention in every layer, means over heads and a sample of texts, in float32: its `entropy`, 1 where all tokens
    get the same and 0 where one gets all, and the share of it that goes to `words`, neither to [CLS] nor to [SEP].

    Args:
        texts: column doc_id: those that the sample is drawn from.
        start: a pre-trained encoder's folder, in place of the backbone's weights.
    """
    import torch

    tokenizer, encoder = backbone.tokenizer(), build(backbone, start, attn_implementation="eager").float().eval()
    found = []
    with torch.no_grad():
        for row in sampled(texts, WindowTokens(tokens, store), sample, max_length, seed):
            fed = inputs([wrapped(tokenizer, row, max_length)], tokenizer.pad_token_id)
            layers: Any = encoder(**fed, output_attentions=True).attentions
            found.append([(entropy(own[0, :, 0]), words(own[0, :, 0])) for own in layers])
    evenness, share = np.mean(found, axis=0).T.tolist()
    return {"entropy": evenness, "words": share}


def entropy(attention: "Tensor") -> float:
    """How evenly the rows of (heads, tokens) are spread, the mean over heads: Shannon's entropy over that of an even row."""
    import torch

    return float(torch.special.entr(attention.double()).sum(-1).mean() / np.log(attention.shape[-1]))


def words(attention: "Tensor") -> float:
    """What the rows of (heads, tokens) give to all but the first and the last token, the mean over heads."""
    return float(attention[:, 1:-1].double().sum(-1).mean())
