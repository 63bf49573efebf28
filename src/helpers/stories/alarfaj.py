"""What the chapters on Alarfaj (2022) share: the pipelines of table 2, named as its rows, and their evaluation."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from helpers.pages import page, training
from helpers.pages.compare import above, beside_published, differences_table, lead
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain
from helpers.systems.document_reader import DocumentReader, document_reader
from helpers.systems.evaluated import Evaluation, Systems, evaluate
from helpers.systems.listwise_reranker import Listwise
from helpers.systems.pipeline import Feedback, Pipeline
from helpers.systems.testbed import OVERLAP, WORDS, Testbed

STUDY, TABLE = "alarfaj2022", "2"
MEASURES = ("P@10", "R@100", "AP@100", "RR@10", "nDCG@10")
COLUMNS = {"P@10": "P@10", "R@100": "R@100", "MAP@100": "AP@100", "MRR@10": "RR@10", "NDCG@10": "nDCG@10"}
BM25, BERT, LONGFORMER = "BM25", "BM25 + BERT", "BM25 + Longformer"
WAYS = {"FI": "full index", "FIJ": "full index, old candidates", "PI": "passage index", "PIJ": "passage index, old candidates"}
FULL, JUST_FULL, PASSAGE, JUST = (f"{BERT} + PRF ({index})" for index in ("FI", "FIJ", "PI", "PIJ"))


@dataclass(frozen=True)
class Settings:
    """The settings that the study's pipelines share."""

    reader: DocumentReader  # BERT on the first tokens of a document
    attention_window: int = 256  # of the Longformer (512 in the study)
    documents: int = 5  # of the feedback (K)
    terms: int = 10  # of the feedback (k)
    candidates: int = 50  # documents re-ranked for each query
    longformer_backbone: str = ""  # a pre-trained Longformer; `""` for one made from the model that BERT starts from

    def bert(self, tokens: int = 0) -> DocumentReader:
        """BERT on the first tokens of a document (FirstP)."""
        return replace(self.reader, max_length=tokens or self.reader.max_length)

    def windows(self) -> DocumentReader:
        """BERT on the windows of a document (MaxP, MeanP, SumP)."""
        return replace(self.reader, words=WORDS, overlap=OVERLAP)

    def longformer(self, length: int) -> DocumentReader:
        """The Longformer of so many tokens."""
        if self.longformer_backbone:
            return replace(self.reader, max_length=length, start=None, backbone=self.longformer_backbone)
        return replace(self.reader, max_length=length, attention_window=self.attention_window)

    def with_candidates(self, candidates: int) -> "Settings":
        """The same with another number of documents re-ranked."""
        return replace(self, candidates=candidates)

    def classical(self) -> Pipeline:
        """BM25 alone."""
        return Pipeline(None, candidates=self.candidates)

    def feedback(self, passages: bool = False) -> Feedback:
        """The study's feedback, from the full index or from the passage index, which holds what BERT sees of each document."""
        return Feedback(self.documents, self.terms, self.reader.room if passages else 0, backbone=self.reader.backbone)

    def rows(self, lengths: Sequence[int] = (), feedback_length: int = 0) -> dict[str, Pipeline]:
        """The rows of table 2, with Longformers of these lengths; that of those with feedback may be 0, for none. The table lacks
        those of the full index that rank the old candidates again (FIJ), and the Longformer's of the full index, which were run.
        """
        full, passages = self.feedback(), self.feedback(passages=True)
        ways = {"FI": full, "FIJ": replace(full, retrieve=False), "PI": passages, "PIJ": replace(passages, retrieve=False)}

        def alone(model: DocumentReader) -> Pipeline:
            return Pipeline(model, candidates=self.candidates)

        def fed(name: str, model: DocumentReader) -> dict[str, Pipeline]:
            return {f"{name} + PRF ({way})": replace(alone(model), feedback=feedback) for way, feedback in ways.items()}

        return {BM25: self.classical(), BERT: alone(self.bert()), **fed(BERT, self.bert()),
                **{row(length): alone(self.longformer(length)) for length in lengths},
                **(fed(LONGFORMER, self.longformer(feedback_length)) if feedback_length else {})}


