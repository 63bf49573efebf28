"""Models of others read, and this book's models written as a folder that others load."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.data import hub
from helpers.errors import BadInput
from helpers.networks.backbone import AS_TEXT, FILES, TRAINED_FROM, Backbone, configuration, resolve
from helpers.steps import Step, kind, numerics
from helpers.steps.recipe import canonical, sha256
from helpers.steps.store import fingerprint

# A whole model that somebody else trained, and the bi-encoder among such, read by sentence-transformers as its own files say.
#
# `modules.json` names the modules and their folders, `1_Pooling/config.json` the pooling, `sentence_bert_config.json` the length,
# and `config_sentence_transformers.json` the prompts and the similarity.

MODULES = "modules.json"
READ = ("Transformer", "Pooling", "Dense", "LayerNorm", "Dropout", "Normalize")  # kinds of module
OWN_WEIGHTS = ("Dense", "LayerNorm")  # those whose weights lie in a folder of theirs
POOLINGS = {f"pooling_mode_{how}" for how in ("cls_token", "max_tokens", "mean_tokens", "mean_sqrt_len_tokens",
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
    """The model as a `SentenceTransformer`.

    Raises:
        BadInput: if it names no modules, one of another kind than `READ`, an unknown pooling, or a similarity that is neither the
            cosine nor the inner product; or if weights of a module are pickled.
        NetworkNeeded: if it has to come from the hub, and cannot.
    """
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
        if "pooling_mode" not in config and (not flags or flags - POOLINGS):
            unknown = ", ".join(sorted(flags - POOLINGS)) or "none is named"
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
    module of `torch.nn.modules`. This book cuts long queries besides, see `query_length`.

    Raises:
        BadInput: for a Longformer, whose global attention is set by this book's code and not by its weights.
    """
    from transformers import AutoModelForSequenceClassification

    origin = Backbone("", str(trained))
    if configuration(origin).model_type == "longformer":
        raise BadInput("a Longformer with global attention on the query cannot be loaded elsewhere", mend="export its run alone")
    model, tokenizer = origin.build(AutoModelForSequenceClassification).float(), origin.tokenizer()
    model.config.sentence_transformers = {"activation_fn": f"torch.nn.modules.{activation}"}
    tokenizer.model_max_length = max_length
    for part in (model, tokenizer):
        part.save_pretrained(folder)
