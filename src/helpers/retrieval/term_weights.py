"""DeepCT: the weights of a passage's words, learned from the recall of queries' terms (Dai & Callan 2019, arXiv:1910.10687)."""

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.collection_base import Text
from helpers.data.lines import json_lines
from helpers.data.texts import Texts
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone, attention, read_tokenizer
from helpers.networks.encoder import inputs
from helpers.networks.inference import mask_of, padded, ready, run_batches
from helpers.retrieval import java
from helpers.retrieval.indexes import analysed, build
from helpers.steps import numerics, step

WORD = re.compile(r"\w+(?:['’.,]\w+)*")  # `3.5`, `oven's` and `U.S` are one word, as they are for Lucene


def content(text: Text) -> str:
    """What the index holds of a text: the title in front of the body."""
    return f"{text.title}\n{text.body}"


def write_lines(store: Path, of: Callable[[list[str]], Sequence[Any]], at_once: int, file: Path, name: str) -> None:
    """Write what a function gives of each of a store's texts, so many at once: JSON lines of id and `name`, in their order."""
    texts = iter(Texts(store))
    with open(file, "w", encoding="utf-8") as lines:
        while batch := list(islice(texts, at_once)):
            for text, own in zip(batch, of([content(text) for text in batch]), strict=True):
                lines.write(json.dumps({"id": text.doc_id, name: own}, ensure_ascii=False) + "\n")


def words_of(content: str) -> list[tuple[str, int, int]]:
    """Every word, in lower case, with its first character's place and the place after its last."""
    return [(match[0].lower(), match.start(), match.end()) for match in WORD.finditer(content)]


def first_pieces(text: str, offsets: list[tuple[int, int]]) -> Iterator[tuple[str, int]]:
    """The words of a text in order, each with the number of its first piece; words beyond the last piece are left out.

    The offsets are each piece's first character's place and the place after its last; special tokens have none (0, 0).
    """
    piece = 0
    for word, start, end in words_of(text):
        while piece < len(offsets) and offsets[piece][1] <= start:
            piece += 1
        if piece < len(offsets) and offsets[piece][0] < end:
            yield word, piece


@step(version=1, form="table")
def term_recall(queries: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int, store: Path) -> pd.DataFrame:
    """The query-term recall of every word of every passage that is relevant to one of the queries: columns doc_id, word (in lower
    case, each once a passage), recall (0 for stop words), queries (how many the passage has).

    Recall is the share of the passage's queries that contain the word, as Lucene's analyser has it (Porter stems, no stop words).
    Most passages have one query, here as in MS MARCO: it is then 1 or 0.
    """
    query_texts, texts = dict(zip(queries["query_id"], queries["text"], strict=True)), Texts(store)
    relevant = qrels[(qrels["relevance"] >= min_relevance) & qrels["query_id"].isin(list(query_texts))]
    passages = {str(doc_id): [query_texts[query] for query in group]
                for doc_id, group in relevant.groupby("doc_id", sort=False)["query_id"] if str(doc_id) in texts}
    words = {doc_id: list(dict.fromkeys(word for word, _, _ in words_of(content(texts[doc_id])))) for doc_id in passages}
    terms = {text: set(own) for text, own in java.call(
        analysed, sorted({word for own in words.values() for word in own} | set(query_texts.values()))).items()}
    rows = [(doc_id, word, share(terms[word], [terms[query] for query in asking]), len(asking))
            for doc_id, asking in passages.items() for word in words[doc_id]]
    return pd.DataFrame(rows, columns=["doc_id", "word", "recall", "queries"]).astype({"recall": float, "queries": int})


def share(terms: set[str], queries: list[set[str]]) -> float:
    """The share of the queries that hold any of a word's terms."""
    return sum(bool(terms & query) for query in queries) / len(queries)


@step(version=1, form="table")
def term_overlap(store: Path, queries: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int) -> pd.DataFrame:
    """For each query the share of its terms, stop words left out and stemmed, that its most similar relevant passage holds:
    columns query_id, share (0 to 1), terms. A query of stop words alone, or without relevant passage, is left out."""
    query_texts, texts = dict(zip(queries["query_id"], queries["text"], strict=True)), Texts(store)
    relevant = qrels[(qrels["relevance"] >= min_relevance) & qrels["query_id"].isin(list(query_texts))]
    passages = {str(query): [content(texts[doc_id]) for doc_id in group if doc_id in texts]
                for query, group in relevant.groupby("query_id", sort=False)["doc_id"]}
    terms = {text: set(own) for text, own in java.call(
        analysed, [*(query_texts[query] for query in passages), *(text for own in passages.values() for text in own)]).items()}
    rows = [(query, max(len(mine & terms[text]) for text in own) / len(mine), len(mine))
            for query, own in passages.items() if own and (mine := terms[query_texts[query]])]
    return pd.DataFrame(rows, columns=["query_id", "share", "terms"])


IGNORED = -100.0  # does not count: special tokens, punctuation, padding and, as in the authors' code, later pieces of a word


@dataclass(frozen=True, kw_only=True)
class PassageTraining(fine_tuning.FineTuning):
    """The training of a model that reads passages, some of them held out."""

    evaluation_passages: int = 100  # held out for the evaluation loss, with all their queries; at most a tenth


