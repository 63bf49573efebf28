"""The cross-encoder as an ONNX model, float32: input_ids, token_type_ids, attention_mask (batch, tokens) to score (batch, 1)."""

import logging
import warnings
from pathlib import Path
from typing import Any

from helpers.networks.backbone import Backbone
from press.vespa.package import INPUTS, LENGTH, OUTPUT


def export(model: Path, file: Path) -> Any:
    """Write the ONNX model of a fine-tuned cross-encoder's folder, for any number of pairs; its PyTorch model, on the CPU."""
    import torch
    from transformers import AutoModelForSequenceClassification

    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    built = Backbone("", str(model)).build(AutoModelForSequenceClassification, whole=True, num_labels=1,
                                           attn_implementation="eager")
    built = built.float().eval()

    class Score(torch.nn.Module):
        """The logit of relevance."""

        def __init__(self) -> None:
            super().__init__()
            self.model = built

        def forward(self, input_ids: Any, token_type_ids: Any, attention_mask: Any) -> Any:
            return self.model(input_ids=input_ids, token_type_ids=token_type_ids, attention_mask=attention_mask).logits

    sample = tuple(torch.ones(2, LENGTH, dtype=torch.long) for _ in INPUTS)
    batch = torch.export.Dim("batch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(Score().eval(), sample, file, input_names=[*INPUTS], output_names=[OUTPUT], dynamo=True,
                          dynamic_shapes=tuple({0: batch} for _ in INPUTS), external_data=False, verbose=False)
    return built
