"""Encoding: this book's bi-encoder against SentenceTransformer.encode, on the same texts with the same model."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from helpers.costs.contenders import FROM_TEXTS, OURS, SENTENCE_TRANSFORMER, SENTENCE_TRANSFORMER_BEST
from helpers.costs.timing import Prepare, always
from helpers.networks.encoder import PASSAGE, QUERY, Encoder, wrapped
from helpers.steps import numerics
from press.bench.sentence_transformers import best_setting, compared, model_arguments
from press.bench.work import Scale, Work

LENGTH = 256  # tokens of a text, special ones included: the packaged model's own


def prepare(scale: Scale) -> None:
    """Compute the steps before it."""
    Work(scale).prepare()


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """Time the contenders on all candidates of some queries, and make sure that their vectors rank alike."""
    from transformers import AutoConfig

    work = Work(replace(scale, queries=scale.encoded))
    texts = [work.window_texts[name] for name in windows_of(work)]
    setting, tried = best_setting(lambda chosen: sentence_transformer(work, chosen),
                                  lambda model, sample, batch: model.encode(sample, batch_size=batch), texts)
    lengths, config = [len(row) for row in rows_of(work, texts)], AutoConfig.from_pretrained(work.encoder.source)
    return {**compared(work, contenders(work, setting), rounds, partial(cosines, work), lengths, config),
            "setting": setting, "tried": tried}


def windows_of(work: Work) -> list[str]:
    """The candidates' windows, each once."""
    return list(dict.fromkeys(window for _, window in work.pairs))


def contenders(work: Work, setting: dict[str, Any]) -> dict[str, Prepare]:
    """Each gives the vectors of the candidates' windows, of length 1, a row a window.

    Args:
        work: whose windows they are.
        setting: sentence-transformers' best, see `best_setting`.
    """
    names, encoder = windows_of(work), own_encoder(work)
    texts = [work.window_texts[name] for name in names]

    def rows() -> list[list[int]]:
        return [wrapped(encoder.tokenizer, work.reader[name], LENGTH) for name in names]

    plain, best = sentence_transformer(work, {}), sentence_transformer(work, setting)
    return {SENTENCE_TRANSFORMER: always(lambda: plain.encode(texts)),
            SENTENCE_TRANSFORMER_BEST: always(lambda: best.encode(texts, batch_size=setting["batch_size"])),
            OURS: always(lambda: encoder.vectors(rows(), PASSAGE)),
            FROM_TEXTS: always(lambda: encoder.vectors(rows_of(work, texts), PASSAGE))}


def own_encoder(work: Work) -> Encoder:
    """The book's encoder of the whole backbone as it is."""
    return Encoder(work.encoder.whole(), None, "mean", True, False)


def sentence_transformer(work: Work, setting: dict[str, Any]) -> Any:
    """The same by sentence-transformers; without a setting, as it makes it."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(work.encoder.whole().source, device=numerics.device(), **model_arguments(setting))


def rows_of(work: Work, texts: list[str]) -> list[list[int]]:
    """Texts as token ids with special tokens."""
    tokenizer = work.encoder.tokenizer()
    return [wrapped(tokenizer, ids, LENGTH) for ids in tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]]


def cosines(work: Work, vectors: np.ndarray) -> np.ndarray:
    """The cosine of each pair's query and window, in the order of the pairs; all contenders share the queries' vectors."""
    queries = own_encoder(work).vectors(rows_of(work, list(work.queries["text"])), QUERY)
    row_of = {query: n for n, query in enumerate(work.queries["query_id"])}
    place = {name: n for n, name in enumerate(windows_of(work))}
    return np.array([float(queries[row_of[query]] @ vectors[place[window]]) for query, window in work.pairs])
