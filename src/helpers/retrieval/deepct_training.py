"""Training DeepCT: a regression of every word's query-term recall (Dai & Callan 2019, arXiv:1910.10687).

A word of several pieces is represented by its first, as in the authors' code; the others do not count in the loss.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data.texts import Texts
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone, attention
from helpers.networks.encoder import inputs
from helpers.networks.inference import padded
from helpers.networks.training_settings import FineTuning, by_name
from helpers.retrieval.term_recall import content, first_pieces
from helpers.steps import step

IGNORED = -100.0  # a label that does not count: special tokens, punctuation, later pieces of a word, padding


@dataclass(frozen=True, kw_only=True)
class TermWeightTraining(FineTuning):
    """The training of a model of term weights, with passages held out."""

    evaluation_passages: int = 100  # passages held out for the evaluation loss, at most a tenth


@step(version=1, form="folder", network=True, resumable=True)
@by_name
def deepct(targets: pd.DataFrame, store: Path, backbone: Backbone, training: TermWeightTraining, *, folder: Path,
           checkpoints: Path) -> None:
    """Fine-tune a backbone to estimate the recall of every word of a passage, as `term_recall` has it; keep weights, tokenizer
    and `log.json`. The seed also draws the held-out passages, so there must be two passages with words.

    The squared error is averaged over the first pieces of the words of a batch.
    """
    from transformers import AutoModelForTokenClassification, Trainer

    tokenizer, texts = backbone.tokenizer(), Texts(store)
    recalls = {str(doc_id): dict(zip(group["word"], group["recall"], strict=True))
               for doc_id, group in targets.groupby("doc_id", sort=False)}
    examples = {doc_id: example(tokenizer, content(texts[doc_id]), recall, training.max_length)
                for doc_id, recall in recalls.items()}
    if len(examples) < 2:
        raise ValueError(f"{len(examples)} relevant passages have words: at least two are wanted")
    train, evaluation = fine_tuning.parted(examples, training.evaluation_passages, training.seed)
    fine_tuning.seed_everything(training.seed)  # before the output layer is made
    model = backbone.build(AutoModelForTokenClassification, num_labels=1, hidden_dropout_prob=training.dropout,
                           attention_probs_dropout_prob=training.dropout, attn_implementation=attention())
    arguments = fine_tuning.training_arguments(checkpoints, len(train), training, training.evaluations)
    trainer = Trainer(model=model, args=arguments, train_dataset=train, eval_dataset=evaluation, compute_loss_func=squared_error,
                      data_collator=partial(batch, pad=tokenizer.pad_token_id))
    fine_tuning.fit(trainer)
    fine_tuning.save(folder, model, tokenizer, summary(trainer, targets))


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


def summary(trainer: Any, targets: pd.DataFrame) -> dict[str, Any]:
    """Size, duration and losses of a training: the content of `log.json`."""
    summary = fine_tuning.summary(trainer)
    return {"passages": summary["pairs"], "evaluation_passages": summary["evaluation_pairs"],
            "words": len(targets), "words_in_queries": int((targets["recall"] > 0).sum()),
            "passages_of_one_query": int((targets.groupby("doc_id")["queries"].first() == 1).sum()),
            "passages_in_all": int(targets["doc_id"].nunique()),
            **{name: summary[name] for name in ("steps", "parameters", "tokens", "log")}}
