"""Alarfaj's pipeline as one value: classical ranking, neural re-ranking, feedback, final ranking (Alarfaj 2022, chapter 4).

    pipeline = Pipeline(feedback=Feedback(), aggregation="max")
    pipeline.search("why does bread turn brown")                  # one query or a list of them
    pipeline.run(Testbed("almanac", splits=("topics",)))          # a step: the final run of a testbed's queries

Each stage is a step, so that pipelines share what they have in common.
"""

import importlib
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import pandas as pd

from helpers.data.runs import adhoc_queries, ranks
from helpers.data.texts import Texts
from helpers.data.windows import windows
from helpers.errors import BadInput
from helpers.networks.backbone import resolve
from helpers.reranking.aggregation import reranked
from helpers.retrieval import java
from helpers.retrieval.bm25 import K1, B
from helpers.retrieval.feedback import expanded_texts, surface_words, weighted_queries, weighted_run
from helpers.retrieval.fusion import z_scored
from helpers.retrieval.indexes import first_pieces_index
from helpers.steps import Step
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Scorer
from helpers.systems.first_stages import GivenFirstStage
from helpers.systems.rerankers import WarmUp
from helpers.systems.testbed import SearchTestbed, Testbed
from helpers.systems.zero_shot import ZeroShotReranker

TITLE_WORDS = 12
LONGEST_TITLE = 300  # characters that are shown
WORDS, STRIDE = 36, 6  # words of a snippet; between the places where one may begin
SENTENCE = re.compile(r"[.!?]\s+(?=[A-Z0-9])")  # what stands before a new one
ALL = 10**9  # windows of a query: all that were scored


def import_models() -> None:
    """Begin to import what most re-rankers need, in a thread; whoever needs it sooner waits for it as ever."""
    threading.Thread(target=importlib.import_module, args=("helpers.networks.bert",)).start()


def passage(window: str, title: str, is_first: bool) -> str:
    """The beginning of a window without the text's title, from the first sentence that begins in it."""
    body = window.removeprefix(" ".join(title.split())).strip()
    begun = None if is_first else SENTENCE.search(body)
    words = body[begun.end():].split() if begun else body.split()
    return "… " * (not is_first) + " ".join(words[:WORDS]) + " …" * (len(words) > WORDS)


def snippet(body: str, query: str) -> str:
    """The first of the stretches of a text that hold most of the query's words, as they are written; all of a short text."""
    words, asked = body.split(), set(re.findall(r"\w+", query.casefold()))
    starts = range(0, max(1, len(words) - WORDS + STRIDE), STRIDE)
    best = max(starts, key=lambda start: len(asked & set(re.findall(r"\w+", " ".join(words[start:start + WORDS]).casefold()))))
    return "… " * (best > 0) + " ".join(words[best:best + WORDS]) + " …" * (best + WORDS < len(words))


