"""The encoder of a bi-encoder: loading it, its inputs, and texts as vectors."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from helpers.networks.backbone import Backbone, attention, configuration
from helpers.networks.inference import mask_of, padded, run_batches
from helpers.networks.packed import Packed, supports
from helpers.networks.pooling import normalised, pool
from helpers.steps import numerics

QUERY, PASSAGE = 0, 1  # token types, where they are told apart (RepBERT, Zhan et al. 2020, footnote 2)
DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout")  # DistilBERT: the last two


def build(backbone: Backbone, model: Path | None = None, dropout: float | None = None, **config: Any) -> Any:
    """An encoder without the pooler that some architectures add: nothing here reads or trains it.

    The fine-tuned weights of `model` take the backbone's place; dropout is that of hidden states and attention, by default the
    configuration's, which `config` overrides.
    """
    from transformers import AutoModel

    origin = backbone if model is None else Backbone("", str(model))
    if dropout is not None:
        known = configuration(origin)
        config |= {name: dropout for name in DROPOUTS if hasattr(known, name)}
    built = origin.build(AutoModel, **config)
    if getattr(built, "pooler", None) is not None:
        built.pooler = None
    return built


def has_token_types(model: Any) -> bool:
    """Whether the architecture tells two kinds of token apart (BERT, ALBERT and ELECTRA do)."""
    return getattr(model.config, "type_vocab_size", 0) > 1


def wrapped(tokenizer: Any, ids: Sequence[int] | np.ndarray, length: int) -> list[int]:
    """[CLS] ids [SEP], cut to `length` tokens (Zhan et al. 2020, equation 1; every text is a sentence A in David 2020)."""
    return [tokenizer.cls_token_id, *(int(n) for n in ids[:length - 2]), tokenizer.sep_token_id]


def inputs(rows: Sequence[Sequence[int]], pad: int, segment: int | None = None) -> dict[str, Any]:
    """Token ids with special tokens, a row a text, as one padded batch, on the CPU.

    The segment is the token type of all tokens; None where the model takes none, or all are 0.
    """
    batch = {"input_ids": padded(rows, pad), "attention_mask": mask_of(rows)}
    return batch if segment is None else {**batch, "token_type_ids": batch["attention_mask"] * segment}


class Encoder:
    """A bi-encoder's encoder, ready to turn texts into vectors."""

    def __init__(self, backbone: Backbone, model: Path | None, pooling: str, normalise: bool, token_types: bool):
        import torch

        self.tokenizer = backbone.tokenizer()
        dtype = torch.bfloat16 if numerics.dtype() == "bf16" else torch.float32
        self._model = build(backbone, model, attn_implementation=attention()).eval().to(numerics.device(), dtype)
        self._pooling, self._normalise = pooling, normalise
        self._token_types = token_types and has_token_types(self._model)
        self._packed = Packed(self._model, first_only=pooling == "cls") if supports(self._model) else None

    @property
    def dimensions(self) -> int:
        """Of a vector."""
        return self._model.config.hidden_size

    def vectors(self, rows: Sequence[Sequence[int]], segment: int, progress: str = "") -> np.ndarray:
        """The vectors of texts (ids with special tokens), float32, a row a text."""
        vectors = np.zeros((len(rows), self.dimensions), dtype=np.float32)

        def encode(batch: np.ndarray) -> None:
            pooled = pool(*self._states([rows[n] for n in batch], segment), self._pooling)
            vectors[batch] = (normalised(pooled) if self._normalise else pooled).cpu().numpy()

        run_batches(encode, np.array([len(row) for row in rows], dtype=np.int64), progress)
        return vectors

    def token_vectors(self, rows: Sequence[Sequence[int]], segment: int, progress: str = "") -> list[np.ndarray]:
        """The states of every text's tokens, special ones included, each of length one: (tokens, dimensions), float32. Of an
        encoder that pools first tokens alone there are no others to give."""
        vectors: list[np.ndarray] = [np.zeros((0, self.dimensions), dtype=np.float32)] * len(rows)

        def encode(batch: np.ndarray) -> None:
            states, mask = self._states([rows[n] for n in batch], segment)
            for n, text, real in zip(batch, normalised(states), mask.bool(), strict=True):
                vectors[n] = text[real].cpu().numpy()

        run_batches(encode, np.array([len(row) for row in rows], dtype=np.int64), progress)
        return vectors

    def _states(self, rows: list[Sequence[int]], segment: int) -> tuple[Any, Any]:
        """The last layer's states (batch, tokens, dimensions) in float32, and the mask of real tokens."""
        return (self._packed_states if self._packed else self._padded_states)(rows, segment if self._token_types else None)

    def _padded_states(self, rows: list[Sequence[int]], segment: int | None) -> tuple[Any, Any]:
        """The same by the architecture's own code, over padding."""
        fed = {name: tensor.to(numerics.device()) for name, tensor in inputs(rows, self.tokenizer.pad_token_id, segment).items()}
        return self._model(**fed).last_hidden_state.float(), fed["attention_mask"]

    def _packed_states(self, rows: list[Sequence[int]], segment: int | None) -> tuple[Any, Any]:
        """The same by the model that reads packed texts; of first tokens alone, if only these are pooled."""
        import torch

        states = self._packed(rows, [[segment or 0] * len(row) for row in rows]).float()  # type: ignore[misc]
        lengths = [1] * len(rows) if self._pooling == "cls" else [len(row) for row in rows]
        mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
        return torch.nn.utils.rnn.pad_sequence(states.split(lengths), batch_first=True), mask.to(states.device)