def settings(collection: str, backbone: str, train_queries: int, warm_up: int, first_tokens: int, epochs: int, training: str,
             **other: Any) -> Settings:
    """The settings around the reader of a document's first tokens."""
    return Settings(document_reader(collection, backbone, train_queries, warm_up, first_tokens, epochs, training), **other)


def learning_table(models: Mapping[str, Listwise]) -> Fragment:
    """Whether the models learned: the held-out loss of each before, at its lowest and at the end, beside that of a guess."""
    return page.records_table("Did the models learn? Loss on held-out training queries", [
        {"model": name, "optimiser steps": count(log["steps"]), "before": plain(losses.iloc[0]), "lowest": plain(losses.min()),
         "at the end": plain(losses.iloc[-1]), "of a guess": plain(math.log(model.size))}
        for name, model in models.items() for log in [model.log.value()] for losses in [training.curve(log, "eval_loss")]])


def row(length: int) -> str:
    """Table 2's name of a Longformer."""
    return f"{LONGFORMER} / {length}"


def evaluations(bed: Testbed, pipelines: Mapping[str, Pipeline]) -> dict[str, Evaluation]:
    """Every pipeline's final ranking, measured."""
    runs = {name: pipeline.run(bed) for name, pipeline in pipelines.items()}
    return {name: evaluate(name, run, bed, MEASURES) for name, run in runs.items()}


def feedback_table(systems: Systems, feedback_length: int) -> Fragment:
    """What each step of the study's argument on feedback changes, for BERT and for a Longformer of that length (0 for none)."""
    pairs: dict[str, tuple[Evaluation, Evaluation]] = {}
    for name, base in {BERT: BERT, **({LONGFORMER: row(feedback_length)} if feedback_length else {})}.items():
        fed = {way: systems[f"{name} + PRF ({way})"] for way in WAYS}
        pairs |= {f"{name}: {what} ({way}), and no feedback": (fed[way], systems[base]) for way, what in WAYS.items()}
        pairs |= {f"{name}: passage index (PI), and full index (FI)": (fed["PI"], fed["FI"]),
                  f"{name}: old candidates (PIJ), and new ones (PI)": (fed["PIJ"], fed["PI"])}
    return differences_table("Feedback for either model (first less second)", pairs, "nDCG@10")


def longer_signs(systems: Systems, feedback_length: int) -> dict[str, bool]:
    """Whether feedback does to the Longformer what it does to BERT; nothing without one."""
    if not feedback_length:
        return {}
    fed = [lead(systems[f"{name} + PRF ({way})"], systems[base], "nDCG@10")
           for name, base in ((BERT, BERT), (LONGFORMER, row(feedback_length))) for way in WAYS]
    return {"every way of feedback lowers the means of BERT and of the Longformer": max(fed) < 0}


def signs(topics: Systems, ordinary: Systems) -> dict[str, bool]:
    """What the discussion of broad topics and ordinary queries rests on."""
    fed = [(ordinary[name], ordinary[BERT]) for name in (FULL, PASSAGE)]
    return {"feedback raises recall and lowers the first places on ordinary queries": all(
                lead(one, base, "R@100") > 0 > lead(one, base, "RR@10") for one, base in fed),
            "re-ranking gains on topics and loses on ordinary queries":
                lead(topics[BERT], topics[BM25], "nDCG@10") > 0 > lead(ordinary[BERT], ordinary[BM25], "nDCG@10"),
            "the gain on topics is not sure": not above(topics[BERT], topics[BM25], "nDCG@10"),
            "the loss on ordinary queries is sure": above(ordinary[BM25], ordinary[BERT], "nDCG@10"),
            "on topics feedback from the full index surely raises recall": above(topics[FULL], topics[BERT], "R@100")}


def table_2(column: str, systems: Systems, baseline: str = BM25, whole: bool = False, judged: Fragment | None = None) -> Fragment:
    """One column of table 2, published and measured; with `whole` also the rows that were not run. A row that cannot differ from
    the baseline, as recall in lists that are ranked anew and not retrieved anew, is not tested."""
    measure = COLUMNS[column]
    fixed = [name for name, system in systems.items()
             if name != baseline and system.values[measure].equals(systems[baseline].values[measure])]
    return beside_published(STUDY, TABLE, column, measure, systems, baseline, judged, whole=whole, fixed=fixed)
