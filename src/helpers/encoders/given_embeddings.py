"""Embeddings by a bi-encoder that somebody else trained, as `passage_embeddings` and `query_embeddings` are by the book's own:
each text with the prompt that the model has for its side, of length one where the model compares by cosines."""

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.collection_base import Text
from helpers.data.texts import Texts, write_store
from helpers.data.windows import windows
from helpers.encoders.embeddings import QUERIES, SHARD, write
from helpers.networks.given_encoder import WholeModel, bi_encoder
from helpers.steps import step


@step(version=1, form="folder")
def window_store(store: Path, words: int, overlap: int, *, folder: Path) -> None:
    """The windows of all texts as texts of their own, in the same order; a window's id is its text's with a number."""
    cut = (window for text in Texts(store) for window in windows(text, words, overlap))
    write_store(folder, (Text(window.window_id, "", window.text) for window in cut))


@step(version=1, form="folder", network=True)
def given_passage_embeddings(model: WholeModel, store: Path, *, folder: Path) -> None:
    """Encode every text: `passages.npy`, float32 (texts, dimensions), in the text store's order."""
    encoder, texts = bi_encoder(model), Texts(store)
    bodies = (text.body for text in texts)
    parts = (_vectors(encoder, encoder.encode_document, some) for some in iter(lambda: list(islice(bodies, SHARD)), []))
    write(parts, (len(texts), encoder.get_embedding_dimension()), folder)


@step(version=1, form="folder", network=True)
def given_query_embeddings(model: WholeModel, queries: pd.DataFrame, *, folder: Path) -> None:
    """Encode queries: `queries.npy`, float32 (queries, dimensions), in the frame's order."""
    encoder = bi_encoder(model)
    np.save(folder / QUERIES, _vectors(encoder, encoder.encode_query, list(queries["text"])))


def _vectors(encoder: Any, encode: Any, texts: list[str]) -> np.ndarray:
    cosine = encoder.similarity_fn_name == "cosine"
    return np.asarray(encode(texts, show_progress_bar=False, normalize_embeddings=cosine), np.float32)
