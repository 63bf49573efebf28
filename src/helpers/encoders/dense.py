"""Dense scoring with an encoder as it is: mean-pooled, normalised embeddings of windows and queries.

The packaged backbone was trained as a bi-encoder, so its inner products rank without any fine-tuning: the honest second
baseline of every chapter that fine-tunes it.
"""

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.runs import COLUMNS, cut
from helpers.data.tokens import WindowTokens, query_ids
from helpers.networks.backbone import Backbone, attention
from helpers.networks.inference import AT_ONCE, padded, run_batches
from helpers.networks.pooling import normalised, pool
from helpers.steps import numerics, step


@step(version=1, form="run", network=True)
def dense_window_scores(backbone: Backbone, run: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path,
                        candidates: int, max_length: int) -> pd.DataFrame:
    """Score the windows of each query's top documents by the cosine of their embeddings with the query's.

    Args:
        backbone: the encoder, not fine-tuned.
        run: the first stage.
        queries: columns query_id, text.
        store: the text store of the documents.
        tokens: the window tokens of the documents.
        candidates: documents re-ranked for each query.
        max_length: tokens of a window or a query, special tokens included.

    Returns:
        A run of windows.
    """
    from transformers import AutoModel

    tokenizer, reader = backbone.tokenizer(), WindowTokens(tokens, store)
    model = backbone.build(AutoModel, attn_implementation=attention())
    wrap = lambda ids: [tokenizer.cls_token_id, *ids[:max_length - 2], tokenizer.sep_token_id]
    query_vectors = embed(model, [wrap(ids) for ids in query_ids(tokenizer, list(queries["text"]), max_length)])
    row = {query: n for n, query in enumerate(queries["query_id"])}
    stream = ((query, window) for query, doc_id in cut(run, candidates)[["query_id", "doc_id"]].itertuples(index=False)
              for window in reader.windows_of(doc_id))
    rows: list[tuple[str, str, float]] = []
    while pairs := list(islice(stream, AT_ONCE)):
        place = {window: n for n, window in enumerate(dict.fromkeys(window for _, window in pairs))}
        window_vectors = embed(model, [wrap(reader[window].tolist()) for window in place], progress="windows encoded")
        rows += [(query, window, float(query_vectors[row[query]] @ window_vectors[place[window]])) for query, window in pairs]
    return pd.DataFrame(rows, columns=COLUMNS)


def embed(model: Any, inputs: list[list[int]], progress: str = "") -> np.ndarray:
    """Mean-pooled, L2-normalised embeddings, float32, a row an input (ids with special tokens)."""
    import torch

    model.eval().to(numerics.device(), torch.bfloat16 if numerics.dtype() == "bf16" else torch.float32)
    vectors = np.zeros((len(inputs), model.config.hidden_size), dtype=np.float32)

    def encode(batch: np.ndarray) -> None:
        ids, mask = padded([inputs[n] for n in batch])
        hidden = model(input_ids=ids, attention_mask=mask.long()).last_hidden_state.float()
        vectors[batch] = normalised(pool(hidden, mask, "mean")).cpu().numpy()

    run_batches(encode, np.array([len(ids) for ids in inputs]), progress)
    return vectors
