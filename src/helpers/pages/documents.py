"""What the chapters on Alarfaj (2022) share: the rows of table 2, what models of documents read and learned, and the place of the
answer in its document; and one query carried through several systems."""

import math
from collections.abc import Mapping, Sequence
from zlib import crc32

import pandas as pd

from helpers.data.runs import ranks
from helpers.data.texts import Texts
from helpers.evaluation.measures import first_relevant_rank
from helpers.pages import page, training
from helpers.pages.fragments import Fragment, Html, badge, cell, count, explored, plain, table
from helpers.pages.results import beside_published
from helpers.systems.evaluated import Systems
from helpers.systems.recipe import DocumentReader
from helpers.systems.testbed import Testbed

COLUMNS = {"P@10": "P@10", "R@100": "R@100", "MAP@100": "AP@100", "MRR@10": "RR@10", "NDCG@10": "nDCG@10"}  # of table 2
MEASURES = tuple(COLUMNS.values())
GRADE = 1  # from which a document of a topic is relevant: by BM25's values of table 2, the study counts the lowest grade, too
STRICT = ("R(rel=2)@100", "AP(rel=2)@100", "P(rel=2)@10", "RR(rel=2)@10")  # without the lowest grade
BM25, BERT, LONGFORMER = "BM25", "BM25 + BERT", "BM25 + Longformer"
STUDIED = 1024  # the length in tokens that the study settled on


def row(length: int) -> str:
    """Table 2's name of a Longformer of so many tokens."""
    return f"{LONGFORMER} / {length}"


def table_2(column: str, systems: Systems, baseline: str = BM25, whole: bool = False, judged: Fragment | None = None) -> Fragment:
    """One column of table 2, published and measured; with `whole` also the rows that were not run."""
    return beside_published("alarfaj2022", "2", column, COLUMNS[column], systems, baseline, judged, whole=whole, pictured=False,
                            counting="" if column == "NDCG@10" else f"relevant from grade {GRADE}; ")


def losses(model: DocumentReader) -> pd.Series:
    """A model's loss on held-out training queries over the steps of its training."""
    return training.curve(model.log.value(), "eval_loss")


def learning_table(models: Mapping[str, DocumentReader]) -> Fragment:
    """Whether the models learned: the held-out loss of each before, at its lowest and at the end, beside that of a guess."""
    return page.records_table("Did the models learn? Loss on held-out training queries", [
        {"model": name, "queries": count(log["pairs"] // model.size // model.epochs),
         "held out": count(log["evaluation_pairs"] // model.size), "optimiser steps": count(log["steps"]),
         "before": plain(line.iloc[0]), "lowest": plain(line.min()), "at the end": plain(line.iloc[-1]),
         "of a guess": plain(math.log(model.size))}
        for name, model in models.items() for log, line in [(model.log.value(), losses(model))]])


def places(bed: Testbed) -> pd.Series:
    """For each query where the middle of its answer is, as a share of its document; empty where the judgments do not say.

    The middle: an answer of some length cannot begin at its document's end, so beginnings lie early even of evenly spread ones.
    """
    if bed.positions is None:
        return pd.Series(dtype=float)
    answers = bed.positions.value().drop_duplicates("query_id").set_index("query_id")
    return ((answers["begins"] + answers["length"] / 2) / answers["words"]).reindex(bed.judged).dropna()


SHOWN, WORDS = 3, 25  # first texts of each system; words of a text


def one_query(systems: Systems, bed: Testbed, names: Sequence[str]) -> Fragment:
    """The texts that these systems rank first for one query, in the last one's order; a system over seeds shows its first.

    The query is not chosen for its outcome: `chosen` says how.
    """
    query = chosen(systems, bed, names)
    runs = {name: ranked[ranked["query_id"] == query].assign(rank=ranks).set_index("doc_id")
            for name in names for ranked in [systems[name].run]}
    order = sorted(dict.fromkeys(doc for run in runs.values() for doc in run.index[:SHOWN]),
                   key=lambda doc: runs[names[-1]]["rank"].get(doc, len(bed.qrels)))
    relevant = set(bed.qrels.loc[(bed.qrels["query_id"] == query) & (bed.qrels["relevance"] >= bed.min_relevance), "doc_id"])
    texts = Texts(bed.store.value())
    rows = [[Html(f"{cell(beginning(texts, doc))} {badge('relevant', 'yes').text}") if doc in relevant else beginning(texts, doc),
             *(f"{run['rank'][doc]}. ({plain(run['score'][doc], 2)})".replace("-", "−") if doc in run.index else "–"
               for run in runs.values())] for doc in order]
    text = bed.query_frame.set_index("query_id")["text"][query]
    shown = table(f"“{text}”: place and score in each ranking", ("text", *names), rows)
    return Fragment(f"{shown.text}<p>{explored(query, 'This query in the explorer').text}</p>")


def chosen(systems: Systems, bed: Testbed, names: Sequence[str]) -> str:
    """A query for which the first and the last system have a relevant text among their first ten, at different places, drawn by
    the systems' names, so that pages show different ones; the first of all if there is none."""
    first, last = (first_relevant_rank(systems[name].run, bed.qrels, bed.min_relevance, bed.judged)
                   for name in (names[0], names[-1]))
    differs = first.index[(first != last) & (first <= 10) & (last <= 10)]
    return str(differs[crc32("\n".join(names).encode()) % len(differs)] if len(differs) else first.index[0])


def beginning(texts: Texts, doc: str) -> str:
    """A text's title, if it has one, and its first words."""
    words, title = texts[doc].body.split(), texts[doc].title
    return f"{title}: " * bool(title) + " ".join(words[:WORDS]) + " …" * (len(words) > WORDS)
