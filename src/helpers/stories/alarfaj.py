"""What the chapters on Alarfaj (2022) share: the pipelines of table 2, named as its rows, and their evaluation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from helpers.pages.compare import beside_published
from helpers.pages.fragments import Fragment
from helpers.systems.base_reranker import base_reranker, long_document_reranker
from helpers.systems.evaluated import Evaluation, Systems, evaluate
from helpers.systems.pipeline import Feedback, Pipeline
from helpers.systems.reranker import Reranker
from helpers.systems.testbed import Testbed

STUDY, TABLE = "alarfaj2022", "2"
MEASURES = ("P@10", "R@100", "AP@100", "RR@10", "nDCG@10")
COLUMNS = {"P@10": "P@10", "R@100": "R@100", "MAP@100": "AP@100", "MRR@10": "RR@10", "NDCG@10": "nDCG@10"}
BM25, BERT = "BM25", "BM25 + BERT"
FULL, PASSAGE, JUST = (f"{BERT} + PRF ({index})" for index in ("FI", "PI", "PIJ"))


@dataclass(frozen=True)
class Settings:
    """The settings that the study's pipelines share."""

    base: Reranker  # the fine-tuned BERT that all models go on from
    whole_queries: int = 400  # training queries of each model of whole documents
    first_tokens: int = 256  # tokens of query and document that BERT reads (512 in the study)
    first_words: int = 250  # words of each document in the passage index (500 in the study)
    attention_window: int = 256  # of the Longformer (512 in the study)
    documents: int = 5  # of the feedback (K)
    terms: int = 10  # of the feedback (k)
    candidates: int = 50  # documents re-ranked for each query
    longformer_backbone: str = ""  # a pre-trained Longformer; `""` for one made from the base model

    def bert(self, tokens: int = 0) -> Reranker:
        """BERT on the first tokens of a document (FirstP)."""
        return long_document_reranker(self.base, tokens or self.first_tokens, self.whole_queries)

    def longformer(self, length: int) -> Reranker:
        """The Longformer of so many tokens."""
        return long_document_reranker(self.base, length, self.whole_queries, self.attention_window,
                                      longformer=self.longformer_backbone)

    def with_candidates(self, candidates: int) -> "Settings":
        """The same with another number of documents re-ranked."""
        return replace(self, candidates=candidates)

    def classical(self) -> Pipeline:
        """BM25 alone."""
        return Pipeline(candidates=self.candidates)

    def feedback(self, passages: bool = False) -> Feedback:
        """The study's feedback, from the full index or from the passage index."""
        return Feedback(self.documents, self.terms, self.first_words if passages else 0)

    def rows(self, lengths: Sequence[int] = (), feedback_length: int = 0) -> dict[str, Pipeline]:
        """The rows of table 2, with Longformers of these lengths; that of the two with feedback may be 0, for none."""
        def after(model: Reranker, feedback: Feedback | None = None) -> Pipeline:
            return Pipeline(model, feedback, self.candidates)

        bert, passages = self.bert(), self.feedback(passages=True)
        just = replace(passages, retrieve=False)
        rows = {BM25: self.classical(), BERT: after(bert), FULL: after(bert, self.feedback()), PASSAGE: after(bert, passages),
                JUST: after(bert, just), **{row(length): after(self.longformer(length)) for length in lengths}}
        if feedback_length:
            model = self.longformer(feedback_length)
            rows |= {"BM25 + Longformer + PRF (PI)": after(model, passages), "BM25 + Longformer + PRF (PIJ)": after(model, just)}
        return rows


def settings(collection: str, train_queries: int, epochs: int, backbone: str, whole_queries: int, **other: Any) -> Settings:
    """The settings around the book's base model."""
    return Settings(base_reranker(collection, backbone, train_queries, epochs), whole_queries, **other)


def row(length: int) -> str:
    """Table 2's name of a Longformer."""
    return f"BM25 + Longformer / {length}"


def evaluations(bed: Testbed, pipelines: Mapping[str, Pipeline]) -> dict[str, Evaluation]:
    """Every pipeline's final ranking, measured."""
    runs = {name: pipeline.run(bed) for name, pipeline in pipelines.items()}
    return {name: evaluate(name, run.value(), bed, MEASURES, run) for name, run in runs.items()}


def table_2(column: str, systems: Systems, baseline: str = BM25, whole: bool = False) -> Fragment:
    """One column of table 2, published and measured; with `whole` also the rows that were not run."""
    return beside_published(STUDY, TABLE, column, COLUMNS[column], systems, baseline, whole=whole)
