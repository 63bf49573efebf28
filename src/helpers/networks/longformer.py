"""Longformer made from a fine-tuned BERT: reading whole documents at a cost that grows with their length, not with its square.

Beltagy et al. (2020) start from RoBERTa by the same recipe: position embeddings are repeated, and every layer's projections
are copied, a second time for global attention. While all tokens fit into the one-sided window the result gives BERT's scores.
As in Alarfaj (2022, section 5.4) the query's tokens attend globally, the document's within their window.

Its attention is computed here by PyTorch's own kernel, of longer texts in blocks: transformers' implementation, which gives the
same, is made for GPUs, pads every text to a multiple of the window, and is slower than full attention on a CPU.
"""

import re
from pathlib import Path
from types import MethodType
from typing import Any

from helpers.networks.backbone import Backbone
from helpers.steps import step

RENAMED = {r"^classifier\.": "classifier.out_proj.", r"^bert\.pooler\.": "classifier.", r"^bert\.": "longformer."}
POSITIONS = "longformer.embeddings.position_embeddings.weight"
UNDER_A_MASK = 1024  # tokens up to which all keys under a mask take less time than copying those of each block


@step(version=1, form="folder")
def longformer_of(model: Path, window: int, length: int, *, folder: Path) -> None:
    """Convert a fine-tuned BERT cross-encoder, its head included, for inputs of so many tokens; each attends to `window` of them,
    an even number, half on each side."""
    from transformers import BertForSequenceClassification

    origin = Backbone("", str(model))
    converted(origin.build(BertForSequenceClassification), window, length).save_pretrained(folder)
    origin.tokenizer().save_pretrained(folder)


@step(version=1, form="folder")
def lengthened(model: Path, length: int, *, folder: Path) -> None:
    """A Longformer that was fine-tuned on shorter inputs for inputs of so many tokens: its position embeddings are repeated."""
    from transformers import LongformerForSequenceClassification

    origin = Backbone("", str(model))
    longer(origin.build(LongformerForSequenceClassification), length).save_pretrained(folder)
    origin.tokenizer().save_pretrained(folder)


def longer(shorter: Any, length: int) -> Any:
    """A `LongformerForSequenceClassification` of so many tokens with the weights of a shorter one."""
    from transformers import LongformerForSequenceClassification

    weights, first = shorter.state_dict(), shorter.config.pad_token_id + 1
    weights[POSITIONS] = positions(weights[POSITIONS][first:], first, length)
    shorter.config.max_position_embeddings = first + length
    model = LongformerForSequenceClassification(shorter.config)
    model.load_state_dict(weights)
    return model.eval()


def positions(known: Any, first: int, length: int) -> Any:
    """Embeddings of `length` positions, the known ones repeated, after those of the `first` that no token has."""
    import torch

    return torch.cat([torch.zeros(first, known.shape[1]), known[torch.arange(length) % len(known)]])


def converted(bert: Any, window: int, length: int) -> Any:
    """A `LongformerForSequenceClassification` with the weights of a `BertForSequenceClassification`; ValueError for an odd
    window."""
    from transformers import LongformerConfig, LongformerForSequenceClassification

    if window <= 0 or window % 2:
        raise ValueError(f"attention window {window}: an even number, half of it on each side of a token")
    kept = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act",
            "type_vocab_size", "layer_norm_eps", "pad_token_id", "num_labels", "problem_type", "initializer_range")
    first = bert.config.pad_token_id + 1  # Longformer counts positions from here, as RoBERTa does
    config = LongformerConfig(**{name: getattr(bert.config, name) for name in kept},
                              max_position_embeddings=first + length, attention_window=[window] * bert.config.num_hidden_layers)
    weights = {}
    for name, weight in bert.state_dict().items():
        for old, new in RENAMED.items():
            name = re.sub(old, new, name)
        if name == POSITIONS:
            weight = positions(weight, first, length)
        weights[name] = weight
        for part in ("query", "key", "value"):
            if f"self.{part}." in name:
                weights[name.replace(part, f"{part}_global")] = weight.clone()
    model = LongformerForSequenceClassification(config)
    model.load_state_dict(weights)
    return model.eval()


