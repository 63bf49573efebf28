"""Fine-tuning a bi-encoder: one encoder for queries and passages (David 2020, section 3.3; Zhan et al. 2020, section 3)."""

import inspect
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data.tokens import WindowTokens
from helpers.encoders.bi_encoder_data import BiEncoderTraining, batch, examples, split
from helpers.encoders.bi_encoder_losses import LOSSES
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone, attention
from helpers.networks.encoder import build, has_token_types
from helpers.networks.training_settings import by_name
from helpers.steps import step

LOGGED = ("step", "epoch", "loss", "eval_loss", "eval_accuracy", "learning_rate")


@step(version=1, form="folder", network=True, resumable=True)
@by_name
def bi_encoder(pairs: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int, queries: pd.DataFrame, store: Path, tokens: Path,
               backbone: Backbone, training: BiEncoderTraining, held_out_seed: int, start: Path | None = None, *,
               folder: Path, checkpoints: Path) -> None:
    """Fine-tune a backbone on queries with a relevant passage and negatives; keep weights, tokenizer and `log.json`.

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
    from transformers import Trainer

    from helpers.encoders.bi_encoder_model import BiEncoderModel

    tokenizer = backbone.tokenizer()
    by_query = examples(pairs, qrels, min_relevance, queries, WindowTokens(tokens, store), tokenizer,
                        training.max_length, training.query_length)
    if len(by_query) < 2:
        raise ValueError(f"{len(by_query)} training queries have a relevant passage and a negative: at least two are wanted")
    train, evaluation = split(by_query, training.evaluation_queries, held_out_seed, training.negatives)
    fine_tuning.seed_everything(training.seed)
    encoder = build(backbone, start, training.dropout, attn_implementation=attention())
    model = BiEncoderModel(encoder, training)
    arguments = fine_tuning.training_arguments(checkpoints, len(train), training, training.evaluations)
    arguments.per_device_eval_batch_size = training.batch_size  # a loss over in-batch passages depends on how many there are
    arguments.remove_unused_columns, arguments.label_names, arguments.eval_on_start = False, ["positive"], True
    trainer = Trainer(model=model, args=arguments, train_dataset=train, eval_dataset=evaluation, compute_metrics=accuracy,
                      data_collator=partial(batch, pad=tokenizer.pad_token_id,
                                            token_types=training.token_types and has_token_types(encoder)))
    fine_tuning.fit(trainer)
    fine_tuning.save(folder, encoder, tokenizer, summary(trainer))


def accuracy(prediction: Any) -> dict[str, float]:
    """The mean of what the model says of each held-out query, for the Trainer."""
    return {"accuracy": float(prediction.predictions.mean())}


def summary(trainer: Any) -> dict[str, Any]:
    """Size, losses and accuracy of a training: the content of `log.json`."""
    log = fine_tuning.logged(trainer, *LOGGED)
    encoder, learned = trainer.model.encoder, trainer.train_dataset.examples
    texts = [ids for example in learned for ids in (example["query"], example["input_ids"], *example["negatives"])]
    return {"queries": len(learned), "negatives": sum(len(example["negatives"]) for example in learned),
            "evaluation_queries": len(trainer.eval_dataset), "steps": trainer.state.max_steps,
            "parameters": encoder.num_parameters(), "tokens": sum(len(ids) for ids in texts), "log": log}
