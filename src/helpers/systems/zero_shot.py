"""A re-ranker without fine-tuning: the backbone as it is.

A re-ranker that somebody else trained: a cross-encoder, or a bi-encoder of sentence-transformers, as it is.

    Pipeline(GivenReranker("hub:cross-encoder/ms-marco-MiniLM-L6-v2@<commit hash>"))
    Pipeline(GivenReranker("/a/folder"))

Nothing of it is changed. A model whose architecture ends in `ForSequenceClassification` is a cross-encoder, and its logits are
the scores; any other is a bi-encoder with the pooling, prompts and similarity that it names.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from helpers.data import hub
from helpers.data.runs import COLUMNS, cut
from helpers.data.texts import Texts
from helpers.data.windows import windows
from helpers.encoders.embeddings import dense_window_scores
from helpers.errors import BadInput
from helpers.evaluation.verdicts import model_name
from helpers.networks import backbone
from helpers.networks.encoder import WholeModel, bi_encoder, given, load_settings
from helpers.networks.inference import AT_ONCE
from helpers.steps import Step, step
from helpers.systems.testbed import Testbed

ZERO_SHOT = "zero-shot"  # how the names of such systems begin
T = TypeVar("T")


@dataclass(frozen=True)
class ZeroShotReranker:
    """A backbone as it is, as a re-ranker: the cosine of its embeddings, without any fine-tuning."""

    backbone: str = "packaged"
    max_length: int = 256  # tokens of a window or a query

    @property
    def label(self) -> str:
        """How tables name it, `zero-shot MiniLM`: by the backbone."""
        return f"{ZERO_SHOT} {model_name(self.backbone)}"

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` documents with the cosine of its embedding and the query's."""
        encoder = backbone.resolve(self.backbone)
        return dense_window_scores(encoder, run, bed.query_step, bed.store, bed.tokens(encoder), candidates, self.max_length)


def zero_shot_in(systems: Mapping[str, T]) -> T:
    """The encoder as it is among systems by name: the first whose name says so."""
    return next(system for name, system in systems.items() if name.startswith(ZERO_SHOT))


@dataclass(frozen=True)
class GivenReranker:
    """A whole model by its folder or its hub id with revision."""

    model: str

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` documents with the model's score."""
        return given_window_scores(given(self.model), run, bed.query_step, bed.store, bed.words, bed.overlap, candidates)


@step(version=1, form="run", network=True)
def given_window_scores(model: WholeModel, run: pd.DataFrame, queries: pd.DataFrame, store: Path, words: int, overlap: int,
                        candidates: int) -> pd.DataFrame:
    """Score the windows of each query's top documents: a run of windows; inputs are cut where the model says."""
    texts, asked, score = Texts(store), dict(zip(queries["query_id"], queries["text"], strict=True)), scoring(model)
    stream = ((query, window) for query, doc_id in cut(run, candidates)[["query_id", "doc_id"]].itertuples(index=False)
              for window in windows(texts[doc_id], words, overlap))
    rows: list[tuple[str, str, float]] = []
    while pairs := list(islice(stream, AT_ONCE)):
        values = score([(asked[query], window.text) for query, window in pairs])
        rows += [(query, window.window_id, float(value)) for (query, window), value in zip(pairs, values, strict=True)]
    return pd.DataFrame(rows, columns=COLUMNS)


def scoring(model: WholeModel) -> Callable[[Sequence[tuple[str, str]]], np.ndarray]:
    """A function from (query, text) pairs to their scores; BadInput for a cross-encoder with several outputs, see also
    `encoder.bi_encoder`."""
    import torch
    from sentence_transformers import CrossEncoder
    from transformers.utils import logging

    logging.disable_progress_bar()
    known = backbone.configuration(model)
    if not (known.architectures or [""])[0].endswith("ForSequenceClassification"):
        return partial(_similarities, bi_encoder(model))
    if known.num_labels != 1:
        raise BadInput(f"{model.spec!r} gives {known.num_labels} values for a pair", mend="use one that gives a single value")
    with hub.asking(model.source, model.revision):
        ranker = CrossEncoder(model.source, activation_fn=torch.nn.Identity(), **load_settings(model))
    return lambda pairs: ranker.predict(list(pairs), show_progress_bar=False)


def _similarities(encoder: Any, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    queries, texts = (list(dict.fromkeys(side)) for side in zip(*pairs, strict=True))
    asked = dict(zip(queries, encoder.encode_query(queries, show_progress_bar=False, convert_to_tensor=True), strict=True))
    read = dict(zip(texts, encoder.encode_document(texts, show_progress_bar=False, convert_to_tensor=True), strict=True))
    return np.array([encoder.similarity(asked[query], read[text]).item() for query, text in pairs], np.float32)
