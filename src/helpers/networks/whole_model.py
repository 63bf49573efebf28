"""A fine-tuned cross-encoder as a folder that needs nothing of this book: all weights in float32, configuration, tokenizer."""

from pathlib import Path
from typing import Any

from helpers.errors import BadInput
from helpers.networks.backbone import Backbone, configuration
from helpers.steps import Step

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
