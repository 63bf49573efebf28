"""How far an encoder's [CLS] tells texts apart before anything was fine-tuned: a gate that a start has to pass.

Where all [CLS] states point one way, a fine-tuning begins at the loss of a guess whatever the pre-training did, and nothing that
differs afterwards says anything of it.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from helpers.data.tokens import WindowTokens
from helpers.networks.backbone import Backbone
from helpers.networks.encoder import build, inputs, wrapped
from helpers.pretraining.pretraining_data import sampled
from helpers.steps import step

AT_ONCE = 50  # texts


@step(version=1, form="json", network=True)
def cls_cosines(texts: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone, sample: int, max_length: int, seed: int,
                start: Path | None = None) -> dict[str, float]:
    """Cosines between the [CLS] states of a sample of texts, all pairs of them, in float32: their `mean` and standard deviation,
    `spread`.

    Args:
        texts: column doc_id: those that the sample is drawn from.
        start: a pre-trained encoder's folder, in place of the backbone's weights.
    """
    import torch

    tokenizer, encoder = backbone.tokenizer(), build(backbone, start).float().eval()
    rows = sampled(texts, WindowTokens(tokens, store), sample, max_length, seed)
    ids = [wrapped(tokenizer, row, max_length) for row in rows]
    with torch.no_grad():
        states = torch.cat([encoder(**inputs(ids[place:place + AT_ONCE], tokenizer.pad_token_id)).last_hidden_state[:, 0]
                            for place in range(0, len(ids), AT_ONCE)])
    unit = torch.nn.functional.normalize(states.double(), dim=-1).numpy()
    cosines = (unit @ unit.T)[np.triu_indices(len(unit), k=1)]
    return {"mean": float(cosines.mean()), "spread": float(cosines.std())}
