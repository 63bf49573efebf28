"""Simplified TinyBERT: a student cross-encoder taught by a fine-tuned one (Chen et al. 2021; Steensland 2021, section 3.3)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.data.windows import WindowTokens
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone, attention, keep_layers
from helpers.reranking.groups import of_held_out
from helpers.reranking.listwise import as_inputs
from helpers.reranking.losses import PARTS
from helpers.steps import step

BCE = "multi_label_classification"  # how transformers calls binary cross-entropy on logits; its default for one output is MSE


@dataclass(frozen=True, kw_only=True)
class Distillation(fine_tuning.Settings):
    """What a student is, and what it learns from."""

    layers: tuple[int, ...] = (0, 1, 2)  # the teacher's layers that the student starts from, if it has no start of its own
    temperature: float = 1.0  # of the soft loss
    hard: float = 1.0  # weight of the cross-entropy with the judgments
    soft: float = 1.0  # weight of the cross-entropy with the teacher's probabilities
    hidden: float = 1.0  # weight of the hidden states' squared error
    attention: float = 0.02  # weight of the attention scores' squared error, which begins some fifty times as large as the others


@step(version=2, form="folder", network=True, resumable=True)
@fine_tuning.by_name
def distilled_cross_encoder(teacher: Path, pairs: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path,
                            training: fine_tuning.RankerTraining, held_out_seed: int, distillation: Distillation,
                            start: Path | None = None, *, folder: Path, checkpoints: Path) -> None:
    """Train a student on labelled pairs and on what its teacher, a fine-tuned cross-encoder that stays as it is, says of them;
    keeps weights, tokenizer and `log.json`. The evaluation loss is the hard one alone.

    Args:
        pairs: columns query_id, window_id, label, for instance the teacher's groups.
        training: its settings; a batch is so many pairs.
        held_out_seed: of the choice of held-out queries, which is the teacher's if the seed is.
        start: a cross-encoder that the student starts as, by default the teacher's layers; one with fewer heads can have no part
            of its teacher's attention.
    """
    from transformers import AutoModelForSequenceClassification

    from helpers.reranking.distillation_trainer import DistillationTrainer

    origin = Backbone("", str(teacher))
    tokenizer = origin.tokenizer()
    inputs, labels = as_inputs(pairs, queries, WindowTokens(tokens, store), tokenizer, training)
    examples = [{"input_ids": ids, "token_type_ids": types, "labels": [label]}
                for (ids, types), label in zip(inputs, labels.tolist(), strict=True)]
    apart = of_held_out(pairs, training.evaluation_queries, held_out_seed)
    train, evaluation = ([examples[n] for n in np.flatnonzero(side)] for side in (~apart, apart))
    fine_tuning.seed_everything(training.seed)
    taught_by = origin.build(AutoModelForSequenceClassification, attn_implementation=attention()).eval()
    began = origin if start is None else Backbone("", str(start))
    student = began.build(AutoModelForSequenceClassification, attn_implementation=attention(), problem_type=BCE,
                          hidden_dropout_prob=training.dropout, attention_probs_dropout_prob=training.dropout)
    if start is None:
        student = keep_layers(student, tuple(distillation.layers))
    arguments = fine_tuning.training_arguments(checkpoints, len(train), training, training.evaluations)
    trainer = DistillationTrainer(model=student, args=arguments, train_dataset=train, eval_dataset=evaluation,
                                  data_collator=fine_tuning.collator(tokenizer))
    trainer.teach(taught_by, {part: getattr(distillation, part) for part in PARTS}, distillation.temperature)
    fine_tuning.fit(trainer)
    del student.widen  # no part of what ranks
    fine_tuning.save(folder, student, tokenizer, fine_tuning.summary(trainer))
