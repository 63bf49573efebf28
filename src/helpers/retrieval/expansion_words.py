"""The words that an expansion adds to each passage, in the form of doc2query's queries, so that the same index takes them."""

import json
from collections.abc import Container, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.data.lines import json_lines
from helpers.data.texts import Texts
from helpers.retrieval import java
from helpers.retrieval.doc2query import QUERIES
from helpers.retrieval.expansion_training import VECTORS
from helpers.retrieval.lucene import analysed
from helpers.retrieval.term_recall import content
from helpers.steps import step

CHUNK = 500  # passages scored at a time


@step(version=1, form="folder", network=True)
def expansion_words(model: Path, passages: Path, store: Path, words: int, *, folder: Path) -> None:
    """The `words` likeliest words that each text lacks: JSON lines of id and queries (one, of these words, the likeliest first),
    in the store's order.

    Words are told apart as in the index: a text that has `rusted` does not lack `rust`, and of two words with one stem only the
    likelier is added.

    Args:
        model: the folder of `word_expansion`.
        passages: the folder of the vectors of the store's texts, in its order.
    """
    import torch

    from helpers.retrieval.expansion_model import load

    (network, table), vectors, texts = load(model), np.load(passages / VECTORS, mmap_mode="r"), iter(Texts(store))
    known, their_terms = list(table["word"]), list(table["term"])
    with open(folder / QUERIES, "w", encoding="utf-8") as lines, torch.inference_mode():
        for start in range(0, len(vectors), CHUNK):
            chunk = list(islice(texts, CHUNK))
            scores = network.scores(torch.tensor(vectors[start:start + len(chunk)])).numpy()
            terms = java.call(analysed, [content(text) for text in chunk])
            for text, row in zip(chunk, scores, strict=True):
                added = lacking(row, known, their_terms, set(terms[content(text)]), words)
                lines.write(json.dumps({"id": text.doc_id, "queries": [" ".join(added)]}) + "\n")


def lacking(scores: np.ndarray, words: Sequence[str], terms: Sequence[str], has: Container[str], most: int) -> list[str]:
    """The `most` words of the highest scores whose terms a text does not have, each term once; equal scores in the words' order.

    Args:
        scores: (words,).
        terms: of each word.
        has: the text's terms.
    """
    added: dict[str, str] = {}
    for place in np.argsort(-scores, kind="stable"):
        if len(added) == most:
            break
        if terms[place] not in has:
            added.setdefault(terms[place], words[place])
    return list(added.values())


@step(version=1, form="table")
def added_words(expansion: Path, documents: list[str], words: int) -> pd.DataFrame:
    """The first words that were added to some documents: columns doc_id, words (with spaces between them)."""
    doc_ids = set(documents)
    rows = [(line["id"], " ".join(line["queries"][0].split()[:words])) for line in json_lines(expansion / QUERIES)
            if line["id"] in doc_ids]
    return pd.DataFrame(rows, columns=["doc_id", "words"])
