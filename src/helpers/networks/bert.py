"""A plain BERT for inference on a CPU, and its word pieces, read from files alone: `transformers` takes seconds to import.

Its parts are named as in `BertForSequenceClassification`, and `Packed` computes with them. What is not plain (another
architecture, left-out layers, a hub model, lacking weights) is left to `transformers`, its errors too.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn

from helpers.data import hub
from helpers.steps import numerics

NORMALISED = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None}


class _Embeddings(nn.ModuleDict):
    def forward(self, input_ids: Any, token_type_ids: Any, position_ids: Any) -> Any:
        words = self["word_embeddings"](input_ids) + self["token_type_embeddings"](token_type_ids)
        return self["LayerNorm"](words + self["position_embeddings"](position_ids))


class _Pooler(nn.ModuleDict):
    def forward(self, states: Any) -> Any:
        return torch.tanh(self["dense"](states[:, 0]))


class BertModel(nn.ModuleDict):
    """A BERT."""

    device = torch.device("cpu")


class BertForSequenceClassification(nn.ModuleDict):
    """A cross-encoder: a BERT with its pooler, and one layer on top."""

    base_model = property(lambda self: self.bert)


KINDS = {"embeddings": _Embeddings, "pooler": _Pooler, "bert": BertModel, "": BertForSequenceClassification}


def load(backbone: Any, head: bool) -> Any:
    """A plain BERT with float32 weights as a cross-encoder, or without pooler and head; None for any other model."""
    with hub.asking(backbone.source, None):
        config, weights = _read(backbone, "config.json"), _weights(backbone) or {}
    if [config.get("model_type"), config.get("hidden_act"), numerics.device()] != ["bert", "gelu", "cpu"]:
        return None
    named = {name if name.startswith("classifier.") or not head else f"bert.{name}": weight for name, weight in weights.items()
             if head or not name.startswith(("pooler.", "classifier."))}
    if len(named) != 5 + 16 * config.get("num_hidden_layers", 0) + 4 * head:  # of the embeddings, of a layer, of pooler and head
        return None
    model = _part("" if head else "bert", named, config.get("layer_norm_eps", 1e-12))
    model.name_or_path, model.config = backbone.source, SimpleNamespace(**config)
    (model.bert if head else model).config = model.config
    return model.eval()


def _part(name: str, weights: dict[str, Any], eps: float) -> Any:
    """The part with these weights, by their names within it."""
    if "weight" in weights:
        if "bias" not in weights:
            return nn.Embedding.from_pretrained(weights["weight"])  # made first and filled then, it imports PyTorch's compiler
        size, *width = weights["weight"].shape
        with torch.device("meta"):
            part = nn.Linear(width[0], size) if width else nn.LayerNorm(size, eps)
        part.load_state_dict(weights, assign=True)
        return part
    inner = dict[str, dict[str, Any]]()
    for path, weight in weights.items():
        first, _, rest = path.partition(".")
        inner.setdefault(first, {})[rest] = weight
    parts = {first: _part(first, inner[first], eps) for first in sorted(inner, key=lambda one: (len(one), one))}
    return nn.ModuleList(parts.values()) if name == "layer" else KINDS.get(name, nn.ModuleDict)(parts)


def _weights(backbone: Any) -> dict[str, Any] | None:
    """The weights by name, those of a fine-tuned model over its origin's; None unless they are in plain files, in float32."""
    file = Path(backbone.source) / "model.safetensors"
    if backbone.layers is not None or backbone.revision is not None or not file.exists():
        return None
    own = {name.removeprefix("bert."): weight for name, weight in load_file(file).items() if not name.endswith("position_ids")}
    if (origin := backbone.origin()) is None:
        return own if all(weight.dtype == torch.float32 for weight in own.values()) else None
    return None if (below := _weights(origin)) is None else below | {name: weight.float() for name, weight in own.items()}


def _read(backbone: Any, name: str) -> dict[str, Any]:
    file = Path(backbone.source) / name
    return json.loads(file.read_text(encoding="utf-8")) if backbone.revision is None and file.exists() else {}


class WordPieces:
    """A BERT's tokenizer, as far as ids of texts go. What a text writes as `[SEP]` is read as text."""

    def __init__(self, file: Path):
        self._own = Tokenizer.from_file(str(file))
        self._own.no_padding()
        self._own.no_truncation()
        self._own.encode_special_tokens = True
        self.cls_token_id, self.sep_token_id, self.pad_token_id = map(self._own.token_to_id, ("[CLS]", "[SEP]", "[PAD]"))

    def __len__(self) -> int:
        return self._own.get_vocab_size()

    def __call__(self, texts: Sequence[str], **_: bool) -> dict[str, list[list[int]]]:
        """The ids of each text, without special tokens."""
        return {"input_ids": [found.ids for found in self._own.encode_batch_fast(texts, add_special_tokens=False)]}


def word_pieces(backbone: Any) -> Any:
    """A backbone's tokenizer for ids of texts: `transformers`' where it is no plain BERT's."""
    with hub.asking(backbone.source, None):
        said, known = (_read(backbone, name) for name in ("tokenizer_config.json", "tokenizer.json"))
    plain = NORMALISED | {"lowercase": said.get("do_lower_case", True)}
    if said.get("tokenizer_class") != "BertTokenizer" or known.get("normalizer") != plain:
        return backbone.tokenizer()
    return WordPieces(Path(backbone.source) / "tokenizer.json")
