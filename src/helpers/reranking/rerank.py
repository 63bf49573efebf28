"""A cross-encoder's score of every window of the first documents, the probability of relevance or its logit."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.data.runs import COLUMNS, cut
from helpers.data.windows import WindowTokens, pair_ids, query_ids
from helpers.networks.backbone import Backbone
from helpers.networks.inference import load_scorer, logits, probabilities
from helpers.steps import step


@step(version=1, form="run", network=True)
def window_scores(model: Path, run: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path, candidates: int,
                  max_length: int, query_length: int) -> pd.DataFrame:
    """Score the windows of each query's top documents: a run of windows, the probability of relevance as score.

    Args:
        model: a fine-tuned cross-encoder, with whose tokenizer the window tokens were made.
        run: the first stage.
        candidates: documents re-ranked for each query (R in the thesis).
        max_length: tokens of a whole input.
        query_length: tokens kept of a query.
    """
    return scored(probabilities, model, run, queries, store, tokens, candidates, max_length, query_length)


@step(version=1, form="run", network=True)
def window_logits(model: Path, run: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path, candidates: int,
                  max_length: int, query_length: int) -> pd.DataFrame:
    """Score windows by a model's logits: a listwise loss leaves its level free, and the probabilities of a high one would tie."""
    return scored(logits, model, run, queries, store, tokens, candidates, max_length, query_length)


def scored(score: Callable[..., np.ndarray], model: Path, run: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path,
           candidates: int, max_length: int, query_length: int) -> pd.DataFrame:
    """Windows with what a function of the scorer and their inputs gives."""
    tokenizer, reader = Backbone("", str(model)).word_pieces(), WindowTokens(tokens, store)
    texts = dict(zip(queries["query_id"], query_ids(tokenizer, list(queries["text"]), query_length), strict=True))
    pairs = [(query, window) for query, doc_id in cut(run, candidates)[["query_id", "doc_id"]].itertuples(index=False)
             for window in reader.windows_of(doc_id)]
    inputs = (pair_ids(tokenizer, texts[query], max_length, reader[window]) for query, window in pairs)
    values = score(load_scorer(model), inputs, progress="windows scored")
    return pd.DataFrame(pairs, columns=COLUMNS[:2]).assign(score=values.astype(float))
