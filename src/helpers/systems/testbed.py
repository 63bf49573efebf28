"""A testbed: one collection, one unit and one sample of queries, with the steps that every chapter shares.

    bed = Testbed("almanac", unit="document", queries=400)
    run = bed.bm25(k1=1.2, b=0.75, depth=100)
    bed.per_query(run.value(), ["RR@10"])

Chapters that ask for the same thing build the same steps, hence the same keys: it is computed once for all of them.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from helpers.data import runs
from helpers.data.collection import check_qrels, open_collection, with_relevance
from helpers.data.collection_base import Collection, Text
from helpers.data.elsewhere import external_run
from helpers.data.texts import QUERY_SPLITS, Texts, candidate_store, split_store, text_store
from helpers.data.windows import answer_positions, answer_windows, window_tokens
from helpers.errors import BadInput
from helpers.evaluation import measures
from helpers.networks.backbone import Backbone
from helpers.reranking.aggregation import aggregated
from helpers.retrieval import indexes
from helpers.retrieval.bm25 import bm25_run, max_passage
from helpers.steps import Step, ledger

WORDS, OVERLAP = 150, 50  # Steensland 2021, section 4.1.2


@dataclass(frozen=True)
class Testbed:
    """What is ranked, for which queries."""

    collection: str
    unit: str = ""  # `document` or `passage`; by default documents, if the collection has any
    splits: tuple[str, ...] = ("test",)  # the query splits used together
    queries: int = 0  # how many of each split are sampled, 0 for all
    min_relevance: int = 0  # the lowest grade that counts as relevant, 0 for the collection's own rule
    seed: int = 1  # of the sample
    words: int = WORDS  # words of a window, title included
    overlap: int = OVERLAP
    adhoc_queries: Step | None = None  # queries to use instead of the splits': a step with columns query_id, text
    answer_types: tuple[str, ...] = ()  # only queries with one of these labels, where the collection has them; all if empty
    source: Collection = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", open_collection(self.collection))
        if not self.unit:
            object.__setattr__(self, "unit", min(self.source.units))
        if self.adhoc_queries is not None:
            return  # nothing is measured on queries without judgments
        for split in self.splits:
            self.source.part("qrels", self.unit, split).sources()  # a clear error now rather than in the middle of a chapter
        if self.min_relevance == 0:
            object.__setattr__(self, "min_relevance", self.source.relevant_from(self.unit, self.splits[0]))

    @functools.cached_property
    def every_grade(self) -> bool | None:
        """Whether every grade gains in graded measures, by the collection's own rule."""
        return self.source.every_grade_gains(self.unit, self.splits[0])

    @property
    def store(self) -> Step:
        """The text store."""
        return text_store(self.source.part("texts", self.unit))

    @property
    def index(self) -> Step:
        """The Lucene index of the texts: Anserini's own, of other text, where it has one (see `indexes`), else built here."""
        prebuilt = indexes.index_names(with_relevance(self.collection)[0], self.unit)
        return indexes.prebuilt_index(*prebuilt) if prebuilt else indexes.text_index(self.store)

    @property
    def query_step(self) -> Step:
        """The sampled queries, or the ad-hoc ones."""
        if self.adhoc_queries is not None:
            return self.adhoc_queries
        return runs.queries([self.source.part("queries", s) for s in self.splits], self.queries, self.seed,
                               self.answer_types or None)

    @property
    def qrels_step(self) -> Step:
        """The judgments of the splits."""
        return runs.qrels([self.source.part("qrels", self.unit, s) for s in self.splits])

    @property
    def judgments(self) -> tuple[Step, Step, int]:
        """What a measure needs besides a run: queries, qrels, and the least grade that counts as relevant."""
        return self.query_step, self.qrels_step, self.min_relevance

    def bm25(self, k1: float, b: float, depth: int, windows: bool = False) -> Step:
        """BM25 over whole texts, or over windows (a text then scores as its best window)."""
        if not windows:
            return bm25_run(self.index, self.query_step, k1, b, depth)
        index = indexes.window_index(self.store, self.words, self.overlap)
        return max_passage(bm25_run(index, self.query_step, k1, b, depth * 5), depth)

    def first_stage(self, name: str, k1: float, b: float, depth: int) -> Step:
        """BM25 for `bm25`; otherwise the published TREC run in that file, cut to the sampled queries."""
        return self.bm25(k1, b, depth) if name == "bm25" else external_run(name, self.query_step, depth, self.store)

    def candidates(self, k1: float, b: float, depth: int, encoder: Any = None) -> Step:
        """What training passages are drawn from: BM25's ranking, or a `BiEncoder`'s."""
        return self.bm25(k1, b, depth) if encoder is None else encoder.run(self, depth)

    @property
    def positions(self) -> Step | None:
        """Where in their documents the answers begin; None unless the collection judges its documents' passages too."""
        return self._in_documents(answer_positions)

    @property
    def answers(self) -> Step | None:
        """The windows that hold an answer; None unless the collection judges its documents' passages too."""
        return self._in_documents(answer_windows, self.words, self.overlap)

    def _in_documents(self, found: Callable[..., Step], *windows: int) -> Step | None:
        if self.unit != "document" or "passage" not in self.source.units:
            return None
        parts = replace(self, unit="passage")
        return found(self.store, parts.store, self.qrels_step, parts.qrels_step, self.min_relevance, *windows)

    def of_candidates(self, run: Step, candidates: int) -> "Testbed":
        """Where a re-ranker reads a run's first `candidates` texts: here among all texts, whose windows serve every model."""
        return self

    def tokens(self, backbone: Backbone) -> Step:
        """The windows as tokens of the backbone's tokenizer."""
        return window_tokens(self.store, backbone.whole(), self.words, self.overlap)

    @functools.cached_property
    def query_frame(self) -> pd.DataFrame:
        """The sampled queries: query_id, text and the collection's labels."""
        return self.query_step.value()

    @functools.cached_property
    def judged(self) -> list[str]:
        """The ids of the sampled queries that have judgments: those that can be measured."""
        return measures.judged_queries(self.query_frame, self.qrels)

    @functools.cached_property
    def qrels(self) -> pd.DataFrame:
        """The judgments of the sampled queries, whose texts must be there."""
        frame = self.qrels_step.value()
        frame = frame[frame["query_id"].isin(set(self.query_frame["query_id"]))].reset_index(drop=True)
        texts = Texts(self.store.value())
        check_qrels(frame, texts, self.collection)
        if len(frame) and (highest := int(frame["relevance"].max())) < self.min_relevance:
            ledger.warn(f"{self.collection}: no text is relevant: the highest grade is {highest}, and grades count from "
                        f"{self.min_relevance}; all {'binary ' if highest > 0 else ''}measures are 0")
        asked = dict(zip(self.query_frame["query_id"], self.query_frame["text"], strict=True))
        if same := [query for query in asked if query in texts and is_text(query, asked[query], texts[query])]:
            ledger.warn(f"{self.collection}: {len(same)} queries are texts of the collection, {same[0]!r} among them, and find "
                        "themselves; BEIR leaves these out")
        return frame

    @property
    def relevant(self) -> pd.DataFrame:
        """The relevant texts of each query: columns query_id, doc_id."""
        return self.qrels.loc[self.qrels["relevance"] >= self.min_relevance, ["query_id", "doc_id"]]

    def documents(self, scores: Step, how: str, run: Step | None = None, first: int | None = None) -> Step:
        """The ranking of documents from scored windows, or from those of each query's `first` candidates in the run."""
        return aggregated(scores, how, run, first)

    def measured(self, ranking: Step, names: list[str]) -> Step:
        """`per_query` of a step's run as a step, kept beside it: the run is read once."""
        return measures.run_measures(ranking, self.query_step, self.qrels_step, names, self.min_relevance, self.every_grade)

    def per_query(self, run: pd.DataFrame, names: list[str], queries: list[str] | None = None) -> pd.DataFrame:
        """The measures of a run for each judged query, or for some of them, rows in the order of the sample."""
        return measures.per_query(run, self.qrels, names, self.min_relevance, queries or self.judged, bool(self.every_grade))


