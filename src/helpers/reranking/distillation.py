"""Simplified TinyBERT: a student cross-encoder taught by a fine-tuned one (Chen et al. 2021; Steensland 2021, section 3.3).

The student starts as the first layers of its teacher and learns in one stage from four losses, summed with weights.
"""

import json
from pathlib import Path

import pandas as pd

from helpers.data.tokens import WindowTokens
from helpers.networks import backbone as backbones
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone, keep_layers
from helpers.steps import step


@step(version=1, form="folder", network=True)
def distilled_cross_encoder(teacher: Path, pairs: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path,
                            layers: list[int], epochs: int, learning_rate: float, batch_size: int, warmup: float,
                            weight_decay: float, dropout: float, max_length: int, query_length: int, evaluation_queries: int,
                            evaluations: int, seed: int, held_out_seed: int, temperature: float, hard: float, soft: float,
                            hidden: float, attention: float, *, folder: Path) -> None:
    """Train a student on labelled pairs and on what its teacher says of them; keeps weights, tokenizer and `log.json`.

    Args:
        teacher: a fine-tuned cross-encoder; it stays as it is.
        pairs: columns query_id, window_id, label.
        queries: columns query_id, text.
        store: the text store that the window tokens belong to.
        tokens: the window tokens.
        layers: the teacher's layers that the student starts from, `[0, 1, 2]`.
        epochs: passes over the training pairs.
        learning_rate: the peak of the schedule.
        batch_size: pairs an optimiser step.
        warmup: share of the steps in which the rate rises.
        weight_decay: AdamW's.
        dropout: of the student.
        max_length: tokens of a whole input.
        query_length: tokens kept of a query.
        evaluation_queries: queries held out, at most a tenth of them. The evaluation loss is the hard one alone.
        evaluations: how often the losses are logged.
        seed: of the order and of dropout.
        held_out_seed: of the choice of held-out queries.
        temperature: of the soft loss.
        hard: weight of the cross-entropy with the judgments.
        soft: weight of the cross-entropy with the teacher's probabilities.
        hidden: weight of the hidden states' squared error.
        attention: weight of the attention scores' squared error.
    """
    from transformers import AutoModelForSequenceClassification

    from helpers.reranking.distillation_trainer import DistillationTrainer

    origin = Backbone("", str(teacher))
    tokenizer = origin.tokenizer()
    train, evaluation = fine_tuning.datasets(pairs, queries, WindowTokens(tokens, store), tokenizer, max_length, query_length,
                                             evaluation_queries, held_out_seed)
    fine_tuning.seed_everything(seed)
    taught_by = origin.build(AutoModelForSequenceClassification, attn_implementation=backbones.attention()).eval()
    student = origin.build(AutoModelForSequenceClassification, attn_implementation=backbones.attention(),
                           hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    arguments = fine_tuning.training_arguments(folder, len(train), epochs=epochs, learning_rate=learning_rate,
                                               batch_size=batch_size, warmup=warmup, weight_decay=weight_decay,
                                               evaluations=evaluations, seed=seed)
    trainer = DistillationTrainer(
        model=keep_layers(student, tuple(layers)), args=arguments, train_dataset=train, eval_dataset=evaluation,
        data_collator=fine_tuning.collator(tokenizer))
    trainer.teach(taught_by, {"hard": hard, "soft": soft, "hidden": hidden, "attention": attention}, temperature)
    fine_tuning.fit(trainer)
    student.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "log.json").write_text(json.dumps(fine_tuning.summary(trainer), indent=1))
