"""The stages of the study's search application (Steensland 2021, section 4.2), resident in memory.

OR of the query's words and BM25, the windows of the first R documents through a model, their scores aggregated; then, if asked
for, feedback and both once more. Requests write nothing: what is kept are the collection's own steps.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, field_validator

from helpers.data.runs import COLUMNS, cut
from helpers.data.texts import Texts
from helpers.data.windows import WindowTokens, pair_ids, query_ids, windows
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.networks.encoder import PASSAGE, QUERY, Encoder, wrapped
from helpers.networks.fine_tuning import RankerTraining
from helpers.networks.inference import load_scorer, logits, probabilities
from helpers.pages.fragments import one_line
from helpers.reranking.aggregation import AGGREGATIONS, reranked
from helpers.retrieval import java
from helpers.retrieval.bm25 import K1, B, search_each
from helpers.retrieval.feedback import expand, search_weighted
from helpers.retrieval.fusion import z_scored_sum
from helpers.systems.pipeline import SummedReranker, title_of
from helpers.systems.rerankers import WarmUp
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZeroShotReranker
from press.rerankers import RERANKERS, named
from press.search_command import FEEDBACK
from press.serve.batching import Asking

Pairs = Sequence[tuple[str, str]]  # texts of queries with ids of windows
WindowScorer = Callable[[Pairs], np.ndarray]  # of the second stage: a score for each pair, float32
FIRST, AGAIN, ONE = "BM25", "retrieved again", "q"  # stages; how a request's only query is called
TRIED = 24  # windows that a model is timed with
rerank = reranked.definition.function  # type: ignore[attr-defined] # the step's function, without a store

LONGEST, MOST = 2_000, 200  # characters of a query; documents that are re-ranked


class CrossEncoder:
    """A fine-tuned cross-encoder; its logits (the base re-ranker) or its probabilities of relevance."""

    def __init__(self, folder: Path, bed: Testbed, spec: str, score: Callable[..., np.ndarray], settings: Any = RankerTraining):
        self._model, self._tokenizer, self._score = load_scorer(folder), backbone.resolve(spec).word_pieces(), score
        self._tokens = WindowTokens(bed.tokens(backbone.resolve(spec)).value(), bed.store.value())
        self._max_length, self._query_length = settings.max_length, settings.query_length

    def __call__(self, pairs: Pairs) -> np.ndarray:
        """See `WindowScorer`."""
        queries = list(dict.fromkeys(query for query, _ in pairs))
        ids = dict(zip(queries, query_ids(self._tokenizer, queries, self._query_length), strict=True))
        return self._score(self._model, [pair_ids(self._tokenizer, ids[query], self._max_length, self._tokens[window])
                                         for query, window in pairs])


class ZeroShot:
    """An encoder as it is: the cosine of a window's embedding and the query's, each computed once in a batch."""

    def __init__(self, settings: ZeroShotReranker, bed: Testbed):
        encoder = backbone.resolve(settings.backbone)
        self._encoder, self._length = Encoder(encoder, None, "mean", normalise=True, token_types=False), settings.max_length
        self._tokens = WindowTokens(bed.tokens(encoder).value(), bed.store.value())

    def __call__(self, pairs: Pairs) -> np.ndarray:
        """See `WindowScorer`."""
        queries, windows = ([*dict.fromkeys(side)] for side in zip(*pairs, strict=True))
        asked = self._vectors(query_ids(self._encoder.tokenizer, queries, self._length), QUERY)
        read = self._vectors([self._tokens[window] for window in windows], PASSAGE)
        of_query, of_window = dict(zip(queries, asked, strict=True)), dict(zip(windows, read, strict=True))
        return np.array([of_query[query] @ of_window[window] for query, window in pairs], np.float32)

    def _vectors(self, texts: Sequence[Any], kind: int) -> np.ndarray:
        return self._encoder.vectors([wrapped(self._encoder.tokenizer, ids, self._length) for ids in texts], kind)


def load(name: str, bed: Testbed) -> WindowScorer | None:
    """The re-ranker of a name that `check` has let pass; None for one that has no model of its own."""
    if name not in RERANKERS:
        return CrossEncoder(Path(name).expanduser(), bed, name, probabilities)
    if name not in RERANKERS[name].models:
        return None
    model = RERANKERS[name].made()
    if isinstance(model, ZeroShotReranker):
        return ZeroShot(model, bed)
    score = logits if isinstance(model, WarmUp) else probabilities
    return CrossEncoder(model.model.value(), bed, model.backbone, score, model)


def check(names: Iterable[str]) -> None:
    """BadInput for a name that is neither the book's own nor the folder of a cross-encoder with one value for a pair."""
    for name in (name for name in names if name not in RERANKERS):
        if not (Path(name).expanduser() / "config.json").is_file():
            choices = ", ".join(RERANKERS)
            raise BadInput(f"no model {name!r}", mend=f"choose from {choices}, or give the folder of a cross-encoder")
        config = backbone.configuration(backbone.resolve(str(Path(name).expanduser())))
        if not str((config.architectures or [""])[0]).endswith("ForSequenceClassification") or config.num_labels != 1:
            raise BadInput("this model gives no single value for a pair", file=name, mend="give a cross-encoder that does")


