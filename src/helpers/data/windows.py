"""Windows: overlapping word windows of a document, with its title in front (Steensland 2021, section 4.1.2).

Their tokens are computed once, as integers in one flat file, for training and for scoring. Judged passages tell which windows
hold an answer, and whether it stands early, as Alarfaj (2022, chapter 6) suspects.
"""

import contextlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from helpers.data.collection_base import Text
from helpers.data.runs import COLUMNS, cut, ranked
from helpers.data.texts import Texts
from helpers.errors import BadInput
from helpers.steps import step

WHOLE = 1_000_000  # words of a window that no document outgrows: the whole document is one window
TITLE_LIMIT = 50  # a longer title is left out: it would push the document into too many windows (Steensland 4.1.2)
BATCH = 2_000  # windows that are tokenised at a time


class Window(NamedTuple):
    """A window of a document; `window_id` is `<doc_id>#<number>`, numbers from 0."""

    window_id: str
    doc_id: str
    text: str


def windows(text: Text, words: int, overlap: int) -> Iterator[Window]:
    """Cut a text into windows of `words` words, title included, of which `overlap` are shared with the next one.

    A text that fits gives one window; the last window may be shorter, and no window lies wholly inside another. A text without
    words gives one empty window, so every document can be scored. ValueError unless 0 <= overlap < words, less the title's.
    """
    title = text.title.split()
    if len(title) >= min(TITLE_LIMIT, words):
        title = []
    size = words - len(title)
    if not 0 <= overlap < size:
        raise ValueError(f"overlap {overlap} must be at least 0 and below the {size} words that the title leaves")
    body, start, number = text.body.split(), 0, 0
    while True:
        piece = body[start:start + size]
        yield Window(f"{text.doc_id}#{number}", text.doc_id, " ".join(title + piece))
        if start + size >= len(body):
            return
        start, number = start + size - overlap, number + 1


def doc_of(window_id: str) -> str:
    """The document of a window id."""
    return window_id.rsplit("#", 1)[0]


@step(version=1, form="folder")
def window_tokens(store: Path, backbone: Any, words: int, overlap: int, *, folder: Path) -> None:
    """Tokenise every window of every text, without special tokens and without truncation.

    Writes `ids.bin` (all ids, one after the other), `window_starts.npy` (where each window begins in it) and
    `document_starts.npy` (the first window of each document, in the store's order), both with one closing entry. The backbone
    brings its tokenizer.
    """
    tokenizer = backbone.word_pieces()
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


def pair_ids(tokenizer: Any, query: list[int], max_length: int, *windows: np.ndarray) -> tuple[list[int], list[int]]:
    """The input of a cross-encoder, [CLS] query [SEP] window [SEP], or of a pairwise one, which another window and [SEP] follow:
    the windows cut at one length, so that it fits.

    Ids and token types, 0 for the query's part, 1 for the windows'. Nogueira et al. (2019) give the second window a type of its
    own, which a BERT has not been trained with.
    """
    room, end = (max_length - len(query) - 2 - len(windows)) // len(windows), tokenizer.sep_token_id
    left, right = [tokenizer.cls_token_id, *query, end], [token for window in windows for token in (*window[:room].tolist(), end)]
    return left + right, [0] * len(left) + [1] * len(right)


def query_ids(tokenizer, texts: list[str], limit: int) -> list[list[int]]:  # noqa: ANN001
    """Word pieces of queries, cut at `limit` (47 in Steensland 4.1.1), without special tokens."""
    return [ids[:limit] for ids in tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]]


@step(version=1, form="json")
def text_statistics(store: Path, words: int, overlap: int) -> dict[str, Any]:
    """Count texts, words and windows: `texts`, `words` (in all), `windows`, `empty` (texts without a body), and `lengths`: how
    many texts have each length in words, titles included."""
    lengths: Counter[int] = Counter()
    pieces, empty = 0, 0
    for text in Texts(store):
        lengths[len(f"{text.title} {text.body}".split())] += 1
        empty += not text.body.strip()
        pieces += sum(1 for _ in windows(text, words, overlap))
    return {"texts": lengths.total(), "words": sum(n * count for n, count in lengths.items()), "windows": pieces, "empty": empty,
            "lengths": {str(n): lengths[n] for n in sorted(lengths)}}


