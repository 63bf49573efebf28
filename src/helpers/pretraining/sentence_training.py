"""Fine-tuning an encoder to compare sentences, and what it then says of others (Gao & Callan 2021, section 5.2).

The two recipes are those of Reimers & Gurevych (2019), which the study takes over:

| task | examples | loss |
|---|---|---|
| similarity | two sentences and a score | squared difference of their cosine and the score, scaled to 0 to 1 |
| sections | anchor, sentence of the same section, of another | max(0, d(anchor, same) - d(anchor, other) + margin), Euclidean |

Training and prediction are one step: only the predictions on the test examples are kept, since the models are many.
"""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.tokens import query_ids
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone, attention
from helpers.networks.encoder import QUERY, Encoder, build, inputs, wrapped
from helpers.networks.training_settings import Schedule, Training, by_name
from helpers.steps import step

PAIR, TRIPLET = ("sentence1", "sentence2"), ("anchor", "same", "other")
HIGHEST = 5.0  # a similarity score
WEIGHT_DECAY = 0.01


@step(version=1, form="table", network=True, resumable=True)
@by_name
def predicted_similarity(train: pd.DataFrame, test: pd.DataFrame, backbone: Backbone, pooling: str, schedule: Schedule,
                         start: Path | None = None, *, checkpoints: Path) -> pd.DataFrame:
    """Fine-tune on scored pairs and give the cosine of each test pair: columns pair_id, predicted.

    Args:
        train: columns sentence1, sentence2, score (0 to 5).
        schedule: of the training; no epoch leaves the encoder as it is.
        start: a folder of pre-trained weights to start from instead of the backbone's.
    """
    targets = (train["score"].astype(float) / HIGHEST).tolist()
    first, second = _trained_vectors(train, test, PAIR, targets, backbone, pooling, 0.0, schedule, start, checkpoints)
    cosines = (first * second).sum(1) / (np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1))
    return pd.DataFrame({"pair_id": test["pair_id"], "predicted": cosines.astype(float)})


@step(version=1, form="table", network=True, resumable=True)
@by_name
def triplet_accuracy(train: pd.DataFrame, test: pd.DataFrame, backbone: Backbone, pooling: str, margin: float,
                     schedule: Schedule, start: Path | None = None, *, checkpoints: Path) -> pd.DataFrame:
    """Fine-tune on triplets; whether each test anchor is nearer to its own section's sentence: columns triplet_id, accuracy.

    The sentence of the other section is to be farther by the margin (Euclidean distance). Other arguments:
    `predicted_similarity`.
    """
    anchor, same, other = _trained_vectors(train, test, TRIPLET, [0.0] * len(train), backbone, pooling, margin, schedule,
                                           start, checkpoints)
    nearer = np.linalg.norm(anchor - same, axis=1) < np.linalg.norm(anchor - other, axis=1)
    return pd.DataFrame({"triplet_id": test["triplet_id"], "accuracy": nearer.astype(float)})


def _trained_vectors(train: pd.DataFrame, test: pd.DataFrame, columns: Sequence[str], targets: list[float], backbone: Backbone,
                     pooling: str, margin: float, schedule: Schedule, start: Path | None, checkpoints: Path) -> list[np.ndarray]:
    """The vectors of the test sentences, an array a column, by the encoder fine-tuned on the training sentences."""
    from transformers import Trainer

    from helpers.pretraining.sentence_model import SentenceModel

    tokenizer = backbone.tokenizer()
    fine_tuning.seed_everything(schedule.seed)
    encoder = build(backbone, start, 0.0, attn_implementation=attention())
    sides = [[rows(tokenizer, frame[column], schedule.max_length) for column in columns] for frame in (train, test)]
    read = trim(encoder, tokenizer.pad_token_id, [ids for side in sides for texts in side for ids in texts])
    trained, tested = ([[read(ids) for ids in texts] for texts in side] for side in sides)
    if schedule.epochs:
        examples = [{"input_ids": texts[0], "texts": texts, "target": target}
                    for *texts, target in zip(*trained, targets, strict=True)]
        training = Training(**schedule.settings(Schedule), weight_decay=WEIGHT_DECAY, dropout=0.0)
        arguments = fine_tuning.training_arguments(checkpoints, len(examples), training, evaluations=1)
        arguments.eval_strategy, arguments.remove_unused_columns = "no", False
        fine_tuning.fit(Trainer(model=SentenceModel(encoder, pooling, margin), args=arguments,
                                train_dataset=fine_tuning.PairDataset(examples),
                                data_collator=partial(batch, pad=tokenizer.pad_token_id)))
    with tempfile.TemporaryDirectory() as folder:
        encoder.save_pretrained(folder)
        reader = Encoder(backbone, Path(folder), pooling, normalise=False, token_types=False)
        return [reader.vectors(texts, QUERY) for texts in tested]


def rows(tokenizer: Any, sentences: Iterable[str], max_length: int) -> list[list[int]]:
    """Sentences as ids with special tokens, cut at `max_length`."""
    return [wrapped(tokenizer, ids, max_length) for ids in query_ids(tokenizer, list(sentences), max_length)]


def trim(encoder: Any, pad: int, texts: Iterable[Sequence[int]]) -> Callable[[Sequence[int]], list[int]]:
    """Keep only the embeddings of the pieces in the texts (in place); returns what maps a text's ids to the new ones.

    Pieces that no text holds have no gradient, so leaving their rows out changes nothing that is read. With short texts, updating
    the whole table costs more than the layers do. The padding id stays what it is; `config.vocab_size` changes, too.
    """
    from torch import nn

    old = encoder.get_input_embeddings()
    used = np.array(sorted({number for ids in texts for number in ids} | set(range(pad + 1))))
    table = nn.Embedding(len(used), old.embedding_dim, padding_idx=pad)
    table.weight.data.copy_(old.weight.data[used])
    encoder.set_input_embeddings(table)
    encoder.config.vocab_size = len(used)
    place = {int(number): new for new, number in enumerate(used)}
    return lambda ids: [place[number] for number in ids]


def batch(examples: Sequence[dict[str, Any]], pad: int) -> dict[str, Any]:
    """The inputs of `sentence_model.SentenceModel.forward`: first, second (and third) sentences, each kind padded by itself."""
    import torch

    sides = zip(*(example["texts"] for example in examples), strict=True)
    return {"sentences": [inputs(side, pad) for side in sides],
            "target": torch.tensor([example["target"] for example in examples])}
