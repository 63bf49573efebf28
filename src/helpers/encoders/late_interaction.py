"""Late interaction: a text keeps the vectors of all its words, and each word of a query looks for its best match among them
(ColBERT, Khattab & Zaharia 2020)."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.runs import COLUMNS, cut, ranked
from helpers.data.texts import Texts
from helpers.data.tokens import query_ids
from helpers.encoders.embeddings import WholeTexts
from helpers.networks.backbone import Backbone
from helpers.networks.encoder import PASSAGE, QUERY, Encoder, wrapped
from helpers.steps import step

AT_ONCE = 1000  # texts whose vectors are in memory: of 128 tokens and 384 dimensions, 0.2 GB
SPECIAL_TOKENS = 2  # [CLS] and [SEP], which stand for no word, take no part: better so on dev queries
WORDS = slice(1, -1)


@step(version=1, form="run", network=True)
def max_sim_run(backbone: Backbone, run: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path, candidates: int,
                max_length: int, query_length: int, model: Path | None = None) -> pd.DataFrame:
    """The top `candidates` texts of each query, ordered anew by MaxSim over the encoder's states.

    The tokens are to be those of whole texts; texts are cut at `max_length` tokens and queries at `query_length`, special tokens
    included.
    """
    encoder, texts = Encoder(backbone, model, "mean", normalise=True, token_types=False), WholeTexts(tokens, store)
    asked = query_ids(encoder.tokenizer, list(queries["text"]), query_length)
    of_query = dict(zip(queries["query_id"], encoder.token_vectors(
        [wrapped(encoder.tokenizer, ids, query_length) for ids in asked], QUERY), strict=True))
    askers = cut(run, candidates).groupby("doc_id")["query_id"].agg(list)
    known = ((n, text.doc_id) for n, text in enumerate(Texts(store)) if text.doc_id in askers.index)
    places, names = zip(*known, strict=True)
    rows: list[tuple[str, str, float]] = []
    for start in range(0, len(places), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        vectors = encoder.token_vectors([wrapped(encoder.tokenizer, texts.at(n), max_length) for n in places[part]], PASSAGE,
                                        progress="texts of the lists encoded")
        rows += [(query, name, max_sim(of_query[query][WORDS], text[WORDS]))
                 for name, text in zip(names[part], vectors, strict=True) for query in askers[name]]
    return ranked(pd.DataFrame(rows, columns=COLUMNS))


def max_sim(query: np.ndarray, text: np.ndarray) -> float:
    """The sum over a query's words of each one's largest inner product with a word of the text (equation 3).

    Args:
        query: (words, dimensions), 0 words give 0.
        text: (words, dimensions), at least one.
    """
    return float((query @ text.T).max(axis=1).sum())


def max_sims(queries: Any, passages: Any) -> Any:
    """The same for every pair of a query and a passage of a batch, (queries, passages); gradients pass through it.

    Args:
        queries: vectors of length one, (queries, tokens, dimensions), and which of the tokens are words, as `words` has them.
        passages: likewise, each with at least one word.
    """
    (asked, of_query), (read, of_passage) = queries, passages
    products = asked[:, None] @ read.transpose(1, 2)[None]  # (queries, passages, words of a query, words of a passage)
    best = products.masked_fill(~of_passage[None, :, None], float("-inf")).amax(-1)
    return (best * of_query[:, None]).sum(-1)


def words(mask: Any) -> Any:
    """Which tokens of padded texts, (texts, tokens), are neither padding nor the special ones at a text's ends."""
    kept = mask.bool().clone()
    ends = kept.sum(1, keepdim=True) - 1
    kept[:, 0] = False
    return kept.scatter(1, ends, False)
