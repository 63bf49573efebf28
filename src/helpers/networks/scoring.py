"""Scoring pairs with a cross-encoder: bf16 where it is fast, pairs sorted by length across queries, a BERT without padding."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from helpers.errors import BadInput
from helpers.networks.backbone import Backbone, attention
from helpers.networks.inference import mask_of, padded, run_batches
from helpers.networks.longformer import as_studied
from helpers.networks.packed import Packed, supports
from helpers.steps import numerics


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