def as_studied(model: Any) -> Any:
    """Give a Longformer global attention on the query's tokens, those of token type 0, and a faster attention (in place); any
    other model stays as it is.

    Transformers' own default is global attention on the first token alone.
    """
    if model.config.model_type == "longformer":
        from transformers.models.longformer.modeling_longformer import LongformerSelfAttention

        model.register_forward_pre_hook(_global_attention, with_kwargs=True)
        # what pads texts to a multiple of the window is needed by transformers' attention alone
        object.__setattr__(model.base_model, "_pad_to_window_size", lambda pad_token_id, **texts: (0, *texts.values()))
        for module in model.modules():
            if isinstance(module, LongformerSelfAttention):
                object.__setattr__(module, "forward", MethodType(windowed_attention, module))
    return model


def _global_attention(model: Any, inputs: tuple, named: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    types, mask = named["token_type_ids"], named["attention_mask"]
    named = {**named, "global_attention_mask": ((types == 0) & (mask > 0)).long()}
    if model.config.type_vocab_size == 1:  # the published Longformers know one type only
        named["token_type_ids"] = types * 0
    return inputs, named


def windowed_attention(self: Any, hidden_states: Any, attention_mask: Any = None, is_index_masked: Any = None,
                       is_index_global_attn: Any = None, is_global_attn: bool = False, output_attentions: bool = False) -> Any:
    """What `LongformerSelfAttention.forward` gives of states (texts, tokens, hidden): tokens see their window and the global
    ones, global tokens see all by projections of their own. Only padding differs, which no token sees."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    def heads(layer: Any, states: Any = hidden_states) -> Any:  # (texts, heads, tokens, size)
        return layer(states).unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)

    dropout, width = self.dropout if self.training else 0.0, self.one_sided_attn_window_size
    near = _under_a_mask if hidden_states.shape[1] <= UNDER_A_MASK else _in_blocks
    end = int(is_index_global_attn.any(0).nonzero().max()) + 1 if is_global_attn else 0  # of the global tokens
    read = near(heads(self.query), heads(self.key), heads(self.value), is_index_masked, is_index_global_attn, end, width, dropout)
    if is_global_attn:
        whole = scaled_dot_product_attention(heads(self.query_global, hidden_states[:, :end]), heads(self.key_global),
                                             heads(self.value_global), ~is_index_masked[:, None, None], dropout)
        chosen = is_index_global_attn[:, None, :end, None]
        read = torch.cat([torch.where(chosen, whole, read[:, :, :end]), read[:, :, end:]], 2)
    return (read.transpose(1, 2).flatten(2),)


def _under_a_mask(queries: Any, keys: Any, values: Any, masked: Any, is_global: Any, end: int, width: int, dropout: float) -> Any:
    """Window and global tokens among all keys, (texts, heads, tokens, size): what is far costs time, but nothing is copied."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    places = torch.arange(queries.shape[2], device=queries.device)
    apart = (places - places[:, None]).abs()
    seen = (apart <= width) & ~masked[:, None] | is_global[:, None] | (apart == 0)
    return scaled_dot_product_attention(queries, keys, values, seen[:, None], dropout)


def _in_blocks(queries: Any, keys: Any, values: Any, masked: Any, is_global: Any, end: int, width: int, dropout: float) -> Any:
    """The same in blocks of half a window: the keys of a block are its own, its neighbours' and the first `end`, among which the
    global ones are."""
    import torch
    from torch.nn.functional import pad, scaled_dot_product_attention

    tokens, count = queries.shape[2], -(-queries.shape[2] // width)
    last = count * width - tokens  # places that the last block lacks
    local = pad(~(masked | is_global), (width, width + last)).unfold(1, 3 * width, width)[:, :, None]
    apart = torch.arange(3 * width, device=local.device) - width - torch.arange(width, device=local.device)[:, None]
    near = local & (apart.abs() <= width) | (apart == 0)
    seen = torch.cat([is_global[:, None, None, :end].expand(-1, count, width, -1), near], -1)

    def around(states: Any) -> Any:  # of every block: (texts x blocks, heads, global tokens + 3 x width, size)
        own = pad(states, (0, 0, width, width + last)).unfold(2, 3 * width, width).permute(0, 2, 1, 4, 3)
        return torch.cat([states[:, None, :, :end].expand(-1, count, -1, -1, -1), own], 3).flatten(0, 1)

    of_blocks = pad(queries, (0, 0, 0, last)).unflatten(2, (count, width)).transpose(1, 2).flatten(0, 1)
    read = scaled_dot_product_attention(of_blocks, around(keys), around(values), seen.flatten(0, 1)[:, None], dropout)
    return read.unflatten(0, (-1, count)).transpose(1, 2).flatten(2, 3)[:, :, :tokens]
