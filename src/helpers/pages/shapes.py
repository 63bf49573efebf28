"""What models are called by their shapes, `layers/dimensions/heads`, and which of them differ in depth and width alone."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from helpers.evaluation import published
from helpers.evaluation.comparable import model_name
from helpers.networks import backbone
from helpers.networks.backbone import encoder_flops
from helpers.pages.training import STUDY

TABLE = "5.5"  # of the study's sizes


def shape(spec: str) -> str:
    """A backbone's shape as `layers/dimensions/heads`."""
    name, width = backbone.width_of(spec)
    resolved = backbone.resolve(name)
    config = backbone.configuration(resolved)
    dimensions = width or config.hidden_size
    return f"{backbone.layers(resolved)}/{dimensions}/{config.num_attention_heads * dimensions // config.hidden_size}"


def label(spec: str) -> str:
    """How the tables call a backbone: the study's name for a shape of its table 5.5, else `L3-H384`."""
    layers, dimensions, _ = shape(spec).split("/")
    names = {size.rpartition("/")[0]: row for row, size in studied_shapes().items()}
    return names.get(f"{layers}/{dimensions}", f"L{layers}-H{dimensions}")


def studied_shapes() -> dict[str, str]:
    """The shapes of the study's six models as `layers/dimensions/heads`; its heads have 64 dimensions each."""
    sizes = {row: str(entry.value) for row, entry in published.column(STUDY, TABLE, "L/H").items()}
    return {row: f"{size}/{int(size.split('/')[1]) // 64}" for row, size in sizes.items()}


def labels(specs: Sequence[str]) -> dict[str, str]:
    """Backbones by how the tables call them: those of one shape by their own names, too, or, if these are one, by their specs."""
    called = {spec: label(spec) for spec in specs}
    for name in (model_name, str):
        often = Counter(called.values())
        called = {spec: f"{label(spec)} {name(spec)}" if often[text] > 1 else text for spec, text in called.items()}
    return {text: spec for spec, text in called.items()}


def shapes_of(specs: Sequence[str]) -> dict[str, str]:
    """The shapes of backbones by how the tables call these."""
    return {name: shape(spec) for name, spec in labels(specs).items()}


def operations(shapes: Mapping[str, str], tokens: int) -> dict[str, float]:
    """How many operations models of these shapes take for a text of so many tokens."""
    return {name: encoder_flops(backbone.architecture(f"BERT/{shape}"), [tokens]) for name, shape in shapes.items()}


def deeper_and_wider(shapes: Mapping[str, str], tokens: int) -> tuple[str, str] | None:
    """The deepest of the narrower models, and of the widest ones with fewer layers that which takes the most similar number of
    operations for a text of so many tokens; None where there are no two such."""
    depths, widths = ({name: int(shape.split("/")[part]) for name, shape in shapes.items()} for part in (0, 1))
    cost = operations(shapes, tokens)
    widest = max(widths.values())
    deeper = max((name for name in shapes if widths[name] < widest), key=depths.__getitem__, default="")
    rivals = [name for name in shapes if deeper and widths[name] == widest and depths[name] < depths[deeper]]
    wider = min(rivals, key=lambda name: abs(np.log(cost[name] / cost[deeper])), default="")
    return (deeper, wider) if wider else None
