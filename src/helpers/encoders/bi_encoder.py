"""What a bi-encoder learns from: the pairs, their batches, and the losses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from helpers.data.runs import COLUMNS, cut
from helpers.data.texts import Texts
from helpers.data.windows import WindowTokens, doc_of, query_ids
from helpers.networks.encoder import PASSAGE, QUERY, inputs, wrapped
from helpers.networks.fine_tuning import RankerTraining, parted
from helpers.registry import Registry
from helpers.steps import step


@step(version=1, form="table")
def training_pairs(run: pd.DataFrame, qrels: pd.DataFrame, store: Path, tokens: Path, candidates: int, min_relevance: int,
                   positives: int, negatives: int, seed: int) -> pd.DataFrame:
    """Draw labelled windows from the candidates of each query: columns query_id, window_id, label (0 or 1), grouped by query.

    As in the thesis (Steensland 2021, section 4.1.2), the candidates are the query's top documents by BM25, and a window is
    labelled 1 if its document is relevant, else 0. The thesis keeps every window; here some of each kind can be drawn instead. A
    query whose candidates hold no relevant document gives no pairs when pairs are drawn, and only negatives when all are kept.

    Args:
        run: the BM25 run of the training queries, of which the first `candidates` count (40 in the thesis).
        positives: windows drawn from the relevant candidates of a query, 0 for all.
        negatives: windows drawn from its other candidates, 0 for all.
        seed: of the draws; each query has a stream of its own, so that adding queries changes no other draw.
    """
    reader = WindowTokens(tokens, store)
    relevant = set(map(tuple, qrels.loc[qrels["relevance"] >= min_relevance, ["query_id", "doc_id"]].to_numpy()))
    rows: list[tuple[str, str, int]] = []
    for number, (query, group) in enumerate(cut(run, candidates).groupby("query_id", sort=False)):
        random = np.random.default_rng([seed, number])
        sides: tuple[list[str], list[str]] = ([], [])
        for doc_id in group["doc_id"]:
            sides[(query, doc_id) in relevant].extend(reader.windows_of(doc_id))
        if positives and not sides[1]:
            continue
        rows.extend((str(query), window, 1) for window in draw(sides[1], positives, random))
        rows.extend((str(query), window, 0) for window in draw(sides[0], negatives, random))
    return pd.DataFrame(rows, columns=["query_id", "window_id", "label"])


@step(version=1, form="table")
def denoised_pairs(scores: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int, negatives: int, seed: int) -> pd.DataFrame:
    """A relevant window of each query and negatives that a cross-encoder scores lower: columns query_id, window_id, label and
    teacher (its score), grouped by query.

    A candidate that it scores as high as the relevant window, or higher, may answer the query although nobody judged it, and is
    no negative (Qu et al. 2021, RocketQA). Their rule is a probability below .1; the level of a logit that was learned from a
    list is free, and only comparisons have a meaning. A query without a relevant window or without negatives gives no pairs.

    Args:
        scores: windows of the candidates, relevant ones among them, with their scores: a run.
        negatives: windows drawn from the lower ones, 0 for all.
        seed: of the draws; each query has a stream of its own.
    """
    relevant = set(map(tuple, qrels.loc[qrels["relevance"] >= min_relevance, ["query_id", "doc_id"]].to_numpy()))
    rows: list[tuple[str, str, int, float]] = []
    for number, (query, group) in enumerate(scores.groupby("query_id", sort=False)):
        random, teacher = np.random.default_rng([seed, number]), dict(zip(group["doc_id"], group["score"], strict=True))
        sides: tuple[list[str], list[str]] = ([], [])
        for window in teacher:
            sides[(query, doc_of(window)) in relevant].append(window)
        for positive in draw(sides[1], 1, random):
            lower = [window for window in sides[0] if teacher[window] < teacher[positive]]
            rows += [(str(query), window, int(window == positive), teacher[window])
                     for window in ([positive, *draw(lower, negatives, random)] if lower else [])]
    return pd.DataFrame(rows, columns=["query_id", "window_id", "label", "teacher"])


def draw(items: list[str], count: int, random: np.random.Generator) -> list[str]:
    """`count` of the items without replacement, in their order; all of them for 0 or if there are fewer."""
    if count == 0 or count >= len(items):
        return items
    return [items[i] for i in sorted(random.choice(len(items), size=count, replace=False))]


@dataclass(frozen=True, kw_only=True)
class BiEncoderTraining(RankerTraining):
    """The training of a bi-encoder, and how it compares texts."""

    pooling: str = "mean"  # see `helpers.networks.encoder` (the study's AVG is `mean`)
    loss: str = "triplet"  # see `helpers.encoders.bi_encoder`
    margin: float = 1.0  # of the triplet loss
    temperature: float = 1.0  # of the contrastive loss and of MarginMSE
    similarity: str = "cosine"  # of pooled vectors `cosine` (of length 1) or `dot`; of the tokens' own, `max_sim`
    token_types: bool = False  # whether passages have another token type than queries (RepBERT), where the architecture has two
    negatives: int = 1  # of each query in training; 0 for the passages of other queries alone
    stop_after: float | None = None  # the share of its steps that is done, at the whole training's rates; None for all


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


def split(by_query: dict[str, Example], evaluation_queries: int, seed: int, negatives: int) -> tuple[list[Any], list[Any]]:
    """The examples of training queries, each with so many negatives, and of held-out ones, drawn with the seed: at most a tenth.

    The held-out ones keep all negatives, which the accuracy needs.
    """
    train, evaluation = parted(by_query, evaluation_queries, seed, "training queries have a relevant passage and a negative")
    return [{**example, "negatives": example["negatives"][:negatives]} for example in train], evaluation


def batch(examples: Sequence[Example], pad: int, token_types: bool) -> dict[str, Any]:
    """Padded queries and passages, which may have a token type of their own, and what is known of each pair.

    They are the inputs of `models.BiEncoderModel`.
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