@step(version=1, form="run")
def sections_of(run: pd.DataFrame, passages: Path, first: int) -> pd.DataFrame:
    """The passages, by ids `<doc_id>.<number>`, of each query's first documents, as a run; BadInput where a document has none."""
    names = [passage.doc_id for passage in Texts(passages)]
    parts = pd.DataFrame({"doc_id": [name.rpartition(".")[0] for name in names], "passage": names})
    found = cut(run, first)[["query_id", "doc_id"]].merge(parts, on="doc_id", how="left")
    if lacking := set(found.loc[found["passage"].isna(), "doc_id"]):
        raise BadInput(f"no passage is named after document {min(lacking)!r}", mend="leave out the cut `sections`")
    return ranked(found.assign(doc_id=found["passage"], score=-found.groupby("query_id").cumcount().astype(float))[COLUMNS])


SHARE = 0.5  # a window holds a passage if it has at least this share of its words


@step(version=1, form="table")
def answer_windows(documents: Path, passages: Path, document_qrels: pd.DataFrame, passage_qrels: pd.DataFrame, min_relevance: int,
                   words: int, overlap: int) -> pd.DataFrame:
    """The windows of relevant documents that hold a relevant passage.

    Args:
        passages: the text store of the passages, which are parts of the documents' bodies.
        document_qrels: judgments of documents.
        passage_qrels: judgments of passages, of the same queries.

    Returns:
        Columns query_id, window_id; a passage that stands in no relevant document of its query gives no row.
    """
    rows = [(query, window)
            for query, document, start, length in found(documents, passages, document_qrels, passage_qrels, min_relevance)
            for window in holding(document, start, length, words, overlap)]
    return pd.DataFrame(rows, columns=["query_id", "window_id"]).drop_duplicates(ignore_index=True)


@step(version=1, form="table")
def answer_positions(documents: Path, passages: Path, document_qrels: pd.DataFrame, passage_qrels: pd.DataFrame,
                     min_relevance: int) -> pd.DataFrame:
    """The place of the first relevant passage in each relevant document; arguments as of `answer_windows`.

    Returns:
        Columns query_id, doc_id, begins (words of title and body before it), length (its words), words (the document's, title
        included). A passage that stands in no relevant document of its query gives no row.
    """
    rows = [(query, text.doc_id, len(text.title.split()) + start, length, len(f"{text.title} {text.body}".split()))
            for query, text, start, length in found(documents, passages, document_qrels, passage_qrels, min_relevance)]
    places = pd.DataFrame(rows, columns=["query_id", "doc_id", "begins", "length", "words"])
    return places.sort_values("begins", kind="stable").drop_duplicates(["query_id", "doc_id"]).sort_index(ignore_index=True)


def found(documents: Path, passages: Path, document_qrels: pd.DataFrame, passage_qrels: pd.DataFrame,
          min_relevance: int) -> Iterator[tuple[str, Text, int, int]]:
    """Every query with each of its relevant documents in which a relevant passage of it stands: the word of the body where that
    begins, and its length in words."""
    texts, parts = Texts(documents), Texts(passages)
    relevant, holders = (qrels.loc[qrels["relevance"] >= min_relevance, ["query_id", "doc_id"]]
                         for qrels in (passage_qrels, document_qrels))
    pairs = relevant.merge(holders, on="query_id", suffixes=("_passage", "_document"))
    for query, passage, document in pairs.itertuples(index=False):
        text, piece = texts[document], parts[passage].body.split()
        body, length = text.body.split(), len(piece)
        starts = range(len(body) - length + 1) if piece else ()
        if (start := next((start for start in starts if body[start:start + length] == piece), None)) is not None:
            yield query, text, start, length


def holding(document: Text, begin: int, length: int, words: int, overlap: int) -> list[str]:
    """The ids of the document's windows that hold at least half of `length` words of its body from `begin` on."""
    title = document.title.split()
    window_ids, start = [], 0
    for window in windows(document, words, overlap):
        shown = window.text.split()
        size = len(shown) - (len(title) if shown[:len(title)] == title else 0)  # a long title is left out of all windows
        shared = min(start + size, begin + length) - max(start, begin)
        if shared >= SHARE * length:
            window_ids.append(window.window_id)
        start += size - overlap
    return window_ids
