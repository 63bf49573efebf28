"""Tokens of windows, computed once: word-piece ids as integers in one flat file, for training and for scoring."""

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from helpers.data.texts import Texts
from helpers.data.windows import windows
from helpers.steps import step

BATCH = 2_000


@step(version=1, form="folder")
def window_tokens(store: Path, backbone: Any, words: int, overlap: int, *, folder: Path) -> None:
    """Tokenise every window of every text, without special tokens and without truncation.

    Writes `ids.bin` (all ids, one after the other), `window_starts.npy` (where each window begins in it) and
    `document_starts.npy` (the first window of each document, in the store's order), both with one closing entry. The backbone
    brings its tokenizer.
    """
    tokenizer = backbone.tokenizer()
    dtype = np.uint16 if len(tokenizer) < 2**16 else np.int32
    stream = ((w.text, first == 0) for text in Texts(store)
              for first, w in enumerate(windows(text, words, overlap)))
    total = number = 0
    with (open(folder / "ids.bin", "wb") as out, growing(folder / "window_starts.npy") as starts,
          growing(folder / "document_starts.npy") as documents):
        while batch := list(islice(stream, BATCH)):
            encoded = tokenizer([text for text, _ in batch], add_special_tokens=False, verbose=False)["input_ids"]
            for ids, (_, begins_document) in zip(encoded, batch, strict=True):
                if begins_document:
                    documents(number)
                starts(total)
                number, total = number + 1, total + len(ids)
                out.write(np.asarray(ids, dtype=dtype).tobytes())
        starts(total)
        documents(number)
    (folder / "dtype.txt").write_text(np.dtype(dtype).name)


@contextlib.contextmanager
def growing(file: Path) -> Iterator[Callable[[int], Any]]:
    """A function that appends a whole number to what becomes an array file at the end: none of them is held in memory."""
    draft = file.with_suffix(".part")
    with draft.open("wb") as out:
        yield lambda value: out.write(value.to_bytes(8, sys.byteorder, signed=True))
    np.save(file, np.memmap(draft, dtype=np.int64, mode="r"))
    draft.unlink()


class WindowTokens:
    """Reader of `window_tokens`: windows are named by their ids, looked up through the text store's positions."""

    def __init__(self, folder: Path, store: Path):
        file, dtype = folder / "ids.bin", (folder / "dtype.txt").read_text()
        # a search that finds nothing has no texts, and an empty file cannot be mapped
        self._ids = np.memmap(file, dtype=dtype, mode="r") if file.stat().st_size else np.zeros(0, dtype)
        self._starts = np.load(folder / "window_starts.npy", mmap_mode="r")
        self._documents = np.load(folder / "document_starts.npy", mmap_mode="r")
        self._texts = Texts(store)

    def windows_of(self, doc_id: str) -> Iterator[str]:
        """The window ids of a document."""
        position = self._texts.position(doc_id)
        count = int(self._documents[position + 1] - self._documents[position])
        return (f"{doc_id}#{number}" for number in range(count))

    def __getitem__(self, window_id: str) -> np.ndarray:
        doc_id, number = window_id.rsplit("#", 1)
        window = int(self._documents[self._texts.position(doc_id)]) + int(number)
        return self._ids[self._starts[window]:self._starts[window + 1]]


def pair_ids(tokenizer, query: list[int], window: np.ndarray, max_length: int) -> tuple[list[int], list[int]]:  # noqa: ANN001
    """The input of a cross-encoder: [CLS] query [SEP] window [SEP], the window cut so that it fits.

    Returns:
        input_ids and token_type_ids (0 for the query's part, 1 for the window's).
    """
    room = max_length - len(query) - 3
    left = [tokenizer.cls_token_id, *query, tokenizer.sep_token_id]
    right = [*window[:room].tolist(), tokenizer.sep_token_id]
    return left + right, [0] * len(left) + [1] * len(right)


def duo_ids(tokenizer, query: list[int], windows: Sequence[Sequence[int] | np.ndarray], max_length: int,  # noqa: ANN001
            kinds: tuple[int, int, int] = (0, 1, 1)) -> tuple[list[int], list[int]]:
    """The input of a pairwise cross-encoder: [CLS] query [SEP] one window [SEP] another [SEP], both cut at the same length.

    Returns:
        input_ids and token_type_ids, of `kinds` for the query's part and each window's. Nogueira et al. (2019) give the second
        window a type of its own, which a BERT has not been trained with: by default both have the one that it knows.
    """
    room, end = (max_length - len(query) - 4) // 2, [tokenizer.sep_token_id]
    parts = [[tokenizer.cls_token_id, *query, *end], *([*window[:room], *end] for window in windows)]
    return [int(token) for part in parts for token in part], [kind for part, kind in zip(parts, kinds, strict=True) for _ in part]


def query_ids(tokenizer, texts: list[str], limit: int) -> list[list[int]]:  # noqa: ANN001
    """Word pieces of queries, cut at `limit` (47 in Steensland 4.1.1), without special tokens."""
    return [ids[:limit] for ids in tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]]
