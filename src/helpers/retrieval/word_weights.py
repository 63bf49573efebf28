"""Words with the weights that DeepCT estimates, and the Lucene index of them.

A word of several pieces has the estimate of its first, and a word that occurs several times its largest one, as in the authors'
code (Dai & Callan 2019, arXiv:1910.10687).
"""

import json
import math
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.lines import json_lines
from helpers.data.texts import Texts
from helpers.networks.backbone import Backbone, attention
from helpers.networks.inference import mask_of, padded, run_batches
from helpers.networks.scoring import ready
from helpers.retrieval.lucene import build
from helpers.retrieval.term_recall import content, first_pieces
from helpers.steps import numerics, step

CHUNK = 2_000  # texts weighted at a time
WEIGHTS = "weights.jsonl"
SMOOTHINGS = ("sqrt", "none")


@step(version=1, form="folder", network=True)
def word_weights(model: Path, store: Path, max_length: int, *, folder: Path) -> None:
    """The estimated recall of every word of every text: JSON lines of id and words, in the store's order.

    A text without words has an empty line of its own, so that none goes missing.
    """
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model, trust_remote_code=False)
    scorer = ready(Backbone("", str(model)).build(AutoModelForTokenClassification, attn_implementation=attention()))
    stream = ((text.doc_id, content(text)) for text in Texts(store))
    with open(folder / WEIGHTS, "w", encoding="utf-8") as lines:
        while chunk := list(islice(stream, CHUNK)):
            for (doc_id, _), words in zip(chunk, estimates(scorer, tokenizer, [text for _, text in chunk], max_length),
                                          strict=True):
                lines.write(json.dumps({"id": doc_id, "words": words}, ensure_ascii=False) + "\n")


def estimates(model: Any, tokenizer: Any, texts: list[str], max_length: int) -> list[dict[str, float]]:
    """For each text its words with their largest estimate."""
    encoded = tokenizer(texts, truncation=True, max_length=max_length, return_offsets_mapping=True)
    inputs: list[list[int]] = encoded["input_ids"]
    weights: list[dict[str, float]] = [{} for _ in texts]

    def score(batch: np.ndarray) -> None:
        rows = [inputs[n] for n in batch]
        ids, mask = padded(rows).to(numerics.device()), mask_of(rows).to(numerics.device())
        logits = model(input_ids=ids, attention_mask=mask).logits.squeeze(-1).float().cpu().numpy()
        for row, n in zip(logits, batch, strict=True):
            for word, piece in first_pieces(texts[n], encoded["offset_mapping"][n]):
                weights[n][word] = max(weights[n].get(word, -math.inf), round(float(row[piece]), 6))

    run_batches(score, np.array([len(ids) for ids in inputs]), progress="passages weighted")
    return weights


@step(version=1, form="folder")
def weighted_index(weights: Path, scale: int, smoothing: str, *, folder: Path) -> None:
    """A Lucene index in which every word stands as often as its weight says; words of no weight are not indexed."""
    build(((line["id"], repeated(line["words"], scale, smoothing)) for line in json_lines(weights / WEIGHTS)), folder)


def repeated(words: dict[str, float], scale: int, smoothing: str) -> str:
    """Each word as often as its weight says; negative weights are 0."""
    root = math.sqrt if smoothing == "sqrt" else float
    counts = {word: round(scale * root(max(weight, 0.0))) for word, weight in words.items()}
    return " ".join(" ".join([word] * count) for word, count in counts.items() if count)


@step(version=1, form="table")
def top_weighted_terms(weights: Path, documents: list[str], words: int) -> pd.DataFrame:
    """The words of largest weight in some documents: columns doc_id, word, weight, best first."""
    doc_ids = set(documents)
    rows = [(line["id"], word, weight) for line in json_lines(weights / WEIGHTS) if line["id"] in doc_ids
            for word, weight in sorted(line["words"].items(), key=lambda item: (-item[1], item[0]))[:words]]
    return pd.DataFrame(rows, columns=["doc_id", "word", "weight"]).astype({"weight": float})
