"""Training examples of a bi-encoder, and batches of them in which every passage meets every query."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, TypedDict

import pandas as pd

from helpers.data.tokens import WindowTokens, query_ids
from helpers.data.windows import doc_of
from helpers.networks.encoder import PASSAGE, QUERY, inputs, wrapped
from helpers.networks.fine_tuning import PairDataset


class Example(TypedDict):
    """A query with its relevant passage and its negatives."""

    query: list[int]  # token ids
    input_ids: list[int]  # of the relevant passage; the Trainer groups examples of similar length by it
    negatives: list[list[int]]
    passages: list[str]  # the ids of the relevant passage and of the negatives
    relevant: frozenset[str]  # every passage that is judged relevant to the query


def examples(pairs: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int, queries: pd.DataFrame, tokens: WindowTokens,
             tokenizer: Any, max_length: int, query_length: int) -> dict[str, Example]:
    """An example for each query with both a relevant passage and a negative among its pairs (query_id, window_id, label)."""
    judged = qrels[qrels["relevance"] >= min_relevance].groupby("query_id")["doc_id"].agg(frozenset)
    texts = queries.set_index("query_id")["text"]
    distinct = list(dict.fromkeys(pairs["query_id"]))
    ids = dict(zip(distinct, query_ids(tokenizer, [texts[query] for query in distinct], query_length), strict=True))
    by_query: dict[str, Example] = {}
    for query, group in pairs.groupby("query_id", sort=False):
        positives, negatives = (list(group.loc[group["label"] == label, "window_id"]) for label in (1, 0))
        if not positives or not negatives:
            continue
        read = [wrapped(tokenizer, tokens[window].tolist(), max_length) for window in (positives[0], *negatives)]
        by_query[str(query)] = Example(query=wrapped(tokenizer, ids[query], query_length), input_ids=read[0], negatives=read[1:],
                                       passages=[doc_of(window) for window in (positives[0], *negatives)], relevant=judged[query])
    return by_query


def split(by_query: dict[str, Example], evaluation_queries: int, seed: int, negatives: int) -> tuple[PairDataset, PairDataset]:
    """The examples of training queries, each with so many negatives, and of held-out ones, drawn with the seed: at most a tenth.

    The held-out ones keep all negatives, which the accuracy needs.
    """
    number = min(evaluation_queries, max(1, len(by_query) // 10))
    held_out = set(pd.Series(list(by_query), dtype=object).sample(n=number, random_state=seed))
    train = [{**example, "negatives": example["negatives"][:negatives]} for query, example in by_query.items()
             if query not in held_out]
    return PairDataset(train), PairDataset([dict(example) for query, example in by_query.items() if query in held_out])


def batch(examples: Sequence[Example], pad: int, token_types: bool) -> dict[str, Any]:
    """Padded queries and passages, which may have a token type of their own, and what is known of each pair.

    They are the inputs of `bi_encoder_model.BiEncoderModel.forward`.
    """
    import torch

    rows = [[example["input_ids"], *example["negatives"]] for example in examples]
    sizes = torch.tensor([len(own) for own in rows])
    ids = [passage for example, own in zip(examples, rows, strict=True) for passage in example["passages"][:len(own)]]
    relevant = torch.tensor([[passage in example["relevant"] for passage in ids] for example in examples])
    own = torch.arange(len(examples)).repeat_interleave(sizes) == torch.arange(len(examples))[:, None]
    return {"queries": inputs([example["query"] for example in examples], pad, QUERY if token_types else None),
            "passages": inputs(list(chain.from_iterable(rows)), pad, PASSAGE if token_types else None),
            "positive": sizes.cumsum(0) - sizes, "relevant": relevant, "own": own & ~relevant}
