"""A smaller encoder that is distilled and not cut: taught to have a larger one's states (Sanh et al. 2019, arXiv:1910.01108,
section 3).

DistilBERT begins as every other layer of its teacher. It learns from the teacher's guesses of masked words, from these words, and
from the cosine of both models' states. Here the states are all that there is to learn from: the packaged backbone was trained to
compare texts, and guesses no words any more. No judgment is read.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data.tokens import query_ids
from helpers.encoders.embeddings import WholeTexts
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone, attention
from helpers.networks.encoder import build, wrapped
from helpers.networks.training_settings import FineTuning, by_name
from helpers.steps import step


@dataclass(frozen=True, kw_only=True)
class StateTraining(FineTuning):
    """The training of an encoder on another's states."""

    evaluation_texts: int = 200  # held out, at most a tenth


@step(version=1, form="folder", network=True, resumable=True)
@by_name
def distilled_encoder(queries: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone, training: StateTraining, *,
                      folder: Path, checkpoints: Path) -> None:
    """Teach some layers of a backbone the last states that all its layers have; keep weights, tokenizer and `log.json`.

    The loss of held-out texts, passages and queries alike, is measured before the training and on the way. The embeddings stay as
    they are: a training moves only those of words that it meets, away from all others.

    Args:
        queries: column text: read beside the passages, since an encoder is asked for the vectors of both.
        store: the text store of what may be read: in a training that of a split's articles.
        tokens: those of whole texts (`windows.WHOLE`).
        backbone: the layers that the student begins as.
        training: its settings; a batch is one of texts, which are cut at `max_length` tokens.

    Raises:
        ValueError: for fewer than two texts: one to read and one to hold out.
    """
    from transformers import Trainer

    from helpers.encoders.distilled_model import Taught

    tokenizer, texts = backbone.tokenizer(), WholeTexts(tokens, store)
    rows: list[Any] = [*map(texts.at, range(len(texts))), *query_ids(tokenizer, list(queries["text"]), training.max_length)]
    if len(rows) < 2:
        raise ValueError(f"{len(rows)} texts: at least two are wanted, one to read and one to hold out")
    examples = {str(place): {"input_ids": wrapped(tokenizer, row, training.max_length)} for place, row in enumerate(rows)}
    train, evaluation = fine_tuning.parted(examples, training.evaluation_texts, training.seed)
    fine_tuning.seed_everything(training.seed)
    student, teacher = (build(one, None, training.dropout, attn_implementation=attention())
                        for one in (backbone, backbone.whole()))
    student.embeddings.requires_grad_(False)
    arguments = fine_tuning.training_arguments(checkpoints, len(train), training, training.evaluations)
    arguments.eval_on_start = True
    trainer = Trainer(model=Taught(student, teacher), args=arguments, train_dataset=train, eval_dataset=evaluation,
                      data_collator=fine_tuning.collator(tokenizer))
    fine_tuning.fit(trainer)
    fine_tuning.save(folder, student, tokenizer, {
        "texts": len(train), "evaluation_texts": len(evaluation), "steps": trainer.state.max_steps,
        "tokens": sum(len(example["input_ids"]) for example in train.examples), "parameters": student.num_parameters(),
        "trained_parameters": student.num_parameters(only_trainable=True), "teacher_parameters": teacher.num_parameters(),
        "log": fine_tuning.logged(trainer, "step", "epoch", "loss", "eval_loss", "learning_rate")})