# The losses of bi-encoders, on a batch's similarities between its queries and the passages of all of them. A loss is a function
# that gets those of these values which its parameters name; a new one is such a function and its line in `LOSSES`.
#
# | value | shape | what |
# |---|---|---|
# | `similarity` | (queries, passages) | cosines in David's study, inner products in the others |
# | `positive` | (queries,) | the column of each query's relevant passage |
# | `relevant` | (queries, passages) | true for every passage known to be relevant, so that one of another query is no negative |
# | `own` | (queries, passages) | true for the negatives that were drawn for the query; at least one in all |
# | `teacher` | (queries, passages) | a cross-encoder's logits of the passages drawn for the query, nan elsewhere |
# | `margin` | | by which the relevant passage is to be nearer (1 in David's study) |
# | `temperature` | | divides the similarities (1 in the studies), to bring their margins to the scale of a logit's |

def triplet(similarity: Any, positive: Any, own: Any, margin: float) -> Any:
    """The mean over triplets of max(0, d(q, p) - d(q, n) + margin), with d = 1 - similarity (David 2020, equation 3.1)."""
    difference = similarity - similarity.gather(1, positive[:, None])  # d(q, p) - d(q, n)
    return (difference + margin).clamp(min=0)[own].mean()


def multi_label_margin(similarity: Any, relevant: Any) -> Any:
    """RepBERT's loss: the mean over queries of PyTorch's multi-label margin loss (Zhan et al. 2020, equation 4).

    For a query with n passages in its batch: the sum over its relevant i and all other j of max(0, 1 - (s_i - s_j)), over n.
    """
    import torch

    columns = similarity.shape[1]
    places = torch.arange(columns, device=similarity.device).expand_as(similarity)
    targets = places.masked_fill(~relevant, columns).sort(dim=1).values  # PyTorch wants relevant columns first, then -1
    return torch.nn.functional.multilabel_margin_loss(similarity, targets.masked_fill(targets == columns, -1))


def contrastive(similarity: Any, positive: Any, relevant: Any, temperature: float = 1.0) -> Any:
    """The mean over queries of -log softmax of the relevant passage among the batch's passages (Gao & Callan 2021, equation 13).

    Other passages that are relevant to the query are left out of its softmax.
    """
    import torch

    others = relevant.scatter(1, positive[:, None], False)
    return torch.nn.functional.cross_entropy((similarity / temperature).masked_fill(others, float("-inf")), positive)


def margin_mse(similarity: Any, positive: Any, own: Any, teacher: Any, temperature: float = 1.0) -> Any:
    """The mean over triplets of the squared difference between the encoder's margin, s(q, p) - s(q, n), and a cross-encoder's
    (Hofstätter et al. 2020).

    Only negatives that were drawn for the query count: of the batch's other passages the cross-encoder has said nothing.
    """
    margin, target = (scores.gather(1, positive[:, None]) - scores for scores in (similarity / temperature, teacher))
    return (margin - target)[own].square().mean()


LOSSES: Registry[Callable[..., Any]] = Registry("loss", {
    "triplet": triplet, "multi_label_margin": multi_label_margin, "contrastive": contrastive,
    "margin_mse": margin_mse})
