"""Encoding: this book's bi-encoder beside SentenceTransformer.encode, on the same texts with the same model."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bench.sentence_transformers import Comparison
from bench.work import Scale, Work, token_ids
from helpers.costs.timing import SENTENCE_TRANSFORMER, SENTENCE_TRANSFORMER_BEST
from helpers.networks.encoder import PASSAGE, QUERY, Encoder, wrapped
from helpers.steps import numerics

LENGTH = 256  # tokens of a text, special ones included: the packaged model's own


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """Time the contenders on all candidates of some queries, and make sure that their vectors rank alike."""
    return comparison(Work(replace(scale, queries=scale.encoded))).measure(rounds)


def comparison(work: Work) -> Comparison:
    """The contenders give the vectors of the candidates' windows, each window once, of length 1, a row a window."""
    from sentence_transformers import SentenceTransformer
    from transformers import AutoConfig

    source, encoder = work.encoder.whole(), Encoder(work.encoder.whole(), None, "mean", True, False)  # as it is
    names = list(dict.fromkeys(window for _, window in work.pairs))
    texts = [work.window_texts[name] for name in names]

    def stored() -> np.ndarray:
        return encoder.vectors([wrapped(encoder.tokenizer, work.reader[name], LENGTH) for name in names], PASSAGE)

    def cosines(vectors: np.ndarray) -> np.ndarray:
        """Of each pair's query and window, in the order of the pairs; all contenders share the queries' vectors."""
        asked = encoder.vectors(rows_of(work, list(work.queries["text"])), QUERY)
        of_query, of_window = dict(zip(work.queries["query_id"], asked, strict=True)), dict(zip(names, vectors, strict=True))
        return np.array([float(of_query[query] @ of_window[window]) for query, window in work.pairs])

    return Comparison(work, (SENTENCE_TRANSFORMER, SENTENCE_TRANSFORMER_BEST), source.source,
                      make=partial(SentenceTransformer, source.source, device=numerics.device()),
                      run=SentenceTransformer.encode, inputs=texts,
                      ours=(stored, lambda: encoder.vectors(rows_of(work, texts), PASSAGE)), scores_of=cosines,
                      lengths=[len(row) for row in rows_of(work, texts)], config=AutoConfig.from_pretrained(work.encoder.source))


def rows_of(work: Work, texts: list[str]) -> list[list[int]]:
    """Texts as token ids with special tokens."""
    tokenizer = work.encoder.tokenizer()
    return [wrapped(tokenizer, ids, LENGTH) for ids in token_ids(tokenizer, texts)]
