"""How long the passages of a collection are, in tokens of an encoder's tokenizer."""

from pathlib import Path

import numpy as np

from helpers.encoders.embeddings import WholeTexts
from helpers.steps import step


@step(version=1, form="json")
def token_lengths(store: Path, tokens: Path) -> dict[str, int]:
    """How many passages have each length, special tokens included; lengths as texts, ascending.

    Args:
        store: the text store.
        tokens: its window tokens, one window a text.
    """
    lengths, how_many = np.unique(WholeTexts(tokens, store).lengths() + 2, return_counts=True)
    return {str(length): int(number) for length, number in zip(lengths, how_many, strict=True)}
