"""What ordering a list by MaxSim takes: one query after the other, with the vectors of all the list's words in memory."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.costs.latency import milliseconds
from helpers.costs.timing import in_turns
from helpers.data.runs import cut
from helpers.data.texts import Texts
from helpers.data.tokens import query_ids
from helpers.encoders.embeddings import WholeTexts
from helpers.encoders.late_interaction import WORDS, max_sim
from helpers.networks.backbone import Backbone
from helpers.networks.encoder import PASSAGE, QUERY, Encoder, wrapped
from helpers.steps import step


@step(version=1, form="json", timing=True)
def max_sim_latency(backbone: Backbone, run: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path, candidates: int,
                    max_length: int, query_length: int, timed: int, rounds: int) -> dict[str, Any]:
    """Time `late_interaction.max_sim_run` as a search would use it: the texts were encoded before, the query is not.

    Returns:
        `queries`, how many were timed, and milliseconds a query of each round, `encode` and `order`.
    """
    encoder, texts = Encoder(backbone, None, "mean", normalise=True, token_types=False), WholeTexts(tokens, store)
    asked = dict(zip(queries["query_id"], queries["text"], strict=True))
    lists = cut(run, candidates).groupby("query_id", sort=False)["doc_id"].agg(list).head(timed)
    places = {text.doc_id: n for n, text in enumerate(Texts(store))}
    names = sorted({name for names in lists for name in names})
    states = dict(zip(names, encoder.token_vectors([wrapped(encoder.tokenizer, texts.at(places[name]), max_length)
                                                    for name in names], PASSAGE), strict=True))

    def encode(query: str) -> np.ndarray:
        ids = query_ids(encoder.tokenizer, [asked[query]], query_length)[0]
        return encoder.token_vectors([wrapped(encoder.tokenizer, ids, query_length)], QUERY)[0]

    vectors = {query: encode(query) for query in lists.index}

    def order(query: str) -> list[str]:
        return sorted(lists[query], key=lambda name: -max_sim(vectors[query][WORDS], states[name][WORDS]))

    parts = {name: partial(milliseconds, work, list(lists.index)) for name, work in (("encode", encode), ("order", order))}
    return {"queries": len(lists), **in_turns(parts, rounds)}
