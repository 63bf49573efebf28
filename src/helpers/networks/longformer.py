"""Longformer made from a fine-tuned BERT: reading whole documents at a cost that grows with their length, not with its square.

Beltagy et al. (2020) start from RoBERTa by the same recipe: position embeddings are repeated, and every layer's projections
are copied, a second time for global attention. While all tokens fit into the one-sided window the result gives BERT's scores.
As in Alarfaj (2022, section 5.4) the query's tokens attend globally, the document's within their window.
"""

import re
from pathlib import Path
from typing import Any

from helpers.networks.backbone import Backbone
from helpers.steps import step

RENAMED = {r"^classifier\.": "classifier.out_proj.", r"^bert\.pooler\.": "classifier.", r"^bert\.": "longformer."}


@step(version=1, form="folder")
def longformer_of(model: Path, window: int, length: int, *, folder: Path) -> None:
    """Convert a fine-tuned BERT cross-encoder, its head included, for inputs of so many tokens; each attends to `window` of them,
    an even number, half on each side."""
    from transformers import BertForSequenceClassification

    origin = Backbone("", str(model))
    converted(origin.build(BertForSequenceClassification), window, length).save_pretrained(folder)
    origin.tokenizer().save_pretrained(folder)


def converted(bert: Any, window: int, length: int) -> Any:
    """A `LongformerForSequenceClassification` with the weights of a `BertForSequenceClassification`; ValueError for an odd
    window."""
    import torch
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
        if name.endswith("position_embeddings.weight"):
            repeated = weight[torch.arange(length) % len(weight)]
            weight = torch.cat([torch.zeros(first, weight.shape[1]), repeated])
        weights[name] = weight
        for part in ("query", "key", "value"):
            if f"self.{part}." in name:
                weights[name.replace(part, f"{part}_global")] = weight.clone()
    model = LongformerForSequenceClassification(config)
    model.load_state_dict(weights)
    return model.eval()


def query_attends_globally(model: Any) -> Any:
    """Give a Longformer global attention on the query's tokens, those of token type 0; any other model stays as it is.

    Transformers' own default is global attention on the first token alone.
    """
    if model.config.model_type == "longformer":
        model.register_forward_pre_hook(_global_attention, with_kwargs=True)
    return model


def _global_attention(model: Any, inputs: tuple, named: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    types, mask = named["token_type_ids"], named["attention_mask"]
    named = {**named, "global_attention_mask": ((types == 0) & (mask > 0)).long()}
    if model.config.type_vocab_size == 1:  # the published Longformers know one type only
        named["token_type_ids"] = types * 0
    return inputs, named
