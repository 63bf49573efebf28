"""Running a model over many inputs of different lengths: sorted by length, a thread for each core, a BERT without padding.

Several workers with one thread each beat one worker with several threads on a CPU (measured: 1.2 times on two quiet
cores), and stay fast when another program takes a core: no operation waits for a thread that is not running.
"""

import contextlib
import ctypes
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from helpers.errors import BadInput
from helpers.networks.backbone import Backbone, attention
from helpers.networks.longformer import as_studied
from helpers.steps import ledger, numerics
from helpers.steps.numerics import cores

# oneDNN keeps what it compiles for each shape of a batch, by default for 1024 of them: up to a gigabyte. So many are as fast.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "256")

AT_ONCE = 200_000  # texts whose tokens are in memory: what scores more of them takes one such part after the other
TOKEN_BUDGET = 4096  # padded tokens a batch: enough to fill a core's units, small enough for its caches
GPU_TOKEN_BUDGET = 65536
TIDY = 16  # batches after which freed memory is given back: as fast as never, and a tenth less


def batches(lengths: np.ndarray, budget: int) -> Iterator[np.ndarray]:
    """Positions of a length-sorted order (longest first), cut so that rows x longest row <= budget."""
    order, start = np.argsort(-lengths, kind="stable"), 0
    while start < len(order):
        rows = max(1, budget // max(1, int(lengths[order[start]])))
        yield order[start:start + rows]
        start += rows


def run_batches(function: Callable[[np.ndarray], Any], lengths: np.ndarray, progress: str = "",
                budget: int = TOKEN_BUDGET) -> None:
    """Call `function` with the positions of every batch, in inference mode, on a CPU from several threads; it stores what it
    computes itself.

    Args:
        lengths: tokens of each input.
        progress: what the bar calls the inputs; no bar for "".
        budget: padded tokens a batch on a CPU.
    """
    import torch

    on_gpu = numerics.device() != "cpu"

    def work(batch: np.ndarray) -> int:
        with torch.inference_mode():
            function(batch)
        return len(batch)

    # one PyTorch thread a worker: the setting belongs to the thread that makes it
    pool = ThreadPoolExecutor(1) if on_gpu else ThreadPoolExecutor(cores(), initializer=lambda: torch.set_num_threads(1))
    with pool, ledger.bar(progress, len(lengths)) as bar:
        for number, done in enumerate(pool.map(work, batches(lengths, GPU_TOKEN_BUDGET if on_gpu else budget)), start=1):
            bar.update(done)
            if number % TIDY == 0:
                give_back()
    give_back()


def give_back() -> None:
    """Give free memory back to the system: glibc keeps what threads have freed, half a gigabyte in a shard of passages."""
    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def padded(rows: Sequence[Sequence[float]], value: float = 0) -> Any:
    """Rows of numbers as one tensor, (rows, longest), padded with the value, on the CPU."""
    import torch

    return torch.nn.utils.rnn.pad_sequence([torch.tensor(list(row)) for row in rows], batch_first=True, padding_value=value)


def mask_of(rows: Sequence[Sequence[float]]) -> Any:
    """1 at what is there of `padded` rows, 0 at the padding."""
    return padded([[1] * len(row) for row in rows])


# BERT and MPNet without padding, read or trained: a batch's texts stand one after the other, and attention stays within each.

TOKENS_AT_ONCE = 512  # of texts of one length, on a CPU: their attention's scores stay in a core's second cache


class Group(NamedTuple):
    """Neighbouring texts of one length: the first one's number and first token, how many they are, and tokens of each."""

    text: int
    token: int
    texts: int
    length: int


def supports(encoder: Any) -> bool:
    """Whether an encoder is a plain BERT, on a device that can read packed texts, or a plain MPNet on a CPU: variable-length
    attention on a GPU takes no relative bias."""
    config, name, device = encoder.config, type(encoder).__name__, encoder.device.type
    if name not in ("BertModel", "MPNetModel") or config.hidden_act != "gelu" or getattr(config, "is_decoder", False):
        return False
    return device == "cpu" or (name == "BertModel" and device == "cuda" and _has_variable_length(encoder))


def _has_variable_length(encoder: Any) -> bool:
    import torch

    try:
        from torch.nn.attention.varlen import varlen_attn  # noqa: F401
    except ImportError:
        return False
    return encoder.dtype in (torch.bfloat16, torch.float16)


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
        import torch

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
        import torch

        self.bias: Any = None  # added to attention's scores: (heads, longest, longest), from a query to a key
        ends = np.cumsum(lengths)
        self.tokens, self.longest, starts = int(ends[-1]), max(lengths), ends - lengths
        self.positions = torch.from_numpy(np.arange(self.tokens) - np.repeat(starts, lengths)).to(device)
        self.starts = torch.from_numpy(starts).to(device)
        self.bounds = torch.from_numpy(np.concatenate([[0], ends]).astype(np.int32)).to(device)
        self.groups = list(_groups(lengths, starts.tolist())) if device.type == "cpu" else []


def _groups(lengths: list[int], starts: list[int]) -> Any:
    first = 0
    for number in range(1, len(lengths) + 1):
        room = max(1, TOKENS_AT_ONCE // max(1, lengths[first]))
        if number == len(lengths) or lengths[number] != lengths[first] or number - first == room:
            yield Group(first, starts[first], number - first, lengths[first])
            first = number


def _attention_on_cpu(queries: Any, keys: Any, values: Any, texts: _Texts) -> Any:
    """Softmax attention, group by group; (tokens, heads, dimensions of a head) each, or one query a text."""
    import torch

    tokens = [group.texts * group.length for group in texts.groups]
    rows = tokens if len(queries) == texts.tokens else [group.texts for group in texts.groups]
    queries, attended = queries * queries.shape[-1] ** -0.5, []
    # split as a whole: the gradient of a slice would be as large as what it was cut from
    for group, *parts in zip(texts.groups, queries.split(rows), keys.split(tokens), values.split(tokens), strict=True):
        query, key, value = (part.unflatten(0, (group.texts, -1)).transpose(1, 2) for part in parts)
        scores = query @ key.transpose(2, 3)
        if texts.bias is not None:
            scores = scores + texts.bias[:, :query.shape[2], :group.length]
        weights = torch.softmax(scores, dim=-1)
        attended.append((weights @ value).transpose(1, 2).flatten(0, 1))
    return torch.cat(attended)


def _attention_on_gpu(queries: Any, keys: Any, values: Any, texts: _Texts) -> Any:
    """The same by PyTorch's variable-length attention."""
    import torch
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
        import torch

        self._gelu = gelu
        with torch.set_grad_enabled(training and torch.is_grad_enabled()):
            self._weight = torch.cat([layer.weight for layer in layers])
            self._bias = torch.cat([layer.bias for layer in layers])
        on_cpu = self._weight.dtype == torch.bfloat16 and self._weight.device.type == "cpu"
        self._ordered = on_cpu and not training and _onednn_has_bf16()
        if self._ordered:
            self._weight = torch.ops.mkldnn._reorder_linear_weight(self._weight)

    def __call__(self, states: Any) -> Any:
        """(rows, dimensions in) to (rows, dimensions out of all layers)."""
        import torch

        if self._ordered:
            after = "gelu" if self._gelu else "none"
            return torch.ops.mkldnn._linear_pointwise(states, self._weight, self._bias, after, [], "none")
        output = torch.nn.functional.linear(states, self._weight, self._bias)
        return torch.nn.functional.gelu(output) if self._gelu else output


def _onednn_has_bf16() -> bool:
    """Whether this build of PyTorch offers oneDNN's own order of weights, and this CPU its bfloat16."""
    import torch

    own = torch.ops.mkldnn
    needed = ("_reorder_linear_weight", "_linear_pointwise", "_is_mkldnn_bf16_supported")
    return all(hasattr(own, name) for name in needed) and bool(own._is_mkldnn_bf16_supported())


# Scoring pairs with a cross-encoder: bf16 where it is fast, pairs sorted by length across queries, a BERT without padding.

def load_scorer(folder: Path) -> Any:
    """A fine-tuned cross-encoder, ready to score."""
    from transformers import AutoModelForSequenceClassification

    return ready(Backbone("", str(folder)).build(AutoModelForSequenceClassification, whole=True,
                                                  attn_implementation=attention()))


def ready(model: Any) -> Any:
    """A cross-encoder in evaluation mode on the device: encoder in bf16 where that is fast, head in float32.

    The head stays in float32 because a bf16 logit has eight bits: most documents of a query would tie.
    """
    import torch

    as_studied(model).eval().to(numerics.device())
    if numerics.dtype() == "bf16":
        model.base_model.to(torch.bfloat16)
        first_of_head = getattr(model.base_model, "pooler", None) or model.classifier
        first_of_head.float().register_forward_pre_hook(lambda _, inputs: (inputs[0].float(), *inputs[1:]))
    return model


def probabilities(model: Any, inputs: list[tuple[list[int], list[int]]], progress: str = "") -> np.ndarray:
    """The probability of relevance for each (input_ids, token_type_ids), in their order; float32."""
    return _rows(model, inputs, 1, lambda rows: rows[:, :1].sigmoid(), progress)[:, 0]


def logits(model: Any, inputs: list[tuple[list[int], list[int]]], progress: str = "") -> np.ndarray:
    """The logit of each, likewise."""
    return _rows(model, inputs, 1, lambda rows: rows[:, :1], progress)[:, 0]


def states(model: Any, inputs: list[tuple[list[int], list[int]]], progress: str = "") -> np.ndarray:
    """What the output layer reads of each, (inputs, dimensions), likewise."""
    import torch

    head, model.classifier = model.classifier, torch.nn.Identity()
    try:
        return _rows(model, inputs, head.in_features, lambda rows: rows, progress)
    finally:
        model.classifier = head


def _rows(model: Any, inputs: list[tuple[list[int], list[int]]], width: int, of: Callable[[Any], Any],
          progress: str) -> np.ndarray:
    found = np.zeros((len(inputs), width), dtype=np.float32)
    read = packed_logits(model) if reads_packed(model) else padded_logits(model)

    def work(batch: np.ndarray) -> None:
        ids, types = zip(*(inputs[n] for n in batch), strict=True)
        found[batch] = of(read(ids, types).float()).cpu().numpy()

    run_batches(work, np.array([len(ids) for ids, _ in inputs]), progress)
    if not np.isfinite(found).all():
        raise BadInput("the model gives scores that are no numbers", file=model.name_or_path, mend="see to its weights")
    return found


def reads_packed(model: Any) -> bool:
    """Whether a cross-encoder is a plain BERT with its pooler and one layer on top."""
    return type(model).__name__ == "BertForSequenceClassification" and supports(model.base_model)


def packed_logits(model: Any, training: bool = False) -> Callable[..., Any]:
    """A function from ids and types of a batch's texts to their logits, (texts, outputs), that adds no padding."""
    first_states = Packed(model.base_model, first_only=True, training=training)
    return lambda ids, types: model.classifier(model.base_model.pooler(first_states(ids, types)[:, None]))


def padded_logits(model: Any) -> Callable[..., Any]:
    """The same by the model as it is, on texts padded to the longest."""
    def logits(ids: list[list[int]], types: list[list[int]]) -> Any:
        tokens, kinds, mask = (rows.to(numerics.device()) for rows in (padded(ids), padded(types), mask_of(ids)))
        return model(input_ids=tokens, token_type_ids=kinds, attention_mask=mask).logits

    return logits
