"""BERT and MPNet without padding, read or trained: a batch's texts stand one after the other, and attention stays within each.

It computes what the model of `transformers` does, less what nothing reads. Linear layers and norms see real tokens only. Where
only the first token's state is read, the last layer has keys and values of all tokens, and everything else of first
tokens alone. In real arithmetic the results are the same; in floating point they differ by rounding.

Attention is computed on a CPU for texts of one length at a time, as many as leave the scores in the core's cache; on a GPU
by PyTorch's variable-length attention. On a CPU the weights are kept in the order in which oneDNN multiplies them.
"""

import functools
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import chain, groupby
from typing import Any

import numpy as np
import torch

TOKENS_AT_ONCE = 512  # of texts of one length, on a CPU: their attention's scores stay in a core's second cache


def supports(encoder: Any) -> bool:
    """Whether an encoder is a plain BERT, on a device that can read packed texts, or a plain MPNet on a CPU: variable-length
    attention on a GPU takes no relative bias."""
    config, name, device = encoder.config, type(encoder).__name__, encoder.device.type
    if name not in ("BertModel", "MPNetModel") or config.hidden_act != "gelu" or getattr(config, "is_decoder", False):
        return False
    return device == "cpu" or (name == "BertModel" and device == "cuda" and encoder.dtype.itemsize == 2
                               and find_spec("torch.nn.attention.varlen") is not None)  # which takes two bytes a number


class Packed:
    """A BERT or MPNet encoder that reads packed texts, with the weights that it has when this object is made.

    Args:
        encoder: a `BertModel` or `MPNetModel` in evaluation mode that `supports` passes.
        first_only: whether only the states of first tokens are read.
        training: whether gradients flow to the weights; then it is made anew for every batch, since they change.
    """

    def __init__(self, encoder: Any, first_only: bool, training: bool = False):
        self._embeddings, self._device, self._heads = encoder.embeddings, encoder.device, encoder.config.num_attention_heads
        self._first_position = getattr(encoder.embeddings, "padding_idx", -1) + 1  # MPNet counts from behind its padding
        self._position_bias = getattr(encoder.encoder, "compute_position_bias", None)  # MPNet's, one for all layers
        *rest, last = encoder.encoder.layer
        self._layers = [*(_Layer(layer, False, training) for layer in rest), _Layer(last, first_only, training)]

    def __call__(self, ids: Sequence[Sequence[int]], types: Sequence[Sequence[int]]) -> Any:
        """The last layer's states: (texts, dimensions) of first tokens, or (tokens, dimensions) of all, text after text.

        Special tokens are among the ids of each text; texts of one length should be neighbours.
        """
        texts = _Texts([len(row) for row in ids], self._device)
        tokens, kinds = (torch.from_numpy(np.fromiter(chain.from_iterable(rows), np.int64, texts.tokens)).to(self._device)[None]
                         for rows in (ids, types))
        positions = texts.positions[None] + self._first_position
        states = self._embeddings(input_ids=tokens, token_type_ids=kinds, position_ids=positions)[0]
        if self._position_bias is not None:  # it depends on the distance alone: a shorter text's is a corner of the longest's
            texts.bias = self._position_bias(states.new_empty(1, texts.longest, 1))[0]
        for layer in self._layers:
            states = layer(states, texts, self._heads)
        return states


class _Texts:
    """Where a batch's texts begin and end."""

    def __init__(self, lengths: list[int], device: Any):
        self.bias: Any = None  # added to attention's scores: (heads, longest, longest), from a query to a key
        ends = np.cumsum(lengths)
        self.tokens, self.longest, starts = int(ends[-1]), max(lengths), ends - lengths
        self.positions = torch.from_numpy(np.arange(self.tokens) - np.repeat(starts, lengths)).to(device)
        self.starts = torch.from_numpy(starts).to(device)
        self.bounds = torch.from_numpy(np.concatenate([[0], ends]).astype(np.int32)).to(device)
        self.groups = list(_groups(lengths)) if device.type == "cpu" else []


