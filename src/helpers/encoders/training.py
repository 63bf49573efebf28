"""The trainings of encoders: a bi-encoder's fine-tuning, and an encoder that is taught another's states."""

import inspect
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data.windows import WindowTokens, query_ids
from helpers.encoders.bi_encoder import LOSSES, BiEncoderTraining, batch, examples, split
from helpers.encoders.embeddings import WholeTexts
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone, attention
from helpers.networks.encoder import build, has_token_types, wrapped
from helpers.steps import step


@step(version=1, form="folder", network=True, resumable=True)
@fine_tuning.by_name
def bi_encoder(pairs: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int, queries: pd.DataFrame, store: Path, tokens: Path,
               backbone: Backbone, training: BiEncoderTraining, held_out_seed: int, start: Path | None = None, *,
               folder: Path, checkpoints: Path) -> None:
    """Fine-tune a backbone, for queries and passages alike (David 2020, section 3.3; Zhan et al. 2020, section 3), on queries
    with a relevant passage and negatives; keep weights, tokenizer and `log.json`.

    Some queries are held out for the evaluation loss, and for the accuracy: the share of their triplets in which the relevant
    passage is nearer to the query than the negative. Both are also measured before the training.

    Args:
        pairs: columns query_id, window_id, label: the draws.
        qrels: the judgments, by which a passage of another query may be relevant too.
        training: its settings; a batch is one of queries.
        start: a folder of pre-trained weights to start from instead of the backbone's.
    """
    if training.negatives < 1 and "own" in inspect.signature(LOSSES[training.loss]).parameters:
        raise ValueError(f"the {training.loss} loss needs a negative of the query's own: raise `negatives`")
    from helpers.encoders.models import BiEncoderModel
    from helpers.networks.callbacks import Ending

    tokenizer = backbone.tokenizer()
    by_query = examples(pairs, qrels, min_relevance, queries, WindowTokens(tokens, store), tokenizer,
                        training.max_length, training.query_length)
    train, evaluation = split(by_query, training.evaluation_queries, held_out_seed, training.negatives)
    fine_tuning.seed_everything(training.seed)
    encoder = build(backbone, start, training.dropout, attn_implementation=attention())
    model = BiEncoderModel(encoder, training)
    trainer = fine_tuning.trained(
        model, training, training.evaluations, checkpoints, (train, evaluation),
        partial(batch, pad=tokenizer.pad_token_id, token_types=training.token_types and has_token_types(encoder)),
        compute_metrics=lambda prediction: {"accuracy": float(prediction.predictions.mean())},
        callbacks=[] if training.stop_after is None else [Ending(training.stop_after)], label_names=["positive"],
        per_device_eval_batch_size=training.batch_size,  # a loss over in-batch passages depends on how many there are
        eval_on_start=True)
    texts = [ids for example in train for ids in (example["query"], example["input_ids"], *example["negatives"])]
    fine_tuning.save(folder, encoder, tokenizer, {
        "queries": len(train), "negatives": sum(len(example["negatives"]) for example in train),
        "evaluation_queries": len(evaluation), "steps": trainer.state.global_step, "parameters": encoder.num_parameters(),
        "tokens": sum(len(ids) for ids in texts),
        "log": fine_tuning.logged(trainer, "step", "epoch", "loss", "eval_loss", "eval_accuracy", "learning_rate")})


# A smaller encoder that is distilled and not cut. DistilBERT (Sanh et al. 2019, arXiv:1910.01108, section 3) begins as every
# other layer of its teacher. It learns from the teacher's guesses of masked words, from these words, and from the cosine of both
# models' states. Here the states are all that there is to learn from: the packaged backbone was trained to compare texts, and
# guesses no words any more. No judgment is read.

@dataclass(frozen=True, kw_only=True)
class StateTraining(fine_tuning.FineTuning):
    """The training of an encoder on another's states."""

    evaluation_texts: int = 200  # held out, at most a tenth


@step(version=1, form="folder", network=True, resumable=True)
@fine_tuning.by_name
def distilled_encoder(queries: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone, training: StateTraining, *,
                      folder: Path, checkpoints: Path) -> None:
    """Teach some layers of a backbone the last states that all its layers have; keep weights, tokenizer and `log.json`.

    The loss of held-out texts, passages and queries alike, is measured before the training and on the way. The embeddings stay as
    they are: a training moves only those of words that it meets, away from all others. ValueError for fewer than two texts: one
    to read and one to hold out.

    Args:
        queries: column text: read beside the passages, since an encoder is asked for the vectors of both.
        tokens: those of whole texts (`windows.WHOLE`).
        backbone: the layers that the student begins as.
        training: its settings; a batch is one of texts, which are cut at `max_length` tokens.
    """
    from helpers.encoders.models import Taught

    tokenizer, texts = backbone.tokenizer(), WholeTexts(tokens, store)
    rows: list[Any] = [*map(texts.at, range(len(texts))), *query_ids(tokenizer, list(queries["text"]), training.max_length)]
    examples = {str(place): {"input_ids": wrapped(tokenizer, row, training.max_length)} for place, row in enumerate(rows)}
    train, evaluation = sides = fine_tuning.parted(examples, training.evaluation_texts, training.seed)
    fine_tuning.seed_everything(training.seed)
    student, teacher = (build(one, None, training.dropout, attn_implementation=attention())
                        for one in (backbone, backbone.whole()))
    student.embeddings.requires_grad_(False)
    trainer = fine_tuning.trained(Taught(student, teacher), training, training.evaluations, checkpoints, sides,
                                  fine_tuning.collator(tokenizer), eval_on_start=True)
    fine_tuning.save(folder, student, tokenizer, {
        "texts": len(train), "evaluation_texts": len(evaluation), "steps": trainer.state.max_steps,
        "tokens": sum(len(example["input_ids"]) for example in train), "parameters": student.num_parameters(),
        "trained_parameters": student.num_parameters(only_trainable=True), "teacher_parameters": teacher.num_parameters(),
        "log": fine_tuning.logged(trainer, "step", "epoch", "loss", "eval_loss", "learning_rate")})
