"""The texts of a pre-training: cut to length, in an order and with masks that depend on the epoch alone.

Nothing here draws from a shared generator, so a training that goes on from a checkpoint sees what it would have seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.texts import Texts
from helpers.data.tokens import WindowTokens
from helpers.networks.encoder import inputs
from helpers.networks.inference import padded
from helpers.pretraining.whole_word_masking import IGNORED, WholeWordMasking
from helpers.steps import step

SHORTEST = 8  # tokens of a piece of text that is worth reading
ALIKE = 32  # batches that are sorted by length together
HELD_OUT = -1  # the epoch of evaluation masks: the same in every evaluation


@step(version=1, form="table")
def corpus(store: Path, first: int | None = None) -> pd.DataFrame:
    """The ids of the texts to be read, all or the store's `first` so many: column doc_id."""
    return pd.DataFrame({"doc_id": [text.doc_id for text in islice(Texts(store), first)]})


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


def sampled(texts: pd.DataFrame, tokens: WindowTokens, sample: int, max_length: int, seed: int) -> list[np.ndarray]:
    """So many pieces of the texts (column doc_id), drawn with the seed, as `spans` has them; fewer if there are no more."""
    drawn = texts["doc_id"].sample(min(sample, len(texts)), random_state=seed).tolist()
    return spans(drawn, tokens, max_length)[:sample]


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
    """Masked texts, padded to the longest: the inputs of `condenser.Condenser.forward`, (texts, tokens) each."""
    own: dict[str, Any] = {name: padded([one[name] for one in examples], IGNORED)
                           for name in ("labels", "head_labels") if name in examples[0]}
    if "head_ids" in examples[0]:
        own["head_ids"] = inputs([one["head_ids"] for one in examples], pad)["input_ids"]
    return {**inputs([one["input_ids"] for one in examples], pad), **own}
