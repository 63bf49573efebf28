"""The work that contenders share: how much, its queries with candidates as texts and as tokens, the measures of a ranking."""

import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.runs import COLUMNS, cut
from helpers.data.texts import Texts
from helpers.data.windows import WindowTokens, pair_ids, query_ids, windows
from helpers.networks import backbone
from helpers.networks.encoder import SCORING, write_whole
from helpers.reranking.aggregation import aggregate
from helpers.retrieval.bm25 import K1, B
from helpers.systems.rerankers import Listwise, ListwiseReranker, WarmUp
from helpers.systems.testbed import Testbed

MEASURES = ["nDCG@10", "RR@10"]
DEPTH = 100


@dataclass(frozen=True)
class Scale:
    """The sizes of all sections."""

    collection: str  # what is ranked
    unit: str  # of it
    queries: int  # whose candidates are re-ranked
    candidates: int  # of each
    encoded: int  # queries whose candidates are encoded
    searched: int  # queries of BM25
    model: Listwise  # the cross-encoder that re-ranks
    sizes: tuple[str, ...] = ()  # shapes of models for queries a minute; none for the six of Steensland's table 5.5
    ranked: int = 2  # queries ranked by each of them in a round
    steps: int = 50  # of training in a round
    growth: tuple[int, int, int] = (20, 200, 10)  # the smallest number of queries, documents and candidates
    times: tuple[int, ...] = (1, 10, 100)  # how many times as many are tried
    passages: tuple[int, ...] = (20_000, 200_000, 2_000_000)  # of the generated collections that are streamed
    generated_queries: int = 200  # their queries, of training and of test each
    repetitions: int = 2_000  # of each experiment that verdicts are calibrated with

    @property
    def bed(self) -> Testbed:
        """The texts, with all test queries."""
        return Testbed(self.collection, self.unit)


def scale(small: bool) -> Scale:
    """What is measured: the Almanac's passages and the re-ranker that comes with the book; or a trial."""
    if small:
        return trial()
    return Scale("almanac", "passage", queries=16, candidates=20, encoded=8, searched=400, model=WarmUp())


def trial(collection: str = "almanac", unit: str = "passage") -> Scale:
    """A trial of seconds a section: one layer, trained for a moment."""
    model = ListwiseReranker(collection=collection, unit=unit, queries=40, candidates=10, negatives="random", size=3,
                             backbone="packaged:0", evaluation_queries=4, evaluations=1, losses={"bce": 1.0})
    return Scale(collection, unit, queries=4, candidates=5, encoded=1, searched=10, model=model, sizes=("1/32/2", "2/32/2"),
                 ranked=1, steps=3, growth=(1, 5, 2), times=(1, 2, 4), passages=(300, 600), generated_queries=30, repetitions=20)


def prepare(scale: Scale) -> None:
    """Compute the steps that work rests on: run, index, tokens, judgments, model."""
    work, bed = Work(scale), scale.bed
    for step in (work.run_step, bed.index, bed.store, bed.tokens(work.encoder), bed.qrels_step, scale.model.model):
        step.value()


def token_ids(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    """Texts as word pieces, without special tokens and without truncation."""
    return tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]


@dataclass(frozen=True)
class Work:
    """The candidates of some queries: BM25's first ones, in windows."""

    scale: Scale  # how many

    @property
    def encoder(self) -> backbone.Backbone:
        """The backbone, for its tokenizer."""
        return backbone.resolve(self.scale.model.backbone)

    @property
    def run_step(self) -> Any:
        """BM25's run for all test queries."""
        return self.scale.bed.bm25(K1, B, max(DEPTH, self.scale.candidates))

    @functools.cached_property
    def whole_model(self) -> tempfile.TemporaryDirectory[str]:
        """The model for other libraries."""
        folder = tempfile.TemporaryDirectory()
        model = self.scale.model
        write_whole(model.model.value(), Path(folder.name), model.max_length, SCORING["window_scores"])
        return folder

    @functools.cached_property
    def queries(self) -> pd.DataFrame:
        """The queries: the first of those that have judgments."""
        bed = self.scale.bed
        return bed.query_frame[bed.query_frame["query_id"].isin(set(bed.judged))].head(self.scale.queries)

    @functools.cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """(query id, window id) of all windows of all candidates."""
        run = self.run_step.value()
        kept = cut(run[run["query_id"].isin(set(self.queries["query_id"]))], self.scale.candidates)
        return [(query, window) for query, doc_id in kept[["query_id", "doc_id"]].itertuples(index=False)
                for window in self.reader.windows_of(doc_id)]

    @functools.cached_property
    def reader(self) -> WindowTokens:
        """The windows as stored tokens."""
        bed = self.scale.bed
        return WindowTokens(bed.tokens(self.encoder).value(), bed.store.value())

    @functools.cached_property
    def window_texts(self) -> dict[str, str]:
        """The candidates' windows as texts."""
        bed, documents = self.scale.bed, dict.fromkeys(window.rsplit("#", 1)[0] for _, window in self.pairs)
        store = Texts(bed.store.value())
        return {w.window_id: w.text for doc_id in documents for w in windows(store[doc_id], bed.words, bed.overlap)}

    @functools.cached_property
    def text_pairs(self) -> list[tuple[str, str]]:
        """(query, window) as texts, in the order of `pairs`."""
        texts = dict(zip(self.queries["query_id"], self.queries["text"], strict=True))
        return [(texts[query], self.window_texts[window]) for query, window in self.pairs]

    def inputs(self, tokenizer: Any, from_texts: bool = False) -> list[tuple[list[int], list[int]]]:
        """The pairs as a cross-encoder's inputs: from the stored tokens, or from texts, each window tokenised once."""
        model, texts = self.scale.model, list(self.queries["text"])
        ids = dict(zip(self.queries["query_id"], query_ids(tokenizer, texts, model.query_length), strict=True))
        tokens: Any = self.reader
        if from_texts:
            names = list(dict.fromkeys(window for _, window in self.pairs))
            read = token_ids(tokenizer, [self.window_texts[name] for name in names])
            tokens = dict(zip(names, map(np.asarray, read), strict=True))
        return [pair_ids(tokenizer, ids[query], model.max_length, tokens[window]) for query, window in self.pairs]

    def measured(self, scores: np.ndarray) -> pd.DataFrame:
        """nDCG@10 and RR@10 of each query, for scores in the order of `pairs`; a text scores as its windows' mean."""
        bed = self.scale.bed
        frame = pd.DataFrame([(*pair, float(score)) for pair, score in zip(self.pairs, scores, strict=True)], columns=COLUMNS)
        return bed.per_query(aggregate(frame, "mean"), MEASURES, list(self.queries["query_id"]))
