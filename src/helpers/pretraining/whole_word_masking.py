"""Whole-word masking, the task of pre-training: words to be guessed from the words around them.

BERT's proportions (Devlin et al. 2019, section 3.1), over whole words as in its later releases: of the words of a text a share is
chosen; their pieces become [MASK] in 80 %, random pieces in 10 %, and stay as they are in 10 % of the cases, a word at a time.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

IGNORED = -100  # a label that does not count in PyTorch's cross-entropy
MASKED, RANDOM = 0.8, 0.1  # the rest stays as it is


@dataclass(frozen=True)
class WholeWordMasking:
    """Masks texts, given as token ids without special tokens."""

    continues: np.ndarray  # (vocabulary,), true for pieces that continue a word (`##ing`)
    mask: int  # the id of [MASK]
    ordinary: np.ndarray  # ids that may stand in for a word: all but the special ones
    mlm_probability: float  # share of the words that are chosen; at least one of each text

    @classmethod
    def of(cls, tokenizer: Any, mlm_probability: float) -> "WholeWordMasking":
        """For a word-piece tokenizer; ValueError for a share outside 0 to 1, or a tokenizer without [MASK] or without `##`
        pieces."""
        if not 0 < mlm_probability < 1:
            raise ValueError(f"mlm_probability {mlm_probability}: more than 0 and less than 1")
        pieces = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
        continues = np.array([piece is not None and piece.startswith("##") for piece in pieces])
        if tokenizer.mask_token_id is None or not continues.any():
            raise ValueError("whole words are known by word pieces, and masked by [MASK]: this tokenizer lacks one of them")
        ordinary = np.setdiff1d(np.arange(len(tokenizer)), tokenizer.all_special_ids)
        return cls(continues, tokenizer.mask_token_id, ordinary, mlm_probability)

    def __call__(self, ids: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The text with some words masked, and the labels: the pieces of these words, `IGNORED` elsewhere. Both (tokens,)."""
        if len(ids) == 0:
            return ids, ids
        starts = ~self.continues[ids]
        starts[0] = True  # a text may be cut within a word
        word = np.cumsum(starts) - 1  # of every piece
        words = int(word[-1]) + 1
        chosen = generator.choice(words, size=max(1, round(self.mlm_probability * words)), replace=False)
        fate = np.full(words, np.nan)
        fate[chosen] = generator.random(len(chosen))
        of_piece = fate[word]
        masked, random = of_piece < MASKED, (of_piece >= MASKED) & (of_piece < MASKED + RANDOM)
        read = np.where(masked, self.mask, ids)
        read[random] = generator.choice(self.ordinary, size=int(random.sum()))
        return read, np.where(np.isnan(of_piece), IGNORED, ids)
