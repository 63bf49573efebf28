"""A narrower BERT that is fitted and not trained: each of its linear layers is the least-squares answer to the wider one's.

Of the wider encoder's states some dimensions are kept, of its heads and inner units as many as the width has room for. What the
kept ones should say is known, since the wider encoder has said it of the same texts. So every linear layer is the regression of
that on what the narrower encoder has at the same place, errors of the layers before included, and every norm gets the gain and
the shift that bring it nearest. There is nothing random in it. A training can go on from there.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from scipy import linalg
from torch.nn import functional

from helpers.errors import BadInput
from helpers.networks.backbone import attention

RIDGE = 1e-4  # of the mean square of the inputs: keeps a regression on nearly equal dimensions sound
TINY = 1e-9  # of all variance: keeps dimensions that never move from being no dimensions at all


@torch.no_grad()
def narrowed(encoder: Any, rows: Sequence[Sequence[int]], width: int) -> Any:
    """An encoder with as many layers, and heads as wide, as a `BertModel` in evaluation mode, whose states have fewer dimensions.

    Args:
        rows: token ids of texts, special ones included, on which it is fitted: several thousand tokens.
        width: dimensions of its states; BadInput for one that is no number of whole heads, or larger than the encoder's.
    """
    from transformers import AutoModel

    wide = encoder.config
    size = wide.hidden_size // wide.num_attention_heads
    if not 0 < width <= wide.hidden_size or width % size:
        raise BadInput(f"a width of {width}", mend=f"choose a multiple of {size}, a head's dimensions, up to {wide.hidden_size}")
    smaller = {"hidden_size": width, "num_attention_heads": width // size,
               "intermediate_size": wide.intermediate_size * width // wide.hidden_size}
    narrow = AutoModel.from_config(type(wide).from_dict({**wide.to_dict(), **smaller}), add_pooling_layer=False,
                                   attn_implementation=attention()).eval()
    texts = [torch.tensor([row]) for row in rows]
    read = [encoder(input_ids=text, output_hidden_states=True).hidden_states for text in texts]
    states = [torch.cat([text[0] for text in layer]) for layer in zip(*read, strict=True)]
    kept = spanning(states, width)
    embedded = narrow.embeddings  # of words, places and token types some dimensions are kept; the norm brings their sums near
    for name in ("word_embeddings", "position_embeddings", "token_type_embeddings"):
        getattr(embedded, name).weight.copy_(getattr(encoder.embeddings, name).weight[:, kept])
    sums = [embedded.word_embeddings(text[0]) + embedded.position_embeddings.weight[:text.shape[1]]
            + embedded.token_type_embeddings.weight[0] for text in texts]
    own = fit_norm(embedded.LayerNorm, torch.cat(sums), states[0][:, kept])
    for layer, given, before in zip(narrow.encoder.layer, encoder.encoder.layer, states[:-1], strict=True):
        own = fit_layer(layer, given, own, before, kept, [len(row) for row in rows])
    return narrow


def fit_layer(narrow: Any, wide: Any, own: Any, states: Any, kept: Any, lengths: list[int]) -> Any:
    """Fit a layer to a wider one: from the narrower states (tokens, width) of all texts before it, and the wider ones, to the
    narrower states after it."""
    given, fitted = wide.attention.self, narrow.attention.self
    heads, size = given.num_attention_heads, given.attention_head_size
    said = [linear(states) for linear in (given.query, given.key, given.value)]
    gathered = attended(said, heads, lengths)
    chosen = loudest(gathered, wide.attention.output.dense.weight, size, fitted.num_attention_heads)
    linears = (fitted.query, fitted.key, fitted.value)
    for linear, outputs in zip(linears, said, strict=True):
        fit(linear, own, outputs[:, chosen])
    mixed = wide.attention.output.dense(gathered) + states
    middle = wide.attention.output.LayerNorm(mixed)
    gathered = attended([linear(own) for linear in linears], fitted.num_attention_heads, lengths)
    own = fit_block(narrow.attention.output, gathered, own, mixed[:, kept], middle[:, kept])
    inner, act = wide.intermediate.dense(middle), wide.intermediate.intermediate_act_fn
    chosen = loudest(act(inner), wide.output.dense.weight, 1, narrow.intermediate.dense.out_features)
    fit(narrow.intermediate.dense, own, inner[:, chosen])
    total = wide.output.dense(act(inner)) + middle
    return fit_block(narrow.output, act(narrow.intermediate.dense(own)), own, total[:, kept],
                     wide.output.LayerNorm(total)[:, kept])


def fit_block(block: Any, inner: Any, own: Any, total: Any, normed: Any) -> Any:
    """Fit what is added to the states `own`, so that the sum is near `total` and, after the norm, near `normed`; its outputs."""
    fit(block.dense, inner, total - own)
    return fit_norm(block.LayerNorm, block.dense(inner) + own, normed)


def fit(linear: Any, inputs: Any, outputs: Any) -> None:
    """Set weight and bias to the ridge regression of outputs (rows, dimensions out) on inputs (rows, dimensions in)."""
    centre, level = inputs.double().mean(0), outputs.double().mean(0)
    x, y = inputs.double() - centre, outputs.double() - level
    square = x.T @ x
    weight = torch.linalg.solve(square + RIDGE * square.diagonal().mean() * torch.eye(len(square)), x.T @ y).T
    linear.weight.copy_(weight)
    linear.bias.copy_(level - weight @ centre)


def fit_norm(norm: Any, inputs: Any, outputs: Any) -> Any:
    """Set gain and shift of a layer norm to the least squares, dimension by dimension; what it then makes of the inputs."""
    plain = functional.layer_norm(inputs, inputs.shape[-1:], eps=norm.eps)
    spread = (plain - plain.mean(0)).square().mean(0)
    gain = ((plain - plain.mean(0)) * (outputs - outputs.mean(0))).mean(0) / spread.clamp_min(1e-12)
    norm.weight.copy_(gain)
    norm.bias.copy_(outputs.mean(0) - gain * plain.mean(0))
    return norm(inputs)


def attended(said: Sequence[Any], heads: int, lengths: list[int]) -> Any:
    """What the heads gather of each text's tokens; queries, keys and values, texts one after the other, are (tokens, dimensions
    of all heads)."""
    parts = [rows.unflatten(1, (heads, -1)).transpose(0, 1).split(lengths, dim=1) for rows in said]
    return torch.cat([functional.scaled_dot_product_attention(*text).transpose(0, 1).flatten(1)
                      for text in zip(*parts, strict=True)])


def loudest(values: Any, weight: Any, size: int, number: int) -> Any:
    """The columns of so many groups of `size` neighbouring columns of (rows, columns), those that change most of what a weight
    (dimensions out, columns) makes of all: by the variance of their own part, summed over its dimensions."""
    grouped = (values - values.mean(0)).unflatten(1, (-1, size))
    parts = weight.unflatten(1, (-1, size))
    shared = torch.einsum("rgi,rgj->gij", grouped, grouped) * torch.einsum("ogi,ogj->gij", parts, parts)
    groups = shared.sum((1, 2)).argsort(descending=True, stable=True)[:number].sort().values
    return (groups[:, None] * size + torch.arange(size)).flatten()


def spanning(states: Sequence[Any], number: int) -> Any:
    """So many dimensions of states, (rows, dimensions) of each layer, that between them tell most of all others: the pivots of a
    QR decomposition, every layer with the same weight."""
    shared = np.mean([np.cov(layer.T.double().numpy()) / float(layer.double().var(0).sum()) for layer in states], axis=0)
    _, pivots = linalg.qr(linalg.cholesky(shared + TINY * np.eye(len(shared))), mode="r", pivoting=True)
    return torch.from_numpy(np.sort(pivots[:number]).astype(np.int64))
