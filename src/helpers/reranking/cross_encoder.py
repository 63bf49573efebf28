"""monoBERT: fine-tuning a cross-encoder on (query, window) pairs (Nogueira & Cho 2019; Steensland 2021, section 4.1).

The encoder reads [CLS] query [SEP] window [SEP]; one linear output on the pooled [CLS] gives the logit of relevance.
Steensland's softmax over two outputs is the sigmoid of their difference, so one output is the same model, and binary
cross-entropy the same loss (his equation 3.2).
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data.tokens import WindowTokens
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone, attention
from helpers.networks.training_settings import RankerTraining, by_name
from helpers.steps import step

STOPPED = "stopped"


@step(version=1, form="folder", network=True, parallel=True)
@by_name
def cross_encoder(pairs: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone,
                  training: RankerTraining, start: Path | None = None, held_out_seed: int | None = None,
                  patience: int | None = None, *, folder: Path) -> None:
    """Fine-tune a backbone on labelled pairs, and keep weights, tokenizer and `log.json`: AdamW, binary cross-entropy.

    Args:
        pairs: columns query_id, window_id, label.
        training: its settings (256 tokens of an input and 47 of a query in the thesis).
        start: a model that this step fine-tuned before, to go on from instead of the backbone.
        held_out_seed: of the choice of held-out queries; by default `seed`. Models that are compared by their evaluation loss
            share it.
        patience: evaluations without a lower loss after which early stopping would end the training. The training goes on all
            the same; `early_stopped` gives the model of the lowest loss until then.
    """
    from transformers import AutoModelForSequenceClassification, Trainer

    tokenizer = backbone.tokenizer()
    train, evaluation = fine_tuning.datasets(pairs, queries, WindowTokens(tokens, store), tokenizer, training,
                                             training.seed if held_out_seed is None else held_out_seed)
    fine_tuning.seed_everything(training.seed)  # before the head is made
    origin = backbone if start is None else Backbone("", str(start))
    model = origin.build(AutoModelForSequenceClassification, num_labels=1, hidden_dropout_prob=training.dropout,
                         attention_probs_dropout_prob=training.dropout, attn_implementation=attention(),
                         problem_type="multi_label_classification")  # that is: binary cross-entropy on logits
    arguments = fine_tuning.training_arguments(folder, len(train), training, training.evaluations)
    trainer = Trainer(model=model, args=arguments, train_dataset=train, eval_dataset=evaluation,
                      data_collator=fine_tuning.collator(tokenizer))
    observer = fine_tuning.fit(trainer, patience)
    fine_tuning.save(folder, model, tokenizer, fine_tuning.summary(trainer, observer))
    if observer is not None:
        observer.save(model, tokenizer, folder / STOPPED)


@step(version=1, form="json")
def training_log(model: Path) -> dict[str, Any]:
    """What `cross_encoder` logged: pairs, positives, steps, parameters, and `log`, the losses over the steps."""
    return json.loads((model / "log.json").read_text())


@step(version=1, form="folder")
def early_stopped(model: Path, *, folder: Path) -> None:
    """The model that early stopping would have kept in a training of `cross_encoder` with `patience`."""
    shutil.copytree(model / STOPPED, folder, dirs_exist_ok=True)
