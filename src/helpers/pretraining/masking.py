"""Whole-word masking, the task of pre-training: words to be guessed from the words around them.

BERT's proportions (Devlin et al. 2019, section 3.1), over whole words as in its later releases: of the words of a text a share is
chosen; their pieces become [MASK] in 80 %, random pieces in 10 %, and stay as they are in 10 % of the cases, a word at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.texts import Texts
from helpers.data.windows import WindowTokens
from helpers.networks.encoder import inputs, wrapped
from helpers.networks.inference import padded
from helpers.steps import step

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
        """For a word-piece tokenizer; ValueError for a share outside 0 to 1, or a tokenizer without [MASK] or `##` pieces."""
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


# The texts of a pre-training: cut to length, in an order and with masks that depend on the epoch alone. Nothing here draws from a
# shared generator, so a training that goes on from a checkpoint sees what it would have seen.

SHORTEST = 8  # tokens of a piece of text that is worth reading
ALIKE = 32  # batches that are sorted by length together
HELD_OUT = -1  # the epoch of evaluation masks: the same in every evaluation


@step(version=1, form="table")
def corpus(store: Path, first: int | None = None, skipped: int | None = None) -> pd.DataFrame:
    """The ids of the texts to be read, all or of the store's `first` so many those behind the `skipped` ones: column doc_id."""
    return pd.DataFrame({"doc_id": [text.doc_id for text in islice(Texts(store), skipped, first)]})


def spans(doc_ids: Sequence[str], tokens: WindowTokens, max_length: int) -> list[np.ndarray]:
    """The texts as token ids, cut so that each piece fits with [CLS] and [SEP]; tiny remainders are dropped."""
    size = max_length - 2
    kept = []
    for doc_id in doc_ids:
        for window in tokens.windows_of(doc_id):
            ids = np.asarray(tokens[window], dtype=np.int64)
            pieces = [ids[start:start + size] for start in range(0, len(ids), size)]
            kept += [piece for piece in pieces if len(piece) >= SHORTEST]
    return kept


def sampled(texts: pd.DataFrame, tokens: WindowTokens, tokenizer: Any, sample: int, max_length: int,
            seed: int) -> list[list[int]]:
    """So many pieces of the texts (column doc_id), drawn with the seed, as `spans` has them, with [CLS] and [SEP] around each;
    fewer if there are no more."""
    drawn = texts["doc_id"].sample(min(sample, len(texts)), random_state=seed).tolist()
    return [wrapped(tokenizer, row, max_length) for row in spans(drawn, tokens, max_length)[:sample]]


@dataclass
class Masked:
    """Texts with masked words, in the shape that `transformers.Trainer` reads; set `epoch` before each pass."""

    texts: list[np.ndarray]  # token ids without special tokens
    masking: WholeWordMasking  # of words
    batch_size: int  # batches of it hold texts of similar length
    seed: int  # of masks and order
    special: tuple[int, int]  # the ids of [CLS] and [SEP]
    epoch: int = HELD_OUT  # of the pass, from 0; `HELD_OUT` keeps the texts' order
    head_masking: WholeWordMasking | None = None  # of the head's own input, drawn by itself
    _order: tuple[int, np.ndarray] = field(default=(HELD_OUT, np.empty(0, dtype=np.int64)), repr=False)

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, place: int) -> dict[str, list[int]]:
        number = place if self.epoch == HELD_OUT else int(self.order()[place])
        generator = np.random.default_rng([self.seed, self.epoch + 1, number])
        first, last = self.special
        made: dict[str, list[int]] = {}
        for ids, wanted, masking in (("input_ids", "labels", self.masking), ("head_ids", "head_labels", self.head_masking)):
            if masking is not None:
                read, labels = masking(self.texts[number], generator)
                made |= {ids: [first, *read.tolist(), last], wanted: [IGNORED, *labels.tolist(), IGNORED]}
        return made

    def order(self) -> np.ndarray:
        """The texts of the epoch by their places: shuffled, then sorted by length within stretches of some batches."""
        if self._order[0] != self.epoch:
            shuffled = np.random.default_rng([self.seed, self.epoch + 1]).permutation(len(self.texts))
            lengths = np.array([len(text) for text in self.texts])
            stretch = ALIKE * self.batch_size
            parts = [shuffled[start:start + stretch] for start in range(0, len(shuffled), stretch)]
            ordered = np.concatenate([part[np.argsort(-lengths[part], kind="stable")] for part in parts])
            batches = [ordered[start:start + self.batch_size] for start in range(0, len(ordered), self.batch_size)]
            full = len(ordered) // self.batch_size  # the incomplete batch stays at the end
            mixed = np.random.default_rng([self.seed, self.epoch + 1, 1]).permutation(full)
            self._order = (self.epoch, np.concatenate([*(batches[n] for n in mixed), *batches[full:]]))
        return self._order[1]


def batch(examples: Sequence[dict[str, list[int]]], pad: int) -> dict[str, Any]:
    """Masked texts, padded to the longest: the inputs of `heads.Condenser`, (texts, tokens) each."""
    own: dict[str, Any] = {name: padded([one[name] for one in examples], IGNORED)
                           for name in ("labels", "head_labels") if name in examples[0]}
    if "head_ids" in examples[0]:
        own["head_ids"] = inputs([one["head_ids"] for one in examples], pad)["input_ids"]
    return {**inputs([one["input_ids"] for one in examples], pad), **own}
