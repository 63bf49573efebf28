"""The chapter *Longformer lengths* (Alarfaj 2022, table 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.texts import Texts
from helpers.data.tokens import WindowTokens
from helpers.data.windows import WHOLE
from helpers.networks.backbone import resolve
from helpers.pages import claims, page, plots
from helpers.pages.compare import mean_cell, with_interval
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, interval, plain, seconds
from helpers.stories.alarfaj import BERT, BM25, Settings, row
from helpers.stories.wording import effect
from helpers.systems.evaluated import Evaluation
from helpers.systems.pipeline import Pipeline
from helpers.systems.testbed import Testbed

SPECIAL = 3  # [CLS] and two [SEP]
STUDIED = 1024  # the length that the study settled on


def document_lengths(bed: Testbed, backbone: str) -> pd.Series:
    """Word pieces of every document of the collection."""
    store, tokens = bed.store.value(), replace(bed, words=WHOLE, overlap=0).tokens(resolve(backbone)).value()
    reader = WindowTokens(tokens, store)
    return pd.Series({text.doc_id: len(reader[f"{text.doc_id}#0"]) for text in Texts(store)})


def distinct(lengths: Sequence[int], documents: pd.Series, query_length: int) -> dict[int, int]:
    """For each length the shortest of them that reads the same: beyond the longest document they are all one.

    Args:
        lengths: of query and document together.
        documents: word pieces of every document.
        query_length: the longest query.
    """
    longest = int(documents.max()) + query_length + SPECIAL
    enough = [length for length in sorted(lengths) if length >= longest]
    return {length: min(length, enough[0]) if enough else length for length in sorted(lengths)}


def pipelines(settings: Settings, lengths: Mapping[int, int]) -> dict[str, Pipeline]:
    """BM25, BERT on the first tokens, and a Longformer of each length; lengths that read the same share one model."""
    models = settings.longformer_rows(sorted(set(lengths.values())))
    return {BM25: settings.classical(), BERT: settings.bert_rows()[BERT],
            **{row(length): models[row(same)] for length, same in lengths.items()}}


def read_table(documents: pd.Series, lengths: Mapping[int, int]) -> Fragment:
    """How many documents a model of each length reads whole, and what share of all tokens it sees."""
    rows = []
    for length, same in lengths.items():
        room = length - SPECIAL
        rows.append([count(length), plain(float((documents <= room).mean())),
                     plain(float(np.minimum(documents, room).sum() / documents.sum())),
                     "" if same == length else f"as {count(same)}: no document is longer"])
    return page.show_table("What a model of each length reads (queries aside)",
                           ("tokens", "share of documents read whole", "share of tokens read", ""), rows)


def claims_table(systems: Mapping[str, Evaluation], lengths: Mapping[int, int]) -> Fragment:
    """The chapter's claims: Longformer against BM25, and the longest input against the study's choice."""
    longest, chosen = max(lengths), min(lengths, key=lambda length: (abs(length - STUDIED), length))
    judged = {"longformer-reranking-above-bm25-without-significance": (systems[row(chosen)], systems[BM25])}
    name = "beyond-1024-tokens-nothing-gained"
    if longest == chosen:
        return claims.judge("longformer", judged, not_run={name: f"no input of more than {count(chosen)} tokens was tried"})
    if lengths[longest] == lengths[chosen]:
        return claims.judge("longformer", judged, not_run={
            name: f"no document of this collection is longer than {count(chosen)} tokens: the two inputs are the same"})
    return claims.judge("longformer", {**judged, name: (systems[row(longest)], systems[row(chosen)])})


def cost_table(cost: Mapping[str, Sequence[Mapping[str, Any]]]) -> Fragment:
    """Seconds and memory by length, for both kinds of attention."""
    rows = []
    for long, full in zip(*cost.values(), strict=True):
        cells = [with_interval(f"{np.median(each['seconds']):.3f} s",
                               interval(min(each["seconds"]), max(each["seconds"]))) for each in (long, full)]
        memory = [f"{count(round(each['megabytes']))} MB" for each in (long, full)]
        rows.append([count(long["length"]), *cells, *memory,
                     f"{np.median(full['seconds']) / np.median(long['seconds']):.2f}×"])
    first, second = cost
    header = ("tokens", first, second, f"memory, {first}", f"memory, {second}", "full attention over Longformer, time")
    caption = "One document on one thread: median seconds over rounds, with the fastest and the slowest"
    return page.show_table(caption, header, rows)


def cost_figure(cost: Mapping[str, Sequence[Mapping[str, Any]]]) -> Fragment:
    """Seconds over length."""
    lines = {kind: pd.Series({int(each["length"]): float(np.median(each["seconds"])) for each in rows})
             for kind, rows in cost.items()}
    return plots.curves(lines, "tokens", "seconds a document",
                        "Time of reading one document by its length, for windowed and for full attention.")


def scoring_table(systems: Mapping[str, Evaluation], measure: str = "nDCG@10") -> Fragment:
    """What each length reached, and what scoring took."""
    rows = []
    for name, system in systems.items():
        inputs = system.source.entry().manifest["inputs"] if name != BM25 else []
        spent = next((part.get("seconds") for part in inputs if "window_scores" in part["step"]), None)
        rows.append([name, mean_cell(system, measure),
                     "" if spent is None else seconds(spent)])
    return page.show_table("Effectiveness, and the time that scoring all candidates took", ("system", measure, "scoring"), rows)


def finding(systems: Mapping[str, Evaluation], lengths: Mapping[int, int],
            cost: Mapping[str, Sequence[Mapping[str, Any]]]) -> Fragment:
    """The chapter's last words."""
    kept = sorted(set(lengths.values()))
    most, least = systems[row(kept[-1])], systems[row(kept[0])]
    stands = {name: effect(most.against(systems[name], "nDCG@10")) for name in (BM25, BERT)}
    return page.prose(
        "" if most is least else
        f"From {count(kept[0])} to {count(kept[-1])} tokens nDCG@10 changes by {effect(most.against(least, 'nDCG@10'))}.",
        f"Against BM25 the longest stands at {stands[BM25]}, against BERT on the first tokens at {stands[BERT]}.",
        faster_from(cost))


def faster_from(cost: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """From which of the timed lengths on Longformer's attention is the faster one, in words."""
    since = None  # the first of the lengths that all are faster
    for long, full in zip(*cost.values(), strict=True):
        faster = np.median(long["seconds"]) < np.median(full["seconds"])
        since = (since or long["length"]) if faster else None
    return ("At the longest input that was timed full attention is still the faster one." if since is None else
            f"In this timing Longformer's attention is faster than full attention from {count(since)} tokens on.")
