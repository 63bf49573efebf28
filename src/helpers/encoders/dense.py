"""Dense scoring with an encoder as it is: mean-pooled, normalised embeddings of windows and queries.

The packaged backbone was trained as a bi-encoder, so its inner products rank without any fine-tuning: the honest second
baseline of every chapter that fine-tunes it.
"""

from itertools import islice
from pathlib import Path

import pandas as pd

from helpers.data.runs import COLUMNS, cut
from helpers.data.tokens import WindowTokens, query_ids
from helpers.networks.backbone import Backbone
from helpers.networks.encoder import PASSAGE, QUERY, Encoder, wrapped
from helpers.networks.inference import AT_ONCE
from helpers.steps import step


@step(version=1, form="run", network=True)
def dense_window_scores(backbone: Backbone, run: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path,
                        candidates: int, max_length: int) -> pd.DataFrame:
    """Score the windows of each query's top documents by the cosine of their embeddings with the query's: a run of windows.

    The backbone is not fine-tuned; `max_length` holds for windows and for queries.
    """
    encoder, reader = Encoder(backbone, None, "mean", normalise=True, token_types=False), WindowTokens(tokens, store)
    wrap = lambda ids: wrapped(encoder.tokenizer, ids, max_length)
    vectors = encoder.vectors([wrap(ids) for ids in query_ids(encoder.tokenizer, list(queries["text"]), max_length)], QUERY)
    of_query = dict(zip(queries["query_id"], vectors, strict=True))
    stream = ((query, window) for query, doc_id in cut(run, candidates)[["query_id", "doc_id"]].itertuples(index=False)
              for window in reader.windows_of(doc_id))
    rows: list[tuple[str, str, float]] = []
    while pairs := list(islice(stream, AT_ONCE)):
        windows = list(dict.fromkeys(window for _, window in pairs))
        vectors = encoder.vectors([wrap(reader[window]) for window in windows], PASSAGE, progress="windows encoded")
        of_window = dict(zip(windows, vectors, strict=True))
        rows += [(query, window, float(of_query[query] @ of_window[window])) for query, window in pairs]
    return pd.DataFrame(rows, columns=COLUMNS)