class Asked(BaseModel):
    """A request. What is unknown, of another type, or out of its limits is refused; nothing is guessed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: str = Field(max_length=LONGEST)
    k: int = Field(10, ge=1, le=MOST, description="documents shown")
    candidates: int = Field(20, ge=1, le=MOST, description="documents re-ranked: R in the thesis")
    reranker: str = Field("", max_length=40, description="one of those that /health lists; empty for the first")
    aggregation: Literal[*AGGREGATIONS] = Field("max", description="from the scores of windows to a document's")  # type: ignore[valid-type]
    feedback: Literal[*FEEDBACK] = "none"  # type: ignore[valid-type]

    @field_validator("query")
    @classmethod
    def clean(cls, query: str) -> str:
        """Control characters and half characters are blanks."""
        if not (query := one_line(query).strip()):
            raise ValueError("the query is empty")
        return query


class Engine:
    """A collection with its index and its models (see `load`), by the names that requests give, in the order in which they are
    listed: a function from a request to its `Asking`, see `Batcher`."""

    def __init__(self, bed: Testbed, models: Mapping[str, WindowScorer | None]):
        self.bed, self.models, self._usual = bed, dict(models), next(iter(models))
        self.scorers = {name: model for name, model in models.items() if model}
        self._texts, self._index = Texts(bed.store.value()), bed.index.value()
        tokens = bed.tokens(backbone.resolve("packaged")).value()
        self._windows_of = WindowTokens(tokens, bed.store.value()).windows_of
        self._trusted = {name: feedback.index(bed).value() for name, feedback in FEEDBACK.items() if feedback}
        self.texts = len(self._texts)
        self._windows_each = float(np.load(tokens / "document_starts.npy", mmap_mode="r")[-1]) / max(1, self.texts)
        java.call(search_each, self._index, [""], K1, B, 1)  # starts Java

    @property
    def trial(self) -> dict[str, list[Any]]:
        """Inputs that each scorer is timed with: the first windows."""
        some = [text for text, _ in zip(self._texts, range(TRIED), strict=False)]
        pairs = [("what is this", f"{text.doc_id}#0") for text in some]
        return {name: pairs for name in self.scorers if some}

    def expected(self, asked: Asked) -> list[tuple[str, float]]:
        """The scorers that a request needs, in turn, and about how many windows each reads."""
        models = named(asked.reranker or self._usual).models
        return [(model, asked.candidates * self._windows_each) for model in models] * (1 + (asked.feedback != "none"))

    def __call__(self, asked: Asked) -> Asking:
        """The answer: results with the scores and ranks of every stage, and the window that decided."""
        work = _Work(asked, asked.reranker or self._usual)
        hits = java.call(search_each, self._index, [asked.query], K1, B, work.depth)[0]
        work.note(FIRST, pd.DataFrame([(ONE, *hit) for hit in hits], columns=COLUMNS))
        yield from self._rerank(work, "re-ranked")
        if asked.feedback != "none":
            work.note(AGAIN, self._fed_back(work))
            yield from self._rerank(work, "re-ranked again")
        return self._answer(work)

    def _fed_back(self, work: "_Work") -> pd.DataFrame:
        feedback, query = FEEDBACK[work.asked.feedback], pd.DataFrame({"query_id": [ONE], "text": [work.asked.query]})
        assert feedback is not None
        best, index = cut(work.last, feedback.documents), self._trusted[work.asked.feedback]
        weights = java.call(expand, index, best, query, feedback.terms, feedback.weighting, None, feedback.min_documents)
        added = weights[weights["added"].astype(bool)]
        work.added = {term: round(float(weight), 4) for term, weight in zip(added["term"], added["weight"], strict=True)}
        return java.call(search_weighted, self._index, weights, [ONE], K1, B, work.depth)

    def _rerank(self, work: "_Work", name: str) -> Asking:
        """Score the windows of the first documents, each once, and aggregate them."""
        wanted = [window for doc_id in cut(work.last, work.asked.candidates)["doc_id"] for window in self._windows_of(doc_id)]
        runs = list[pd.DataFrame]()
        for model in named(work.model).models:
            scores = work.scores.setdefault(model, {})
            new = [window for window in wanted if window not in scores]
            scores.update(zip(new, (yield model, [(work.asked.query, window) for window in new]), strict=True))
            runs.append(pd.DataFrame([(ONE, window, scores[window]) for window in wanted], columns=COLUMNS))
        if not wanted or not runs:
            return work.note(name, work.last) if runs else None
        scored = z_scored_sum(runs[0], runs[1], SummedReranker.weight) if len(runs) > 1 else runs[0]
        work.windows = dict(zip(scored["doc_id"], scored["score"], strict=True))
        work.note(name, rerank(scored, work.asked.aggregation, work.last))

    def _window(self, work: "_Work", doc_id: str) -> dict[str, Any]:
        """The window that decided: the best one, or the first where that is what counts; with how many there are."""
        cutting = list(windows(self._texts[doc_id], self.bed.words, self.bed.overlap))
        scores = {w.window_id: work.windows[w.window_id] for w in cutting if w.window_id in work.windows}
        best = cutting[0].window_id if work.asked.aggregation == "first" or not scores else max(scores, key=scores.__getitem__)
        number = int(best.rsplit("#", 1)[1])
        return {"id": best, "number": number + 1, "of": len(cutting), "score": scores.get(best), "text": cutting[number].text}

    def _answer(self, work: "_Work") -> dict[str, Any]:
        shown = list(work.last["doc_id"].head(work.asked.k))
        places: dict[str, dict[str, Any]] = {doc_id: {} for doc_id in shown}
        for name, run in work.stages.items():
            for rank, (doc_id, score) in enumerate(zip(run["doc_id"], run["score"], strict=True), start=1):
                if doc_id in places:
                    places[doc_id][name] = {"rank": rank, "score": float(score)}
        return {"query": work.asked.query, "collection": self.bed.collection, "unit": self.bed.unit, "reranker": work.model,
                "score": named(work.model).score, **work.asked.model_dump(exclude={"query", "reranker"}),
                "stages": list(work.stages), "seconds": {name: round(value, 4) for name, value in work.seconds.items()},
                "added_terms": work.added,
                "results": [{"rank": rank, "doc_id": doc_id, "title": title_of(self._texts, doc_id), "stages": places[doc_id],
                             "score": places[doc_id][[*work.stages][-1]]["score"], "window": self._window(work, doc_id)}
                            for rank, doc_id in enumerate(shown, start=1)]}


class _Work:
    """A request on its way through the stages."""

    def __init__(self, asked: Asked, model: str):
        self.asked, self.model, self.depth, self._since = asked, model, max(asked.k, asked.candidates), time.perf_counter()
        self.stages: dict[str, pd.DataFrame] = {}  # the run after each
        self.seconds: dict[str, float] = {}  # of each, the turns of others included
        self.scores: dict[str, dict[str, float]] = {}  # of windows by id, as each model gave them
        self.windows: dict[str, float] = {}  # those that ranked last
        self.added: dict[str, float] = {}  # terms of the feedback with their weights

    @property
    def last(self) -> pd.DataFrame:
        """The latest run."""
        return [*self.stages.values()][-1]

    def note(self, stage: str, run: pd.DataFrame) -> None:
        """A stage has ended with this run."""
        self.stages[stage], self.seconds[stage] = run, time.perf_counter() - self._since
        self._since += self.seconds[stage]
