"""Tasks on sentences, on which starting points are compared: their data, and the fine-tuning."""

import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.collection_base import Text
from helpers.data.texts import Texts, write_store
from helpers.errors import BadInput
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone, attention
from helpers.networks.encoder import QUERY, Encoder, build, inputs, wrapped_texts
from helpers.networks.fine_tuning import Schedule, Training, by_name
from helpers.steps import step

SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'])")
FEWEST_WORDS = 5  # of a sentence; shorter ones are mostly headings
SECTION_BREAK = "\n\n"


@step(version=1, form="table")
def almanac_pairs() -> pd.DataFrame:
    """The Almanac's scored pairs: columns pair_id, score, sentence1, sentence2."""
    from helpers.data.almanac import Almanac

    return Almanac().similarity()


@step(version=1, form="table")
def sample(rows: pd.DataFrame, size: int, seed: int) -> pd.DataFrame:
    """The first `size` rows of the seed's shuffle, 0 for all: samples of one seed hold each other."""
    shuffled = rows.sample(frac=1, random_state=seed)
    return shuffled.head(size or len(rows)).reset_index(drop=True)


@step(version=1, form="table")
def fold(rows: pd.DataFrame, number: int, folds: int, seed: int, training: bool) -> pd.DataFrame:
    """Take one side of a cross-validation: fold `number` (from 0) of the seed's shuffle, or all the others for training."""
    mine = np.arange(len(rows)) % folds == number
    shuffled = rows.sample(frac=1, random_state=seed)
    return shuffled[~mine if training else mine].reset_index(drop=True)


@step(version=1, form="table")
def section_triplets(store: Path, qrels: pd.DataFrame, count: int, seed: int, min_relevance: int) -> pd.DataFrame:
    """Triplets of sentences, columns triplet_id, anchor, same, other: two of one section, one of another section of the same
    document (Ein-Dor et al. 2018). A sentence may stand in several.

    Sections are separated by an empty line; documents with a grade of `min_relevance` or more are used. BadInput if none of them
    has two sections, one of them with two sentences.
    """
    texts, generator = Texts(store), np.random.default_rng(seed)
    relevant = sorted(set(qrels.loc[qrels["relevance"] >= min_relevance, "doc_id"]))
    documents = [(doc_id, parts) for doc_id in relevant if doc_id in texts and (parts := sections(texts[doc_id].body))]
    usable = [(doc_id, parts) for doc_id, parts in documents if len(parts) > 1 and max(map(len, parts)) > 1]
    if not usable:
        raise BadInput("no document has two sections of sentences", mend="separate the sections of a body by an empty line")
    rows = []
    for number in range(count):
        doc_id, parts = usable[generator.integers(len(usable))]
        place = generator.choice([n for n, section in enumerate(parts) if len(section) > 1])
        elsewhere = generator.choice([n for n in range(len(parts)) if n != place])
        anchor, same = generator.choice(len(parts[place]), size=2, replace=False)
        other = generator.integers(len(parts[elsewhere]))
        rows.append((f"{doc_id}-{number}", parts[place][anchor], parts[place][same], parts[elsewhere][other]))
    return pd.DataFrame(rows, columns=["triplet_id", "anchor", "same", "other"])


def sections(body: str) -> list[list[str]]:
    """The sentences of every section that has any."""
    parts = [[sentence.strip() for sentence in SENTENCE_END.split(section) if len(sentence.split()) >= FEWEST_WORDS]
             for section in body.split(SECTION_BREAK)]
    return [section for section in parts if section]


# Is this sentence the next? BERT's second task in pre-training (Devlin et al. 2019, section 3.1), as groups for a cross-encoder.

@step(version=1, form="folder")
def sentence_store(store: Path, *, folder: Path) -> None:
    """The text store of the sentences of some texts, `<doc_id>~<number>`, in their order and without titles."""
    write_store(folder, (Text(f"{text.doc_id}~{number}", "", sentence) for text in Texts(store)
                         for number, sentence in enumerate(chain.from_iterable(sections(text.body)))))


@step(version=1, form="table")
def sentence_queries(sentences: Path) -> pd.DataFrame:
    """The sentences of a store as queries: columns query_id, text."""
    return pd.DataFrame([(text.doc_id, text.body) for text in Texts(sentences)], columns=["query_id", "text"])


@step(version=1, form="table")
def next_sentences(sentences: Path, first: int, seed: int) -> pd.DataFrame:
    """Groups of sentences that another follows in their text: that one, and one drawn at random from all; `first` of them, or all
    if there are fewer.

    Half of BERT's pairs are of the second kind, too. Columns as of `reranking.groups`; nobody teaches. BadInput if no sentence
    is followed by another.
    """
    ids = [text.doc_id for text in Texts(sentences)]
    pairs = [pair for pair in pairwise(ids) if len({doc_id.rpartition("~")[0] for doc_id in pair}) == 1]
    if not pairs:
        raise BadInput("no sentence of these texts is followed by another", mend="take texts of at least two sentences")
    random = np.random.default_rng(seed)
    rows = [(sentence, f"{other}#0", label, 0.0) for sentence, following in random.permutation(pairs)[:first]
            for other, label in ((following, 1), (ids[random.integers(len(ids))], 0))]
    return pd.DataFrame(rows, columns=["query_id", "window_id", "label", "teacher"])


# Fine-tuning an encoder to compare sentences, and what it then says of others (Gao & Callan 2021, section 5.2); the two losses
# are those of `heads.sentence_loss`. Training and prediction are one step: only the predictions on the test examples are kept,
# since the models are many.

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
    from helpers.pretraining.heads import SentenceModel

    tokenizer = backbone.tokenizer()
    fine_tuning.seed_everything(schedule.seed)
    encoder = build(backbone, start, 0.0, attn_implementation=attention())
    sides = [[wrapped_texts(tokenizer, frame[column], schedule.max_length) for column in columns] for frame in (train, test)]
    read = trim(encoder, tokenizer.pad_token_id, [ids for side in sides for texts in side for ids in texts])
    trained, tested = ([[read(ids) for ids in texts] for texts in side] for side in sides)
    if schedule.epochs:
        examples = [{"input_ids": texts[0], "texts": texts, "target": target}
                    for *texts, target in zip(*trained, targets, strict=True)]
        training = Training(**schedule.settings(Schedule), weight_decay=WEIGHT_DECAY, dropout=0.0)
        fine_tuning.trained(SentenceModel(encoder, pooling, margin), training, 1, checkpoints, (examples, None),
                            partial(batch, pad=tokenizer.pad_token_id), eval_strategy="no")
    with tempfile.TemporaryDirectory() as folder:
        encoder.save_pretrained(folder)
        reader = Encoder(backbone, Path(folder), pooling, normalise=False, token_types=False)
        return [reader.vectors(texts, QUERY) for texts in tested]


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
    """The inputs of `heads.SentenceModel`: first, second (and third) sentences, each kind padded by itself."""
    import torch

    sides = zip(*(example["texts"] for example in examples), strict=True)
    return {"sentences": [inputs(side, pad) for side in sides],
            "target": torch.tensor([example["target"] for example in examples])}