@dataclass(frozen=True)
class SummedReranker:
    """Two re-rankers as one: the scores that both give to a window, standardised within a query, as `weight` x first + (1 -
    `weight`) x second.

    The book's base learned from the zero-shot encoder's scores, on one collection. Of other texts and queries the encoder knows
    what the base has not met, and their sum ranks near the better of the two or above it (chapter `human_judgments`).
    """

    first: Scorer = field(default_factory=WarmUp)
    second: Scorer = field(default_factory=ZeroShotReranker)
    weight: float = 0.5  # nothing is known of a reader's own queries that would favour one

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` texts with the sum."""
        return z_scored(self.first.scores(bed, run, candidates), self.second.scores(bed, run, candidates), ALL, self.weight)


@dataclass(frozen=True)
class Feedback:
    """Pseudo-relevance feedback (Alarfaj 2022, sections 2.6 and 5.7)."""

    documents: int = 5  # documents trusted (K)
    terms: int = 10  # terms taken from them (k)
    # word pieces of each document that the index of the terms holds (PI, the passage index); 0 for whole documents (FI)
    pieces: int = 0
    within: int = 0  # with the full index, only terms that stand in so many pieces of the trusted documents; 0 for all
    min_documents: int = 2  # trusted documents that a new term must occur in (Terrier's default)
    retrieve: bool = True  # whether the expanded query retrieves new candidates; if not, it ranks the old ones again (J)
    form: str = "best"  # how the model reads the expanded query, see `expanded_queries`; `""` for the query as it was
    weighting: str = "Bo1"  # of terms, see `feedback.WEIGHTINGS`
    backbone: str = "packaged"  # whose tokenizer makes the pieces

    def weights(self, bed: Testbed, run: Step) -> Step:
        """The expanded queries, from the best documents of a run."""
        shown = first_pieces_index(bed.store, resolve(self.backbone), self.within) if self.within else None
        return weighted_queries(self.index(bed), run, bed.query_step, self.documents, self.terms, self.weighting, shown,
                                self.min_documents)

    def index(self, bed: Testbed) -> Step:
        """The index whose counts and document vectors are used."""
        return first_pieces_index(bed.store, resolve(self.backbone), self.pieces) if self.pieces else bed.index

    def reading(self, bed: Testbed, run: Step) -> Testbed:
        """The testbed with the queries that the model reads."""
        if not self.form:
            return bed
        weights, index = self.weights(bed, run), bed.index
        words = None if self.form == "best" else surface_words(index, weights, run, bed.store, self.documents)
        return replace(bed, adhoc_queries=expanded_texts(bed.query_step, weights, self.form, words))


@dataclass(frozen=True)
class Pipeline:
    """Stages and their settings."""

    model: Scorer | None = field(default_factory=SummedReranker)  # the re-ranker; None leaves out re-ranking
    feedback: Feedback | None = None  # None leaves it out. Without a model the classical ranker alone uses it.
    candidates: int = 100  # documents re-ranked for each query; those below keep their order
    aggregation: str = "first"  # from window scores to a document's score
    depth: int = 100  # documents retrieved for each query, at least `candidates`
    k1: float = K1
    b: float = B
    retriever: BiEncoder | GivenFirstStage | None = None  # None for BM25, by which feedback retrieves in any case

    def stages(self, bed: Testbed) -> dict[str, Step]:
        """The run after every stage, in order; the last is the final ranking."""
        depth = max(self.depth, self.candidates)
        first = bed.bm25(self.k1, self.b, depth) if self.retriever is None else self.retriever.run(bed, depth)
        runs = {"BM25" if self.retriever is None else "dense": first}
        if self.model is not None:
            runs["re-ranked"] = self._reranked(bed, first)
        if self.feedback is None:
            return runs
        trusted = [*runs.values()][-1]
        if self.feedback.retrieve:
            weights = self.feedback.weights(bed, trusted)
            runs["retrieved again"] = weighted_run(bed.index, weights, bed.query_step, self.k1, self.b, depth)
        if self.model is not None:
            runs["re-ranked again"] = self._reranked(self.feedback.reading(bed, trusted), runs.get("retrieved again", first))
        return runs

    def run(self, bed: Testbed) -> Step:
        """The final ranking of a testbed's queries."""
        return [*self.stages(bed).values()][-1]

    def search(self, queries: str | Sequence[str], collection: str = "almanac", unit: str = "", k: int = 10) -> pd.DataFrame:
        """Rank a collection for one query or for a list of them; BadInput if a query is not a text.

        Args:
            queries: any text; one without a word that the index knows gets no documents.
            unit: `document` or `passage`; by default documents, if the collection has any.
            k: documents shown for each query.

        Returns:
            Columns query, rank, doc_id, score, title, snippet; best first. A text without a title has its first words for one,
            and no snippet. The snippet of a re-ranked text is from the window that decided, of others it has the query's words.
        """
        texts = [queries] if isinstance(queries, str) else list(queries)
        if odd := [text for text in texts if not isinstance(text, str)]:
            raise BadInput(f"a query must be a text, not {odd[0]!r}", mend="give a string or a list of strings")
        bed = SearchTestbed(collection, unit, adhoc_queries=adhoc_queries(texts))
        final = replace(self, depth=max(self.depth, k)).run(bed)
        if self.model is not None and final.lookup()[0] is None:  # what takes a second to begin begins beside each other
            import_models()
            if self.retriever is None:
                java.start()
        run, store = final.value(), Texts(bed.store.value())
        best = run.assign(rank=ranks(run)).query("rank <= @k")
        asked = [texts[int(number) - 1] for number in best["query_id"]]
        decided = self._decided(bed)

        def shown(query_id: str, doc_id: str) -> str:
            text = store[doc_id]
            if not text.title or (query_id, doc_id) not in decided:
                return snippet(text.body, texts[int(query_id) - 1]) if text.title else ""
            number = decided[query_id, doc_id]
            cut = next(islice(windows(text, bed.words, bed.overlap), number, None))
            return passage(cut.text, text.title, number == 0)

        return pd.DataFrame({
            "query": asked, "rank": best["rank"].to_list(), "doc_id": best["doc_id"].to_list(), "score": best["score"].to_list(),
            "title": [title_of(store, doc_id) for doc_id in best["doc_id"]],
            "snippet": [shown(*ids) for ids in best[["query_id", "doc_id"]].itertuples(index=False)]})

    def _decided(self, bed: Testbed) -> dict[tuple[str, str], int]:
        """By query and re-ranked text the number of the window that decided: the best one, or the first where it alone counts."""
        if self.model is None:
            return {}
        reading, (first, trusted, *later) = bed, self.stages(bed).values()
        if self.feedback is not None:
            reading, first = self.feedback.reading(bed, trusted), later[0] if self.feedback.retrieve else first
        scores = self._scores(reading, first).value()
        if self.aggregation != "first":
            scores = scores.sort_values("score", ascending=False, kind="stable")
        split = scores["doc_id"].astype(str).str.rsplit("#", n=1)
        best = scores.assign(doc_id=split.str[0], window=split.str[1].astype(int)).drop_duplicates(["query_id", "doc_id"])
        return best.set_index(["query_id", "doc_id"])["window"].to_dict()

    def _scores(self, bed: Testbed, run: Step) -> Step:
        assert self.model is not None
        return self.model.scores(bed.of_candidates(run, self.candidates), run, self.candidates)

    def _reranked(self, bed: Testbed, run: Step) -> Step:
        return reranked(self._scores(bed, run), self.aggregation, run)


def with_feedback(name: str, pipeline: Pipeline, feedback: Feedback, pieces: int) -> dict[str, Pipeline]:
    """A pipeline with the four ways of feedback by the names of table 2 (Alarfaj 2022): terms of the full index (FI) or of the
    passage index, which holds so many word pieces of a document (PI); the old candidates re-ranked (FIJ, PIJ)."""
    passages = replace(feedback, pieces=pieces)
    ways = {"FI": feedback, "FIJ": replace(feedback, retrieve=False), "PI": passages, "PIJ": replace(passages, retrieve=False)}
    return {f"{name} + PRF ({way})": replace(pipeline, feedback=own) for way, own in ways.items()}


def title_of(store: Texts, doc_id: str) -> str:
    """A document's title, or its first words."""
    text = store[doc_id]
    words = text.body.split()
    title = " ".join(text.title.split()) or " ".join(words[:TITLE_WORDS]) + (" …" if len(words) > TITLE_WORDS else "")
    return title if len(title) <= LONGEST_TITLE else f"{title[:LONGEST_TITLE]} …"
