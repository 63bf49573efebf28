"""Sentences to compare: scored pairs, and triplets from the sections of documents."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.data.texts import Texts
from helpers.errors import BadInput
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
    """One side of a cross-validation: fold `number` (from 0) of the seed's shuffle, or all the others for training."""
    mine = np.arange(len(rows)) % folds == number
    shuffled = rows.sample(frac=1, random_state=seed)
    return shuffled[~mine if training else mine].reset_index(drop=True)


@step(version=1, form="table")
def section_triplets(store: Path, qrels: pd.DataFrame, count: int, seed: int, min_relevance: int) -> pd.DataFrame:
    """Triplets of sentences, columns triplet_id, anchor, same, other: two of one section, one of another section of the same
    document (Ein-Dor et al. 2018). A sentence may stand in several.

    BadInput if no document has two sections, one of them with two sentences.

    Args:
        store: the text store of documents, whose sections are separated by an empty line.
        qrels: judgments, columns doc_id and relevance: documents with a grade of `min_relevance` or more are used.
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
