"""Embeddings of a whole collection and of its queries, kept as arrays; a cluster encodes the collection in shards."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.tokens import WindowTokens, query_ids
from helpers.networks.backbone import Backbone
from helpers.networks.encoder import PASSAGE, QUERY, Encoder, wrapped
from helpers.steps import Shards, Step, step

SHARD = 50_000  # passages whose tokens and vectors are in memory at once
PASSAGES, QUERIES = "passages.npy", "queries.npy"


@step(version=1, form="folder", network=True)
def embeddings_shard(store: Path, tokens: Path, backbone: Backbone, pooling: str, normalise: bool, token_types: bool,
                     max_length: int, start: int, stop: int, model: Path | None = None, *, folder: Path) -> None:
    """Encode the passages from position `start` to before `stop`; the other arguments are those of `passage_embeddings`."""
    encoder, texts = Encoder(backbone, model, pooling, normalise, token_types), WholeTexts(tokens, store)
    np.save(folder / PASSAGES, vectors(encoder, texts, start, stop, max_length))


def split(whole: Step, inputs: dict[str, Any]) -> list[Step]:
    """The shards of `passage_embeddings`: what it has in memory at once, so that its batches are theirs."""
    total = len(WholeTexts(inputs["tokens"], inputs["store"]))
    return [embeddings_shard(**whole.arguments, start=start, stop=min(start + SHARD, total)) for start in range(0, total, SHARD)]


def join(shards: list[Path], *, folder: Path) -> None:
    """The shards' vectors as one array."""
    arrays = [np.load(shard / PASSAGES, mmap_mode="r") for shard in shards]
    write(arrays, (sum(map(len, arrays)), arrays[0].shape[1]), folder)


def write(parts: Iterable[np.ndarray], shape: tuple[int, int], folder: Path) -> None:
    """Write arrays, one after the other, as the one of that shape: none of it is held in memory."""
    whole, start = np.lib.format.open_memmap(folder / PASSAGES, mode="w+", dtype=np.float32, shape=shape), 0
    for part in parts:
        whole[start:start + len(part)] = part
        start += len(part)
    whole.flush()


@step(version=1, form="folder", network=True, shards=Shards(split, join))
def passage_embeddings(store: Path, tokens: Path, backbone: Backbone, pooling: str, normalise: bool, token_types: bool,
                       max_length: int, model: Path | None = None, *, folder: Path) -> None:
    """Encode every passage: `passages.npy`, float32 (passages, dimensions), in the text store's order.

    The tokens are to be those of whole texts (`windows.WHOLE`); ValueError if a text has more than one window.
    """
    encoder, texts = Encoder(backbone, model, pooling, normalise, token_types), WholeTexts(tokens, store)
    parts = (vectors(encoder, texts, start, min(start + SHARD, len(texts)), max_length) for start in range(0, len(texts), SHARD))
    write(parts, (len(texts), encoder.dimensions), folder)


def vectors(encoder: Encoder, texts: "WholeTexts", start: int, stop: int, max_length: int) -> np.ndarray:
    """The vectors of the passages from position `start` to before `stop`."""
    rows = [wrapped(encoder.tokenizer, texts.at(n), max_length) for n in range(start, stop)]
    return encoder.vectors(rows, PASSAGE, progress="passages encoded")


@step(version=1, form="folder", network=True)
def query_embeddings(queries: pd.DataFrame, backbone: Backbone, pooling: str, normalise: bool, token_types: bool,
                     query_length: int, model: Path | None = None, *, folder: Path) -> None:
    """Encode queries: `queries.npy`, float32 (queries, dimensions), in the frame's order."""
    encoder = Encoder(backbone, model, pooling, normalise, token_types)
    ids = query_ids(encoder.tokenizer, list(queries["text"]), query_length)
    np.save(folder / QUERIES, encoder.vectors([wrapped(encoder.tokenizer, row, query_length) for row in ids], QUERY))


@step(version=1, form="json")
def token_lengths(store: Path, tokens: Path) -> dict[str, int]:
    """How many passages have each length in tokens, special ones included; lengths as texts, ascending."""
    lengths, how_many = np.unique(WholeTexts(tokens, store).lengths() + 2, return_counts=True)
    return {str(length): int(number) for length, number in zip(lengths, how_many, strict=True)}


class WholeTexts(WindowTokens):
    """Tokens of texts that are one window each, by their position in the text store."""

    def __init__(self, folder: Path, store: Path):
        super().__init__(folder, store)
        if len(self._starts) != len(self._documents):
            raise ValueError("texts of more than one window: read them whole (words = windows.WHOLE, overlap = 0)")

    def __len__(self) -> int:
        return len(self._starts) - 1

    def lengths(self) -> np.ndarray:
        """Tokens of every text, without special ones."""
        return np.diff(self._starts)

    def at(self, position: int) -> np.ndarray:
        """The token ids of the text at a 0-based position."""
        return self._ids[self._starts[position]:self._starts[position + 1]]
