"""The encoder of a bi-encoder: loading it, its inputs, pooling, texts as vectors; and models of others, read and written."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from helpers.data import hub
from helpers.data.windows import query_ids
from helpers.errors import BadInput
from helpers.networks.backbone import AS_TEXT, FILES, TRAINED_FROM, Backbone, attention, configuration, resolve
from helpers.networks.backbone import build as without_pooler
from helpers.networks.inference import mask_of, padded, run_batches
from helpers.registry import Registry
from helpers.steps import Step, kind, numerics
from helpers.steps.recipe import canonical, sha256
from helpers.steps.store import fingerprint

# Pooling: one vector for a text from the states of its tokens (David 2020, section 3.3; Reimers & Gurevych 2019).

def mean(hidden: Any, kept: Any) -> Any:
    """The mean of the tokens' states (the study's AVG)."""
    weights = kept.to(hidden.dtype)
    return (hidden * weights).sum(1) / weights.sum(1)


def cls(hidden: Any, kept: Any) -> Any:
    """The first token's state."""
    return hidden[:, 0]


def maximum(hidden: Any, kept: Any) -> Any:
    """The maximum of each dimension."""
    return hidden.masked_fill(~kept, float("-inf")).amax(1)


POOLINGS = Registry("pooling", {"mean": mean, "cls": cls, "max": maximum})


def pool(hidden: Any, mask: Any, how: str) -> Any:
    """The vector of each text, (batch, dimensions), not normalised; padding never counts.

    Args:
        hidden: (batch, tokens, dimensions), the last layer's states.
        mask: (batch, tokens), true for real tokens, which come first.
        how: one of `POOLINGS`, which take the mask as (batch, tokens, 1).
    """
    return POOLINGS[how](hidden, mask.bool().unsqueeze(-1))


def normalised(vectors: Any) -> Any:
    """The vectors, scaled to length 1: their inner products are cosines."""
    return vectors / vectors.norm(dim=-1, keepdim=True)


QUERY, PASSAGE = 0, 1  # token types, where they are told apart (RepBERT, Zhan et al. 2020, footnote 2)
DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout")  # DistilBERT: the last two


def build(backbone: Backbone, model: Path | None = None, dropout: float | None = None, **config: Any) -> Any:
    """An encoder without the pooler that some architectures add: nothing here reads or trains it.

    The fine-tuned weights of `model` take the backbone's place; dropout is that of hidden states and attention, by default the
    configuration's, which `config` overrides.
    """
    origin = backbone if model is None else Backbone("", str(model))
    if dropout is not None:
        known = configuration(origin)
        config |= {name: dropout for name in DROPOUTS if hasattr(known, name)}
    return without_pooler(origin, **config)


def has_token_types(model: Any) -> bool:
    """Whether the architecture tells two kinds of token apart (BERT, ALBERT and ELECTRA do)."""
    return getattr(model.config, "type_vocab_size", 0) > 1


def wrapped(tokenizer: Any, ids: Sequence[int] | np.ndarray, length: int) -> list[int]:
    """[CLS] ids [SEP], cut to `length` tokens (Zhan et al. 2020, equation 1; every text is a sentence A in David 2020)."""
    return [tokenizer.cls_token_id, *(int(n) for n in ids[:length - 2]), tokenizer.sep_token_id]


def wrapped_texts(tokenizer: Any, texts: Iterable[str], length: int) -> list[list[int]]:
    """Queries or sentences as ids with special tokens, cut to `length` tokens."""
    return [wrapped(tokenizer, ids, length) for ids in query_ids(tokenizer, list(texts), length)]


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

        from helpers.networks import bert
        from helpers.networks.packed import Packed, supports

        self.tokenizer = backbone.word_pieces()
        dtype = torch.bfloat16 if numerics.dtype() == "bf16" else torch.float32
        if (encoder := bert.load(backbone if model is None else Backbone("", str(model)), head=False)) is None:
            encoder = build(backbone, model, attn_implementation=attention()).eval()
        self._model = encoder.to(numerics.device(), dtype)
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
        import torch

        told = segment if self._token_types else None
        if not self._packed:  # by the architecture's own code, over padding
            fed = {name: tensor.to(numerics.device()) for name, tensor in inputs(rows, self.tokenizer.pad_token_id, told).items()}
            return self._model(**fed).last_hidden_state.float(), fed["attention_mask"]
        states = self._packed(rows, [[told or 0] * len(row) for row in rows]).float()
        lengths = [1] * len(rows) if self._pooling == "cls" else [len(row) for row in rows]
        mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
        return torch.nn.utils.rnn.pad_sequence(states.split(lengths), batch_first=True), mask.to(states.device)


# A whole model that somebody else trained, and the bi-encoder among such, read by sentence-transformers as its own files say.
#
# `modules.json` names the modules and their folders, `1_Pooling/config.json` the pooling, `sentence_bert_config.json` the length,
# and `config_sentence_transformers.json` the prompts and the similarity.

MODULES = "modules.json"
READ = ("Transformer", "Pooling", "Dense", "LayerNorm", "Dropout", "Normalize")  # kinds of module
OWN_WEIGHTS = ("Dense", "LayerNorm")  # those whose weights lie in a folder of theirs
KNOWN_POOLINGS = {f"pooling_mode_{how}" for how in ("cls_token", "max_tokens", "mean_tokens", "mean_sqrt_len_tokens",
                                              "weightedmean_tokens", "lasttoken")}


