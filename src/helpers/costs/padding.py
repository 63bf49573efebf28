"""Padding, counted: how many tokens a network reads for each real one, in training and in scoring. Nothing here is timed."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.tokens import WindowTokens, pair_ids, query_ids
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone
from helpers.networks.inference import TOKEN_BUDGET, batches
from helpers.steps import step

DRAWS = 20  # orders of the examples, of which each gives other batches


@step(version=2, form="json")
def padding(pairs: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone, batch_size: int,
            max_length: int, query_length: int) -> dict[str, Any]:
    """Count the tokens of pairs (columns query_id, window_id) in the batches that are made of them.

    Returns:
        `real`, the tokens of all pairs, and how many a network reads of them: `random`, in batches of random order, each padded
        to its longest pair (the Trainer's default); `grouped`, in those of a training here; `unrounded`, in the same if
        their lengths were not rounded up; `sorted`, in those of scoring, if the network needs padding; `packed`, in those of
        scoring by a network that needs none. The first three are means over twenty orders.
    """
    tokenizer, reader = backbone.tokenizer(), WindowTokens(tokens, store)
    ids = dict(zip(queries["query_id"], query_ids(tokenizer, list(queries["text"]), query_length), strict=True))
    lengths = np.array([len(pair_ids(tokenizer, ids[query], reader[window], max_length)[0])
                        for query, window in pairs[["query_id", "window_id"]].itertuples(index=False)])
    ends = range(batch_size, len(lengths), batch_size)  # of batches, the last of which may be smaller
    multiple = fine_tuning.collator(tokenizer).pad_to_multiple_of or 1
    drawn = [(np.random.default_rng(seed).permutation(len(lengths)), grouped_order(lengths, batch_size, seed))
             for seed in range(DRAWS)]
    return {"real": int(lengths.sum()), "pairs": len(lengths), "packed": int(lengths.sum()),
            "random": float(np.mean([padded(lengths, np.split(order, ends)) for order, _ in drawn])),
            "grouped": float(np.mean([padded(lengths, np.split(order, ends), multiple) for _, order in drawn])),
            "unrounded": float(np.mean([padded(lengths, np.split(order, ends)) for _, order in drawn])),
            "sorted": padded(lengths, batches(lengths, TOKEN_BUDGET))}


def padded(lengths: np.ndarray, groups: Iterable[np.ndarray], multiple: int = 1) -> int:
    """Tokens of all batches (positions of texts), each text as long as its batch's longest, rounded up to a multiple."""
    return sum(len(group) * -(-int(lengths[group].max()) // multiple) * multiple for group in groups)


def grouped_order(lengths: np.ndarray, batch_size: int, seed: int) -> np.ndarray:
    """An order in which the Trainer takes examples that it groups by length."""
    import torch
    from transformers.trainer_pt_utils import get_length_grouped_indices

    return np.array(get_length_grouped_indices(lengths.tolist(), batch_size, generator=torch.Generator().manual_seed(seed)))
