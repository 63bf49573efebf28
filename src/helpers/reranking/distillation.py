"""Simplified TinyBERT: a student cross-encoder taught by a fine-tuned one (Chen et al. 2021; Steensland 2021, section 3.3).

The student starts as the first layers of its teacher and learns in one stage from four losses, summed with weights.
"""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from helpers.data.tokens import WindowTokens
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone, attention, keep_layers
from helpers.networks.training_settings import RankerTraining, Settings, by_name
from helpers.reranking.distillation_losses import PARTS
from helpers.steps import step


@dataclass(frozen=True, kw_only=True)
class Distillation(Settings):
    """What a student is, and what it learns from."""

    layers: tuple[int, ...] = (0, 1, 2)  # the teacher's layers that the student starts from
    temperature: float = 1.0  # of the soft loss
    hard: float = 1.0  # weight of the cross-entropy with the judgments
    soft: float = 1.0  # weight of the cross-entropy with the teacher's probabilities
    hidden: float = 1.0  # weight of the hidden states' squared error
    attention: float = 1.0  # weight of the attention scores' squared error


@step(version=1, form="folder", network=True)
@by_name
def distilled_cross_encoder(teacher: Path, pairs: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path,
                            training: RankerTraining, held_out_seed: int, distillation: Distillation, *, folder: Path) -> None:
    """Train a student on labelled pairs and on what its teacher, a fine-tuned cross-encoder that stays as it is, says of them;
    keeps weights, tokenizer and `log.json`. The evaluation loss is the hard one alone; the first arguments are those of
    `cross_encoder`."""
    from transformers import AutoModelForSequenceClassification

    from helpers.reranking.distillation_trainer import DistillationTrainer

    origin = Backbone("", str(teacher))
    tokenizer = origin.tokenizer()
    train, evaluation = fine_tuning.datasets(pairs, queries, WindowTokens(tokens, store), tokenizer, training,
                                             held_out_seed)
    fine_tuning.seed_everything(training.seed)
    taught_by = origin.build(AutoModelForSequenceClassification, attn_implementation=attention()).eval()
    student = origin.build(AutoModelForSequenceClassification, attn_implementation=attention(),
                           hidden_dropout_prob=training.dropout, attention_probs_dropout_prob=training.dropout)
    arguments = fine_tuning.training_arguments(folder, len(train), training, training.evaluations)
    trainer = DistillationTrainer(
        model=keep_layers(student, tuple(distillation.layers)), args=arguments, train_dataset=train, eval_dataset=evaluation,
        data_collator=fine_tuning.collator(tokenizer))
    trainer.teach(taught_by, {part: getattr(distillation, part) for part in PARTS}, distillation.temperature)
    fine_tuning.fit(trainer)
    fine_tuning.save(folder, student, tokenizer, fine_tuning.summary(trainer))