def _groups(lengths: list[int]) -> Iterator[tuple[int, int]]:
    """Neighbouring texts of one length, no more than are computed at once: how many they are, and tokens of each."""
    for length, same in groupby(lengths):
        texts, room = len(list(same)), max(1, TOKENS_AT_ONCE // max(1, length))
        yield from ((min(room, texts - first), length) for first in range(0, texts, room))


def _attention_on_cpu(queries: Any, keys: Any, values: Any, texts: _Texts) -> Any:
    """Softmax attention, group by group; (tokens, heads, dimensions of a head) each, or one query a text."""
    tokens = [number * length for number, length in texts.groups]
    rows = tokens if len(queries) == texts.tokens else [number for number, _ in texts.groups]
    queries, attended = queries * queries.shape[-1] ** -0.5, []
    # split as a whole: the gradient of a slice would be as large as what it was cut from
    for (number, length), *parts in zip(texts.groups, queries.split(rows), keys.split(tokens), values.split(tokens), strict=True):
        query, key, value = (part.unflatten(0, (number, -1)).transpose(1, 2) for part in parts)
        scores = query @ key.transpose(2, 3)
        weights, total = _weights(scores if texts.bias is None else scores + texts.bias[:, :query.shape[2], :length])
        mixed = weights @ value if total is None else weights @ value / total
        attended.append(mixed.transpose(1, 2).flatten(0, 1))
    return torch.cat(attended)


def _weights(scores: Any) -> tuple[Any, Any]:
    """Attention's weights, and the sums by which the mixed values are yet to be divided: bfloat16's own softmax takes twice the
    time. None where softmax has divided, with gradients and where an exponential is out of range."""
    if scores.dtype == torch.bfloat16 and not torch.is_grad_enabled():
        weights = scores.exp()
        total = weights.sum(-1, keepdim=True)
        if total.min() > 1e-30 and total.max() < 1e30:
            return weights, total
    return torch.softmax(scores, dim=-1), None


def _attention_on_gpu(queries: Any, keys: Any, values: Any, texts: _Texts) -> Any:
    """The same by PyTorch's variable-length attention."""
    from torch.nn.attention.varlen import varlen_attn

    if len(queries) == texts.tokens:
        return varlen_attn(queries, keys, values, texts.bounds, texts.bounds, texts.longest, texts.longest)
    one_each = torch.arange(len(texts.bounds), dtype=torch.int32, device=queries.device)
    return varlen_attn(queries, keys, values, one_each, texts.bounds, 1, texts.longest)


class _Layer:
    """A layer of BERT or MPNet; with `first_only`, what comes out of it is the states of first tokens."""

    def __init__(self, layer: Any, first_only: bool = False, training: bool = False):
        linear, attention = functools.partial(Linear, training=training), layer.attention
        if own := getattr(attention, "attn", None):  # MPNet's
            query, key, value, mix, self._norm = own.q, own.k, own.v, own.o, attention.LayerNorm
        else:
            own, mix, self._norm = attention.self, attention.output.dense, attention.output.LayerNorm
            query, key, value = own.query, own.key, own.value
        self._first_only = first_only
        self._inputs = [linear(query), linear(key, value)] if first_only else [linear(query, key, value)]
        self._mix = linear(mix)
        self._up, self._down = linear(layer.intermediate.dense, gelu=True), linear(layer.output.dense)
        self._last_norm = layer.output.LayerNorm

    def __call__(self, states: Any, texts: _Texts, heads: int) -> Any:
        """(tokens, dimensions) to the same, or to (texts, dimensions)."""
        kept = states[texts.starts] if self._first_only else states
        given = (kept, states) if self._first_only else (states,)
        parts = [part for linear, rows in zip(self._inputs, given, strict=True)
                 for part in linear(rows).split(states.shape[1], dim=1)]
        attend = _attention_on_cpu if states.device.type == "cpu" else _attention_on_gpu
        queries, keys, values = (part.unflatten(1, (heads, -1)) for part in parts)
        attended = attend(queries, keys, values, texts).flatten(1)
        kept = self._norm(self._mix(attended).add_(kept))
        return self._last_norm(self._down(self._up(kept)).add_(kept))


class Linear:
    """Linear layers with the same input as one, side by side, followed by an exact GELU with `gelu`."""

    def __init__(self, *layers: Any, gelu: bool = False, training: bool = False):
        self._gelu = gelu
        with torch.set_grad_enabled(training and torch.is_grad_enabled()):
            self._weight = torch.cat([layer.weight for layer in layers])
            self._bias = torch.cat([layer.bias for layer in layers])
        self._ordered = self._weight.device.type == "cpu" and not training and _onednn_orders(self._weight.dtype)
        if self._ordered:
            self._weight = torch.ops.mkldnn._reorder_linear_weight(self._weight)

    def __call__(self, states: Any) -> Any:
        """(rows, dimensions in) to (rows, dimensions out of all layers)."""
        if self._ordered:
            after = "gelu" if self._gelu else "none"
            return torch.ops.mkldnn._linear_pointwise(states, self._weight, self._bias, after, [], "none")
        output = torch.nn.functional.linear(states, self._weight, self._bias)
        return torch.nn.functional.gelu(output) if self._gelu else output


def _onednn_orders(dtype: Any) -> bool:
    """Whether this build of PyTorch offers oneDNN's own order of weights, and this CPU the type."""
    own = torch.ops.mkldnn
    needed = ("_reorder_linear_weight", "_linear_pointwise", "_is_mkldnn_bf16_supported")
    known = all(hasattr(own, name) for name in needed)
    return known and (dtype == torch.float32 or dtype == torch.bfloat16 and bool(own._is_mkldnn_bf16_supported()))
