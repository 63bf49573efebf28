"""Queries per minute of a whole ranking, retrieval and BM25 included (Steensland 2021, section 5.3.1).

Speed does not depend on the weights, so models of a shape are timed with random ones.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.costs.timing import always, interleave
from helpers.data.tokens import WindowTokens, pair_ids, query_ids
from helpers.networks.backbone import Backbone, attention, configuration
from helpers.networks.scoring import probabilities, ready
from helpers.retrieval import java
from helpers.retrieval.bm25 import search
from helpers.steps import numerics, step

RETRIEVAL = "retrieval"


@step(version=1, form="json", timing=True)
def ranking_speed(sizes: list[str], backbone: Backbone, index: Path, queries: pd.DataFrame, store: Path, tokens: Path,
                  k1: float, b: float, candidates: int, max_length: int, query_length: int, timed: int, rounds: int,
                  device: str) -> dict[str, Any]:
    """Time retrieval and re-ranking by cross-encoders of several sizes.

    Args:
        sizes: shapes as `layers/dimensions/heads`, such as `12/768/12`.
        backbone: whose tokenizer made the window tokens; its vocabulary is every model's.

    Returns:
        `retrieval`, seconds of each round for all timed queries; `queries`, `windows` and `device`; and for each size in
        `sizes` its `parameters` and `seconds`, those of re-ranking alone, round by round.
    """
    first = queries.head(timed)
    reader, tokenizer = WindowTokens(tokens, store), backbone.tokenizer()

    def retrieve() -> pd.DataFrame:
        return java.call(search, index, first, k1, b, candidates)

    run = retrieve()

    def rerank(model: Any) -> int:
        texts = dict(zip(first["query_id"], query_ids(tokenizer, list(first["text"]), query_length), strict=True))
        inputs = [pair_ids(tokenizer, texts[query], reader[window], max_length)
                  for query, doc_id in run[["query_id", "doc_id"]].itertuples(index=False)
                  for window in reader.windows_of(doc_id)]
        probabilities(model, inputs)
        return len(inputs)

    with numerics.using(device):
        models = {size: random_cross_encoder(size, backbone) for size in sizes}
        reranking = {size: always(partial(rerank, model)) for size, model in models.items()}
        times = interleave({RETRIEVAL: always(retrieve), **reranking}, rounds)
    return {"queries": len(first), "windows": times.given[sizes[0]], "device": device, "retrieval": times.seconds[RETRIEVAL],
            "sizes": {size: {"parameters": model.num_parameters(), "seconds": times.seconds[size]}
                      for size, model in models.items()}}


def random_cross_encoder(size: str, backbone: Backbone) -> Any:
    """A cross-encoder of a shape, `layers/dimensions/heads`, with random weights and the backbone's vocabulary."""
    from transformers import AutoModelForSequenceClassification

    parts = size.split("/")
    if len(parts) != 3 or not all(part.isdigit() for part in parts):
        raise ValueError(f"size {size!r}: write layers/dimensions/heads, such as 4/512/8")
    layers, dimensions, heads = map(int, parts)
    config = configuration(backbone)
    config.update({"num_hidden_layers": layers, "hidden_size": dimensions, "num_attention_heads": heads,
                   "intermediate_size": 4 * dimensions, "num_labels": 1})
    return ready(AutoModelForSequenceClassification.from_config(config, attn_implementation=attention()))


def per_minute(speed: dict[str, Any], size: str) -> np.ndarray:
    """Queries per minute of each round, retrieval included."""
    return 60 * speed["queries"] / (np.array(speed["retrieval"]) + np.array(speed["sizes"][size]["seconds"]))
