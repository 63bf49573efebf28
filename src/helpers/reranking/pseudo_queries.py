"""Queries without labels, made of the texts: title and heading, spans of sentences; and queries whose answers are not used."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.data.collection_base import Text
from helpers.data.texts import Texts
from helpers.steps import step

SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
SHORTEST, LONGEST = 4, 12  # words of a span
EDGES = ".,;:!?\"'()"


@step(version=1, form="table")
def pseudo_queries(store: Path, queries: pd.DataFrame, spans: int, first: int, seed: int) -> pd.DataFrame:
    """The title and heading of every text, `spans` of its sentences, and the queries: columns query_id, text; of all these only
    `first`, 0 for all, drawn with the seed.

    What the texts are decides what may be trained with them: give the store of a split (`articles.split_store`). Their bodies
    begin with a heading and a full stop.
    """
    made = [(f"{text.doc_id}~{number}", query) for place, text in enumerate(Texts(store))
            for number, query in enumerate([heading(text), *spans_of(text, spans, np.random.default_rng([seed, place]))])]
    frame = pd.concat([pd.DataFrame(made, columns=["query_id", "text"]), queries[["query_id", "text"]]], ignore_index=True)
    return frame.sample(n=min(first or len(frame), len(frame)), random_state=seed).reset_index(drop=True)


def heading(text: Text) -> str:
    """The title and the first sentence, which is the heading of a section."""
    return f"{text.title} {text.body.partition('. ')[0]}".strip()


def spans_of(text: Text, count: int, random: np.random.Generator) -> list[str]:
    """Runs of 4 to 12 words, each within one sentence, in small letters and without the marks at its ends."""
    sentences = [words for part in SENTENCE_END.split(text.body.partition(". ")[2]) if len(words := part.split()) >= SHORTEST]
    drawn = []
    for number in random.integers(len(sentences), size=count) if sentences else []:
        words = sentences[number]
        length = int(random.integers(SHORTEST, min(LONGEST, len(words)) + 1))
        start = int(random.integers(len(words) - length + 1))
        drawn.append(" ".join(words[start:start + length]).strip(EDGES).lower())
    return drawn