@dataclass(frozen=True)
class WholeModel(Backbone):
    """A model with the files of its modules' folders, by which a local one is known, too."""

    def recipe(self) -> dict[str, Any]:
        """How it stands in a step's recipe."""
        own = [[file.relative_to(self.source).as_posix(), fingerprint(file)] for file in self.sources()]
        return {"data": ["whole model", self.spec], "digest": sha256(canonical(own or [self.source, self.revision]))}

    def sources(self) -> list[Path]:
        """The files of a local folder."""
        return [] if self.revision else sorted(file for file in Path(self.source).rglob("*") if file.suffix in FILES)


def given(spec: str) -> WholeModel:
    """The whole model of a folder or a hub id with revision; BadInput for what is none."""
    model = resolve(spec)
    if model.layers is not None or (Path(model.source) / TRAINED_FROM).exists():
        raise BadInput(f"{spec!r} is no whole model", mend="give all of it, such as `book export --models` writes")
    return WholeModel(**vars(model))


@kind("whole model")
def _from_recipe(description: dict[str, Any]) -> WholeModel:
    return given(description["data"][1])


def load_settings(model: Backbone) -> dict[str, Any]:
    """What sentence-transformers' classes load any model with: no code of its own is run, and no pickled weights are read."""
    return {"device": numerics.device(), "revision": model.revision, "trust_remote_code": False,
            "processor_kwargs": dict(AS_TEXT), "model_kwargs": {"use_safetensors": True}}


def bi_encoder(model: Backbone) -> Any:
    """The model as a `SentenceTransformer`. Errors are those of `hub.asking`, and BadInput if it names no modules, one of
    another kind than `READ`, an unknown pooling, or a similarity that is neither cosine nor dot, or pickled weights."""
    from sentence_transformers import SentenceTransformer

    with hub.asking(model.source, model.revision):
        if (listed := _content(model, MODULES)) is None:
            raise BadInput(f"{model.spec!r} is no model of sentence-transformers: it has no {MODULES}",
                           mend="give one that says how it pools")
        for module in listed:
            _check_module(model, module["type"].rpartition(".")[2], module["path"])
        similarity = (_content(model, "config_sentence_transformers.json") or {}).get("similarity_fn_name") or "cosine"
        if similarity not in ("cosine", "dot"):
            raise BadInput(f"{model.spec!r} compares by {similarity}", mend="use one that compares by cosine or dot")
        try:
            return SentenceTransformer(model.source, **load_settings(model))
        except (KeyError, TypeError, ValueError) as error:
            if model.revision is not None and isinstance(error, OSError):
                raise  # an error of the hub's client
            raise BadInput(f"sentence-transformers cannot read {model.spec!r}: {error}") from error


def _check_module(model: Backbone, name: str, folder: str) -> None:
    if name not in READ:
        raise BadInput(f"{model.spec!r} has a module of kind {name}, which is not read here", mend=f"use {', '.join(READ)} alone")
    if name in OWN_WEIGHTS and _file(model, "model.safetensors", folder) is None:
        raise BadInput(f"the module {folder} of {model.spec!r} has no safetensors weights", mend="pickled weights are not read")
    if name == "Pooling":
        config = _content(model, "config.json", folder) or {}
        flags = {key for key, on in config.items() if key.startswith("pooling_mode_") and on is True}
        if "pooling_mode" not in config and (not flags or flags - KNOWN_POOLINGS):
            unknown = ", ".join(sorted(flags - KNOWN_POOLINGS)) or "none is named"
            raise BadInput(f"{model.spec!r} pools in a way that is not known here: {unknown}")


def _file(model: Backbone, name: str, folder: str = "") -> str | None:
    from sentence_transformers.util import load_file_path

    return load_file_path(model.source, name, subfolder=folder, revision=model.revision)


def _content(model: Backbone, name: str, folder: str = "") -> Any:
    return None if (file := _file(model, name, folder)) is None else json.loads(Path(file).read_text(encoding="utf-8"))


# A fine-tuned cross-encoder as a folder that needs nothing of this book: all weights in float32, configuration, tokenizer.

SCORING = {"window_scores": "activation.Sigmoid", "window_logits": "linear.Identity"}  # what makes a score of a logit, by step


def write_of(source: Any, folder: Path) -> bool:
    """Write the model of the last re-ranking behind a step's value; whether there is one."""
    if not isinstance(source, Step):
        return False
    if source.name not in SCORING:
        return any(write_of(step, folder) for step in source.inputs())
    write_whole(source.arguments["model"].value(), folder, source.arguments["max_length"], SCORING[source.name])
    return True


def write_whole(trained: Path, folder: Path, max_length: int, activation: str) -> None:
    """Write a fine-tuned model so that `transformers` and sentence-transformers' `CrossEncoder` read it; the activation is a
    module of `torch.nn.modules`. This book cuts long queries besides, see `query_length`. BadInput for a Longformer, whose global
    attention is set by this book's code and not by its weights."""
    from transformers import AutoModelForSequenceClassification

    origin = Backbone("", str(trained))
    if configuration(origin).model_type == "longformer":
        raise BadInput("a Longformer with global attention on the query cannot be loaded elsewhere", mend="export its run alone")
    model, tokenizer = origin.build(AutoModelForSequenceClassification).float(), origin.tokenizer()
    model.config.sentence_transformers = {"activation_fn": f"torch.nn.modules.{activation}"}
    tokenizer.model_max_length = max_length
    for part in (model, tokenizer):
        part.save_pretrained(folder)
