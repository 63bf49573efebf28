"""A narrower encoder as a step: fitted on a sample of texts to the one that it was made from, before any training."""

from pathlib import Path

import pandas as pd

from helpers.data.tokens import WindowTokens
from helpers.networks.backbone import Backbone, attention
from helpers.networks.encoder import build, wrapped
from helpers.pretraining.pretraining_data import sampled
from helpers.steps import step


@step(version=1, form="folder", network=True)
def narrowed_encoder(texts: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone, width: int, sample: int, max_length: int,
                     seed: int, *, folder: Path) -> None:
    """Fit a narrower BERT to a backbone, see `networks.narrowing`; a folder that loads wherever the backbone does.

    Args:
        texts: column doc_id: those that the sample is drawn from.
        width: dimensions of its states.
        sample: pieces of texts on which it is fitted, of at most `max_length` tokens.
    """
    from helpers.networks.narrowing import narrowed

    tokenizer, encoder = backbone.tokenizer(), build(backbone, attn_implementation=attention()).float().eval()
    rows = sampled(texts, WindowTokens(tokens, store), sample, max_length, seed)
    narrowed(encoder, [wrapped(tokenizer, row, max_length) for row in rows], width).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
