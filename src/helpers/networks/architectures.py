"""The five encoder architectures of David (2020), table B.1, with random weights.

Speed and memory depend on an encoder's shape, not on the values of its weights, so both are measured without any download.

`BERT/2/64/4` is BERT with other layers, dimensions and attention heads.
"""

from typing import Any

from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.networks.backbone import Backbone

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
        return backbone.resolve(spec)
    if shape and (len(shape) != 3 or not all(part.isdigit() and int(part) > 0 for part in shape)):
        raise BadInput(f"no shape {spec!r}", mend=f"write {name}, or {name}/layers/dimensions/heads such as {name}/4/512/8")
    return spec


def name_of(model: str | Backbone) -> str:
    """The spec that `parse_architecture` took."""
    return model if isinstance(model, str) else model.spec


def configuration(spec: str) -> Any:
    """The configuration of an architecture, without any hub."""
    from transformers import AutoConfig

    name, *shape = spec.split("/")
    layers, dimensions, heads = map(int, shape) if shape else (BASE[0] // 2 if name == "DistilBERT" else BASE[0], *BASE[1:])
    if name == "DistilBERT":  # other names for the same things
        sizes = {"n_layers": layers, "dim": dimensions, "n_heads": heads, "hidden_dim": 4 * dimensions}
    else:
        sizes = {"num_hidden_layers": layers, "hidden_size": dimensions, "num_attention_heads": heads,
                 "intermediate_size": 4 * dimensions}
    if name in ("ALBERT", "ELECTRA"):
        sizes["embedding_size"] = min(FACTORISED, dimensions) if name == "ALBERT" else dimensions
    return AutoConfig.for_model(name.lower(), **sizes, **OWN[name])


def build(model: str | Backbone, precision: str = "fp32", **config: Any) -> Any:
    """An encoder on the CPU, without the pooler that some have: an architecture with random weights, or a backbone, in `fp32` or
    `bf16`; `config` overrides the configuration, such as `attn_implementation`."""
    import torch
    from transformers import AutoModel

    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]
    built = (AutoModel.from_config(configuration(model), dtype=dtype, **config) if isinstance(model, str)
             else model.build(AutoModel, dtype=dtype, **config))
    if getattr(built, "pooler", None) is not None:
        built.pooler = None
    return built


# How many floating-point operations a network takes, counted from its shape.

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