@step(version=1, form="folder", network=True, resumable=True)
@fine_tuning.by_name
def deepct(targets: pd.DataFrame, store: Path, backbone: Backbone, training: PassageTraining, *, folder: Path,
           checkpoints: Path) -> None:
    """Fine-tune a backbone to estimate the recall of every word of a passage, as `term_recall` has it; keep weights, tokenizer
    and `log.json`. The seed also draws the held-out passages, so there must be two passages with words.

    The squared error is averaged over the first pieces of the words of a batch.
    """
    from transformers import AutoModelForTokenClassification

    tokenizer, texts = backbone.tokenizer(), Texts(store)
    recalls = {str(doc_id): dict(zip(group["word"], group["recall"], strict=True))
               for doc_id, group in targets.groupby("doc_id", sort=False)}
    examples = {doc_id: example(tokenizer, content(texts[doc_id]), recall, training.max_length)
                for doc_id, recall in recalls.items()}
    train, evaluation = sides = fine_tuning.parted(examples, training.evaluation_passages, training.seed,
                                                   "relevant passages have words")
    fine_tuning.seed_everything(training.seed)  # before the output layer is made
    model = backbone.build(AutoModelForTokenClassification, num_labels=1, hidden_dropout_prob=training.dropout,
                           attention_probs_dropout_prob=training.dropout, attn_implementation=attention())
    summary = fine_tuning.summary(fine_tuning.trained(
        model, training, training.evaluations, checkpoints, sides, partial(batch, pad=tokenizer.pad_token_id), squared_error))
    fine_tuning.save(folder, model, tokenizer, {
        "passages": len(train), "evaluation_passages": len(evaluation), "words": len(targets),
        "words_in_queries": int((targets["recall"] > 0).sum()),
        "passages_of_one_query": int((targets.groupby("doc_id")["queries"].first() == 1).sum()),
        "passages_in_all": len(examples), **{name: summary[name] for name in ("steps", "parameters", "tokens", "log")}})


def example(tokenizer: Any, text: str, recall: dict[str, float], max_length: int) -> dict[str, Any]:
    """A passage's token ids, with a label for each: the recall of the word whose first piece it is, or `IGNORED`."""
    encoded = tokenizer(text, truncation=True, max_length=max_length, return_offsets_mapping=True)
    labels = [IGNORED] * len(encoded["input_ids"])
    for word, piece in first_pieces(text, encoded["offset_mapping"]):
        labels[piece] = recall.get(word, 0.0)
    return {"input_ids": encoded["input_ids"], "labels": labels}


def batch(examples: Sequence[dict[str, Any]], pad: int) -> dict[str, Any]:
    """Ids and mask of examples, (passages, tokens) each, padded to the longest, and the labels as floats."""
    return {**inputs([one["input_ids"] for one in examples], pad), "labels": padded([one["labels"] for one in examples], IGNORED)}


def squared_error(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
    """The mean squared error over the labels that count; the Trainer's signature."""
    import torch

    counted = labels != IGNORED
    return torch.nn.functional.mse_loss(outputs.logits.squeeze(-1).float()[counted], labels[counted])


CHUNK = 2_000  # texts weighted at a time
WEIGHTS = "weights.jsonl"


@step(version=1, form="folder", network=True)
def word_weights(model: Path, store: Path, max_length: int, *, folder: Path) -> None:
    """The estimated recall of every word of every text: JSON lines of id and words, in the store's order.

    A text without words has an empty line of its own, so that none goes missing.
    """
    from transformers import AutoModelForTokenClassification

    tokenizer = read_tokenizer(model)
    scorer = ready(Backbone("", str(model)).build(AutoModelForTokenClassification, attn_implementation=attention()))
    write_lines(store, lambda texts: estimates(scorer, tokenizer, texts, max_length), CHUNK, folder / WEIGHTS, "words")


def estimates(model: Any, tokenizer: Any, texts: list[str], max_length: int) -> list[dict[str, float]]:
    """For each text its words with their largest estimate, that of a word's first piece: both as in the authors' code."""
    encoded = tokenizer(texts, truncation=True, max_length=max_length, return_offsets_mapping=True)
    inputs: list[list[int]] = encoded["input_ids"]
    weights: list[dict[str, float]] = [{} for _ in texts]

    def score(batch: np.ndarray) -> None:
        rows = [inputs[n] for n in batch]
        ids, mask = padded(rows).to(numerics.device()), mask_of(rows).to(numerics.device())
        logits = model(input_ids=ids, attention_mask=mask).logits.squeeze(-1).float().cpu().numpy()
        for row, n in zip(logits, batch, strict=True):
            for word, piece in first_pieces(texts[n], encoded["offset_mapping"][n]):
                weights[n][word] = max(weights[n].get(word, -math.inf), round(float(row[piece]), 6))

    run_batches(score, np.array([len(ids) for ids in inputs]), progress="passages weighted")
    return weights


@step(version=1, form="folder")
def weighted_index(weights: Path, scale: int, smoothing: str, *, folder: Path) -> None:
    """A Lucene index in which every word stands as often as its weight says; words of no weight are not indexed."""
    build(((line["id"], repeated(line["words"], scale, smoothing)) for line in json_lines(weights / WEIGHTS)), folder)


def repeated(words: dict[str, float], scale: int, smoothing: str) -> str:
    """Each word as often as its weight says; negative weights are 0."""
    root = math.sqrt if smoothing == "sqrt" else float
    counts = {word: round(scale * root(max(weight, 0.0))) for word, weight in words.items()}
    return " ".join(" ".join([word] * count) for word, count in counts.items() if count)


@step(version=1, form="table")
def top_weighted_terms(weights: Path, documents: list[str], words: int) -> pd.DataFrame:
    """The words of largest weight in some documents: columns doc_id, word, weight, best first."""
    doc_ids = set(documents)
    rows = [(line["id"], word, weight) for line in json_lines(weights / WEIGHTS) if line["id"] in doc_ids
            for word, weight in sorted(line["words"].items(), key=lambda item: (-item[1], item[0]))[:words]]
    return pd.DataFrame(rows, columns=["doc_id", "word", "weight"]).astype({"weight": float})
