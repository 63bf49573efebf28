"""The stages of the study's search application (Steensland 2021, section 4.2), resident in memory, for several requests at once.

OR of the query's words and BM25, the windows of the first R documents through a model, their scores aggregated; then, if asked
for, feedback and both once more, and a comparison in pairs. Requests write nothing: what is kept are the collection's own steps.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.queries import adhoc_queries
from helpers.data.runs import COLUMNS, cut
from helpers.data.texts import Texts
from helpers.data.windows import windows
from helpers.networks import backbone
from helpers.reranking import aggregation
from helpers.reranking.duo import compared, duo_scores, reordered
from helpers.retrieval import java
from helpers.retrieval.bm25 import K1, B, search_each
from helpers.retrieval.feedback import expand, search_weighted
from helpers.systems.pipeline import title_of
from helpers.systems.testbed import Testbed
from press.search_command import FEEDBACK
from press.serve.asked import Asked
from press.serve.models import NONE, Pairwise, WindowScorer

FIRST, AGAIN, PAIRS = "BM25", "retrieved again", "in pairs"
rerank = aggregation.reranked.definition.function  # type: ignore[attr-defined] # the step's function, without a store


class Engine:
    """A collection with its index and its models.

    Args:
        models: by the names that requests give, in the order in which they are listed; see `models.load`.
        pairwise: the third stage, if there is one.
    """

    def __init__(self, bed: Testbed, models: Mapping[str, WindowScorer | None], pairwise: Pairwise | None = None):
        self.bed, self.models, self.pairwise = bed, dict(models), pairwise
        self._texts, self._index = Texts(bed.store.value()), bed.index.value()
        tokens = bed.tokens(backbone.resolve("packaged")).value()
        self._document_starts = np.load(tokens / "document_starts.npy", mmap_mode="r")
        self._trusted = {name: own.index(bed).value() for name, own in FEEDBACK.items() if own is not None}
        self.texts = len(self._texts)
        self.windows_each = float(self._document_starts[-1]) / max(1, self.texts)
        java.call(search_each, self._index, [""], K1, B, 1)  # starts Java

    @staticmethod
    def of(collection: str, unit: str) -> Testbed:
        """The collection, without queries of its own."""
        return Testbed(collection, unit, adhoc_queries=adhoc_queries([]))

    def cost(self, asked: Asked) -> float:
        """About how many windows a model reads for a request."""
        rounds = 0 if self.model_of(asked) == NONE else 1 if asked.feedback == NONE else 2
        return asked.candidates * self.windows_each * rounds

    def model_of(self, asked: Asked) -> str:
        """The name of the model that a request is for."""
        return asked.reranker or next(iter(self.models))

    def __call__(self, requests: Sequence[Asked]) -> list[dict[str, Any]]:
        """The answers: results with the scores and ranks of every stage, and the window that decided."""
        work = [_Work(number, asked, self.model_of(asked)) for number, asked in enumerate(requests)]
        frame = pd.DataFrame({"query_id": [one.name for one in work], "text": [one.asked.query for one in work]})
        self._stage(work, FIRST, lambda some: self._retrieved(some, max(one.depth for one in some)))
        self._rerank(work, "re-ranked")
        fed = [one for one in work if one.asked.feedback != NONE]
        for kind in dict.fromkeys(one.asked.feedback for one in fed):
            self._stage([one for one in fed if one.asked.feedback == kind], AGAIN,
                        lambda some, kind=kind: self._fed_back(some, kind, frame))
        self._rerank(fed, "re-ranked again")
        self._pairs([one for one in work if one.asked.pairwise != NONE])
        return [self._answer(one, len(work)) for one in work]

    def _stage(self, work: "list[_Work]", name: str, run_of: Callable[..., pd.DataFrame]) -> None:
        started = time.perf_counter()
        runs = dict(list(run_of(work).groupby("query_id")))
        for one in work:
            one.stages[name] = cut(runs.get(one.name, pd.DataFrame(columns=COLUMNS)), one.depth)
            one.seconds[name] = time.perf_counter() - started

    def _retrieved(self, work: "list[_Work]", depth: int) -> pd.DataFrame:
        hits = java.call(search_each, self._index, [one.asked.query for one in work], K1, B, depth)
        return pd.DataFrame([(one.name, *hit) for one, own in zip(work, hits, strict=True) for hit in own], columns=COLUMNS)

    def _fed_back(self, work: "list[_Work]", kind: str, frame: pd.DataFrame) -> pd.DataFrame:
        own, mine = FEEDBACK[kind], frame[frame["query_id"].isin([one.name for one in work])]
        assert own is not None
        best = pd.concat([cut(one.last, own.documents) for one in work])
        weights = java.call(expand, self._trusted[kind], best, mine, own.terms, own.weighting)
        for one in work:
            added = weights[(weights["query_id"] == one.name) & weights["added"]]
            one.added = {term: round(float(weight), 4) for term, weight in zip(added["term"], added["weight"], strict=True)}
        return java.call(search_weighted, self._index, weights, list(mine["query_id"]), K1, B, max(one.depth for one in work))

    def _rerank(self, work: "list[_Work]", name: str) -> None:
        """Score the windows of all requests that share a model together, each once, and aggregate them request by request."""
        for model in dict.fromkeys(one.model for one in work if self.models.get(one.model)):
            started, mine = time.perf_counter(), [one for one in work if one.model == model]
            wanted = {(one.name, window): (one.asked.query, window) for one in mine for window in self._windows(one)
                      if window not in one.windows}
            scores = self.models[model](list(wanted.values())) if wanted else []  # type: ignore[misc]
            of = {one.name: one for one in mine}
            for (query, window), score in zip(wanted, scores, strict=True):
                of[query].windows[window] = float(score)
            for one in mine:
                scored = pd.DataFrame([(one.name, w, one.windows[w]) for w in self._windows(one)], columns=COLUMNS)
                one.stages[name] = rerank(scored, one.asked.aggregation, one.last) if len(scored) else one.last
                one.seconds[name] = time.perf_counter() - started

    def _windows(self, one: "_Work") -> list[str]:
        counts = self._document_starts
        places = {doc_id: self._texts.position(doc_id) for doc_id in cut(one.last, one.asked.candidates)["doc_id"]}
        return [f"{doc_id}#{n}" for doc_id, place in places.items() for n in range(int(counts[place + 1] - counts[place]))]

    def _pairs(self, work: "list[_Work]") -> None:
        """The third stage: the first documents, each by its deciding window, in the order of their comparisons."""
        started, asked, places = time.perf_counter(), list[tuple[str, str, str]](), list[tuple[_Work, int, int]]()
        for one in work:
            heads = [self._window(one, doc_id)["text"] for doc_id in one.last["doc_id"].head(one.asked.paired)]
            pairs = compared(len(heads), one.asked.pairwise, one.asked.sample)
            asked += [(one.asked.query, heads[i], heads[j]) for i, j in pairs]
            places += [(one, i, j) for i, j in pairs]
            one.wins = np.full((len(heads), len(heads)), np.nan)
        for (one, i, j), value in zip(places, self.pairwise(asked) if self.pairwise and asked else [], strict=True):
            one.wins[i, j] = value
        for one in work:
            one.stages[PAIRS] = reordered(one.last, duo_scores(one.wins, one.asked.pairwise))
            one.seconds[PAIRS] = time.perf_counter() - started

    def _window(self, one: "_Work", doc_id: str) -> dict[str, Any]:
        """The window that decided: the best one, or the first where that is what counts; with how many there are."""
        cutting = list(windows(self._texts[doc_id], self.bed.words, self.bed.overlap))
        known = {w.window_id: one.windows[w.window_id] for w in cutting if w.window_id in one.windows}
        best = cutting[0].window_id if one.asked.aggregation == "first" or not known else max(known, key=known.__getitem__)
        number = int(best.rsplit("#", 1)[1])
        return {"id": best, "number": number + 1, "of": len(cutting), "score": known.get(best), "text": cutting[number].text}

    def _answer(self, one: "_Work", together: int) -> dict[str, Any]:
        shown = list(one.last["doc_id"].head(one.asked.k))
        places: dict[str, dict[str, Any]] = {doc_id: {} for doc_id in shown}
        for name, run in one.stages.items():
            for rank, (doc_id, score) in enumerate(zip(run["doc_id"], run["score"], strict=True), start=1):
                if doc_id in places:
                    places[doc_id][name] = {"rank": rank, "score": float(score)}
        return {"query": one.asked.query, "collection": self.bed.collection, "unit": self.bed.unit, "reranker": one.model,
                **one.asked.model_dump(exclude={"query", "reranker"}), "stages": list(one.stages),
                "seconds": {name: round(value, 4) for name, value in one.seconds.items()}, "answered_together": together,
                "added_terms": one.added,
                "results": [{"rank": rank, "doc_id": doc_id, "title": title_of(self._texts, doc_id), "stages": places[doc_id],
                             "score": places[doc_id][[*one.stages][-1]]["score"], "window": self._window(one, doc_id)}
                            for rank, doc_id in enumerate(shown, start=1)]}


class _Work:
    """A request on its way through the stages."""

    def __init__(self, number: int, asked: Asked, model: str):
        self.name, self.asked, self.model, self.depth = str(number), asked, model, max(asked.k, asked.candidates)
        self.stages: dict[str, pd.DataFrame] = {}  # the run after each
        self.seconds: dict[str, float] = {}  # that each took for all requests of the batch
        self.windows: dict[str, float] = {}  # scores by id
        self.added: dict[str, float] = {}  # terms of the feedback with their weights
        self.wins = np.zeros((0, 0))

    @property
    def last(self) -> pd.DataFrame:
        """The latest run."""
        return [*self.stages.values()][-1]
