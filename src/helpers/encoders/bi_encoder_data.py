"""What a bi-encoder is trained with: its settings, its examples, and batches of them in which every passage meets every query."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from helpers.data.runs import COLUMNS, cut
from helpers.data.texts import Texts
from helpers.data.tokens import WindowTokens, query_ids
from helpers.data.windows import doc_of
from helpers.networks.encoder import PASSAGE, QUERY, inputs, wrapped
from helpers.networks.fine_tuning import PairDataset, parted
from helpers.networks.training_settings import RankerTraining
from helpers.steps import step

MAX_SIM = "max_sim"  # the similarity that needs no pooling, see `helpers.encoders.late_interaction`


@dataclass(frozen=True, kw_only=True)
class BiEncoderTraining(RankerTraining):
    """The training of a bi-encoder, and how it compares texts."""

    pooling: str = "mean"  # see `helpers.networks.pooling` (the study's AVG is `mean`)
    loss: str = "triplet"  # see `helpers.encoders.bi_encoder_losses`
    margin: float = 1.0  # of the triplet loss
    temperature: float = 1.0  # of the contrastive loss and of MarginMSE
    similarity: str = "cosine"  # of pooled vectors `cosine` (of length 1) or `dot`; of the tokens' own, `max_sim`
    token_types: bool = False  # whether passages have another token type than queries (RepBERT), where the architecture has two
    negatives: int = 1  # of each query in training; 0 for the passages of other queries alone


class Example(TypedDict):
    """A query with its relevant passage and its negatives."""

    query: list[int]  # token ids
    input_ids: list[int]  # of the relevant passage; the Trainer groups examples of similar length by it
    negatives: list[list[int]]
    passages: list[str]  # the ids of the relevant passage and of the negatives
    teacher: list[float]  # what a cross-encoder says of each of these, nan without one
    relevant: frozenset[str]  # every passage that is judged relevant to the query


@step(version=1, form="run")
def candidates_with_positives(run: pd.DataFrame, qrels: pd.DataFrame, store: Path, candidates: int,
                              min_relevance: int) -> pd.DataFrame:
    """The first candidates of each query, and after them its relevant passages that the run did not return and the store has.

    Negatives come from a run, but positives from the judgments (David 2020, section 3.3): a query whose relevant passage BM25
    misses is what an encoder has to learn. A query without any candidates is left out: it has no negative.
    """
    top, texts = cut(run, candidates), Texts(store)
    lowest = top.groupby("query_id", sort=False)["score"].min()
    relevant = qrels[(qrels["relevance"] >= min_relevance) & qrels["query_id"].isin(set(lowest.index))]
    known = set(map(tuple, top[["query_id", "doc_id"]].to_numpy()))
    missed = [(query, doc_id, lowest[query] - 1.0) for query, doc_id in relevant[["query_id", "doc_id"]].itertuples(index=False)
              if (query, doc_id) not in known and doc_id in texts]
    together = pd.concat([top, pd.DataFrame(missed, columns=COLUMNS).astype({"score": float})], ignore_index=True)
    return together.loc[pd.Series(pd.factorize(together["query_id"])[0]).sort_values(kind="stable").index].reset_index(drop=True)


def examples(pairs: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int, queries: pd.DataFrame, tokens: WindowTokens,
             tokenizer: Any, max_length: int, query_length: int) -> dict[str, Example]:
    """An example for each query with both a relevant passage and a negative among its pairs (query_id, window_id, label; and
    teacher, where a cross-encoder read them)."""
    judged = qrels[qrels["relevance"] >= min_relevance].groupby("query_id")["doc_id"].agg(frozenset)
    texts = queries.set_index("query_id")["text"]
    distinct = list(dict.fromkeys(pairs["query_id"]))
    ids = dict(zip(distinct, query_ids(tokenizer, [texts[query] for query in distinct], query_length), strict=True))
    by_query: dict[str, Example] = {}
    for query, group in pairs.assign(teacher=pairs.get("teacher", np.nan)).groupby("query_id", sort=False):
        positives, negatives = (list(group.loc[group["label"] == label, "window_id"]) for label in (1, 0))
        if not positives or not negatives:
            continue
        windows, teacher = (positives[0], *negatives), dict(zip(group["window_id"], group["teacher"], strict=True))
        read = [wrapped(tokenizer, tokens[window].tolist(), max_length) for window in windows]
        by_query[str(query)] = Example(query=wrapped(tokenizer, ids[query], query_length), input_ids=read[0], negatives=read[1:],
                                       passages=list(map(doc_of, windows)), teacher=[teacher[window] for window in windows],
                                       relevant=judged[query])
    return by_query


def split(by_query: dict[str, Example], evaluation_queries: int, seed: int, negatives: int) -> tuple[PairDataset, PairDataset]:
    """The examples of training queries, each with so many negatives, and of held-out ones, drawn with the seed: at most a tenth.

    The held-out ones keep all negatives, which the accuracy needs.
    """
    train, evaluation = parted(by_query, evaluation_queries, seed)
    return PairDataset([{**example, "negatives": example["negatives"][:negatives]} for example in train.examples]), evaluation


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
    teacher = torch.tensor([score for example, size in zip(examples, sizes, strict=True) for score in example["teacher"][:size]])
    return {"queries": inputs([example["query"] for example in examples], pad, QUERY if token_types else None),
            "passages": inputs(list(chain.from_iterable(rows)), pad, PASSAGE if token_types else None),
            "positive": sizes.cumsum(0) - sizes, "relevant": relevant, "own": own & ~relevant,
            "teacher": teacher.expand(own.shape).masked_fill(~own, float("nan"))}
