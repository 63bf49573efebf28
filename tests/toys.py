"""The toys of all tests: values that stand for steps, systems whose measures are known, runs, and a testbed of a few queries.

Differences between `system`s are constant over the queries, so that interval and p are known: of 8 equal differences the
permutation test's p is 2 / 2^8 = 0.008, and the interval is the difference itself.
"""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pandas as pd

from helpers.data.runs import COLUMNS
from helpers.evaluation import measures as helper_measures
from helpers.reranking.aggregation import aggregate, windows_of
from helpers.steps import step
from helpers.systems.evaluated import Evaluation

KEY = "0123456789abcdef"
MEASURES = ("RR@10", "nDCG@10", "P@10", "AP", "AP@100", "R@10", "R@100", "R@200", "R@1000", "Success@20", "Success@100",
            "accuracy")
HOSTILE = "<script>alert(1)</script> & “more”"


@dataclass(eq=False)
class Value:
    """Stands for a step: its value, its key and what its entry in the store says; no training is behind it."""

    content: object = None
    key: str = KEY
    manifest: dict = field(default_factory=dict)

    def value(self):
        return self.content

    def entry(self):
        return SimpleNamespace(manifest=self.manifest)

    def recipe(self):
        return {"step": "toy", "version": 1, "arguments": {}}


def of_values(values, label="system", queries=None, run=None, **more):
    """A system of these values: a list of RR@10, or lists by measure. Its queries are q0, q1, ... unless they are given."""
    values = values if isinstance(values, dict) else {"RR@10": values}
    names = [f"q{number}" for number in range(len(next(iter(values.values()))))] if queries is None else queries
    frame = pd.DataFrame(values, index=pd.Index(names, name="query_id"))
    return Evaluation(label, pd.DataFrame() if run is None else run, **{"source": Value(), **more}, values=frame)


def system(shift=0.0, label="system", queries=8, shifts=None, **more):
    """A system whose every measure is `shift` above 0, 0.5, 0, 0.5, ..., mean 0.25; `shifts` has those of single measures."""
    wave = np.array([0.0, 0.5] * (queries // 2))
    return of_values({name: wave + (shifts or {}).get(name, shift) for name in {**dict.fromkeys(MEASURES), **(shifts or {})}},
                     label, **more)


def run_of(**lists):
    """A run by query, best first: `run_of(q1=["d1", "d2"], q2="ab")`, or with scores: `run_of(q1={"d1": 0.5, "d2": 0.25})`."""
    rows = [(query, doc, docs[doc] if isinstance(docs, dict) else -place)
            for query, docs in lists.items() for place, doc in enumerate(docs)]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]).astype({"score": float})


def qrels_of(**relevant):
    """Judgments by query, grades of documents: `qrels_of(q1={"d1": 2})`, or the only relevant document: `qrels_of(q1="d1")`."""
    rows = [(query, doc, grade) for query, docs in relevant.items()
            for doc, grade in (docs if isinstance(docs, dict) else {docs: 1}).items()]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])


def bert(head=False, **config):
    """A tiny BERT in evaluation mode, with the same random weights at each call; with a head it is a cross-encoder."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertModel

    torch.manual_seed(5)
    made = BertConfig(**{"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2,
                         "intermediate_size": 32, "max_position_embeddings": 40, "num_labels": 1, "hidden_dropout_prob": 0.0,
                         "attention_probs_dropout_prob": 0.0, **config})
    return (BertForSequenceClassification(made) if head else BertModel(made, add_pooling_layer=False)).eval()


class Bed:
    """Stands for a testbed: `Bed(q="a", r="b")` has two queries to which a and b are relevant."""

    positions, min_relevance, every_grade, query_step, qrels_step, index, store = None, 1, None, None, None, None, None

    def __init__(self, **relevant):
        self.qrels, self.judged = qrels_of(**relevant), list(relevant)
        self.query_frame = pd.DataFrame({"query_id": self.judged, "text": [f"text of {query}" for query in relevant]})

    def documents(self, scores, how, run=None, first=None):
        return replace(scores, content=aggregate(windows_of(scores.value(), run and run.value(), first), how))

    def measured(self, ranking, names):
        return Value(self.per_query(ranking.value(), names).reset_index())

    def per_query(self, run, names):
        return helper_measures.per_query(run, self.qrels, names, self.min_relevance, self.judged, bool(self.every_grade))


@step(version=1, form="run")
def letters(queries: pd.DataFrame, run: pd.DataFrame, candidates: int) -> pd.DataFrame:
    """A re-ranker for tests: the length of the query's text, the higher for a later document name."""
    texts = dict(zip(queries["query_id"], queries["text"], strict=True))
    best = run.groupby("query_id", sort=False).head(candidates)
    rows = [(q, f"{d}#0", len(texts[q]) + int(d[1:])) for q, d in zip(best["query_id"], best["doc_id"], strict=True)]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"score": float})


class Letters:
    """The re-ranker of `letters`."""

    def scores(self, bed, run, candidates):
        return letters(bed.query_step, run, candidates)