@dataclass(frozen=True)
class SplitTestbed(Testbed):
    """The same for a training: only articles that answer its splits' queries, where the collection is split by article.

    Index, embeddings and candidates hold nothing of dev or test then. Elsewhere (MS MARCO) training and test queries share their
    texts, and all of them stay. BadInput for splits that are not of articles, such as `topics`, whose answers are among all.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.source.split_by_article and (mixed := set(self.splits) - set(QUERY_SPLITS)):
            raise BadInput(f"the split {', '.join(sorted(mixed))} has articles of dev and test, too",
                           mend=f"train on one of {', '.join(QUERY_SPLITS)}")

    @property
    def store(self) -> Step:
        """The text store of the splits' articles."""
        if not self.source.split_by_article:
            return super().store
        judgments = runs.qrels([self.source.part("qrels", "document", split) for split in self.splits])
        return split_store(super().store, judgments, self.source.relevant_from("document", self.splits[0]))

    @property
    def index(self) -> Step:
        """The Lucene index of these texts."""
        return indexes.text_index(self.store) if self.source.split_by_article else super().index


def is_text(query_id: str, query: str, text: Text) -> bool:
    """Whether a query is the text that has its id: mere numbers name both by chance, so then the words must be the same."""
    forms = (text.title, text.body, f"{text.title} {text.body}")
    return not query_id.isdecimal() or query.casefold().split() in [form.casefold().split() for form in forms]


def topics_of(collection: str) -> str:
    """The split whose queries have many judged documents: `topics`, or `test` where a collection has no such queries apart."""
    return "topics" if "topics" in open_collection(collection).splits else "test"


def tuning_bed(collection: str, unit: str, split: str, queries: int, seed: int = 1) -> Testbed | None:
    """The queries that something is tuned on; None without a split, and where a collection has one alone, which is measured."""
    source = open_collection(collection)
    there = [own for own in source.splits if source.is_judged(unit or min(source.units), own)]
    if not split or (split not in there and len(there) == 1):
        return None
    return Testbed(collection, unit, (split,), queries, seed=seed)


@dataclass(frozen=True)
class SearchTestbed(Testbed):
    """The same for queries that come one by one: of the texts only those that a re-ranker reads are cut and tokenised."""

    run: Step | None = None
    first: int = 0

    @property
    def store(self) -> Step:
        """The text store: of all texts, or of the candidates."""
        return super().store if self.run is None else candidate_store(super().store, self.run, self.first)

    def of_candidates(self, run: Step, candidates: int) -> Testbed:
        """The same over these texts alone."""
        return replace(self, run=run, first=candidates)
