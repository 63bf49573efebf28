"""The chapter *Longformer lengths* (Alarfaj 2022, table 2)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.texts import Texts
from helpers.data.tokens import WindowTokens
from helpers.data.windows import WHOLE
from helpers.networks.backbone import resolve
from helpers.networks.fine_tuning import SPECIAL
from helpers.pages import claims, page, plots
from helpers.pages.compare import lead, mean_cell, with_interval
from helpers.pages.fragments import Fragment, Html
from helpers.pages.numbers import count, interval, plain, seconds
from helpers.pages.spot_check import spot_check
from helpers.pages.training import curve
from helpers.steps import Step
from helpers.stories.alarfaj import BERT, BM25, Settings, row
from helpers.systems.document_reader import DocumentReader
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.pipeline import Pipeline
from helpers.systems.testbed import Testbed

SCORING = {"window_scores", "window_logits"}  # the steps that read with a model
STUDIED = 1024  # the length that the study settled on

Cost = Mapping[str, Sequence[Mapping[str, Any]]]  # of windowed and of full attention, by rising length: see `length_cost`


def document_lengths(bed: Testbed, backbone: str) -> pd.Series:
    """Word pieces of every document of the collection."""
    store, tokens = bed.store.value(), replace(bed, words=WHOLE, overlap=0).tokens(resolve(backbone)).value()
    reader = WindowTokens(tokens, store)
    return pd.Series({text.doc_id: len(reader[f"{text.doc_id}#0"]) for text in Texts(store)})


def distinct(lengths: Sequence[int], documents: pd.Series, query_length: int) -> dict[int, int]:
    """For each length, of query and document together, the shortest of them that reads the same word pieces of every document."""
    enough = min((length for length in lengths if length >= documents.max() + query_length + SPECIAL), default=max(lengths))
    return {length: min(length, enough) for length in sorted(lengths)}


def pipelines(settings: Settings, lengths: Mapping[int, int]) -> dict[str, Pipeline]:
    """BM25, BERT on the first tokens, and a Longformer of each length; lengths that read the same share one model."""
    rows = settings.rows(sorted(set(lengths.values())))
    return {BM25: rows[BM25], BERT: rows[BERT], **{row(length): rows[row(same)] for length, same in lengths.items()}}


def models(settings: Settings, lengths: Mapping[int, int]) -> dict[str, DocumentReader]:
    """The models behind them, each once."""
    return {BERT: settings.bert()} | {row(length): settings.longformer(length) for length in sorted(set(lengths.values()))}


def read_table(documents: pd.Series, lengths: Mapping[int, int]) -> Fragment:
    """How many documents a model of each length reads whole, and what share of all tokens it sees."""
    return page.records_table("What a model of each length reads (queries aside)", [
        {"tokens": count(length), "share of documents read whole": plain((documents <= length - SPECIAL).mean()),
         "share of tokens read": plain(documents.clip(upper=length - SPECIAL).sum() / documents.sum()),
         "": "" if same == length else f"as {count(same)}: no document is longer"} for length, same in lengths.items()])


def claims_table(systems: Systems, lengths: Mapping[int, int]) -> Fragment:
    """The chapter's claim: Longformer of the length that the study settled on compared with BM25."""
    return claims.judge("longformer", {
        "longformer-reranking-beats-bm25": (systems[row(nearest(lengths))], systems[BM25])})


def nearest(lengths: Iterable[int]) -> int:
    """Of some lengths the one that stands for the study's choice; of two that are as near the shorter."""
    return min(lengths, key=lambda length: (abs(length - STUDIED), length))


def signs(systems: Systems, models: Mapping[str, DocumentReader], cost: Cost) -> dict[str, bool]:
    """What the discussion rests on besides the claims."""
    long = [name for name in models if name != BERT]
    logs = {name: curve(models[name].log.value(), "eval_loss") for name in models}
    windowed, full = medians(cost).sort_index().iloc[-1]
    return {"the longest input costs less with windows than with full attention": bool(windowed < full),
            "every Longformer learned": all(logs[name].iloc[-1] < min(logs[name].iloc[0], logs[BERT].iloc[-1]) for name in long),
            "the shorter Longformer ranks as well as the longer": lead(systems[long[0]], systems[long[-1]], "nDCG@10") >= 0}


def cost_check(cost: Step) -> Fragment:
    """The two shortest lengths, read once here and now, beside the recorded times."""
    def rounds(value: Cost) -> dict[str, Sequence[float]]:
        return {f"{kind}, {count(line['length'])} tokens": line["seconds"] for kind, lines in value.items() for line in lines}

    return spot_check(cost, rounds, "seconds a document", lengths=sorted(cost.arguments["lengths"])[:2], rounds=1)


def medians(cost: Cost) -> pd.DataFrame:
    """Median seconds over rounds: a row a length, a column a kind of attention, the windowed one first."""
    return pd.DataFrame({kind: {line["length"]: float(np.median(line["seconds"])) for line in lines}
                         for kind, lines in cost.items()})


def cost_table(cost: Cost) -> Fragment:
    """Seconds and memory by length, for both kinds of attention."""
    def rounds(line: Mapping[str, Any]) -> Html:
        return with_interval(f"{np.median(line['seconds']):.3f} s", interval(min(line["seconds"]), max(line["seconds"])))

    first, second = cost
    ratio = medians(cost)[second] / medians(cost)[first]
    return page.records_table("One document on one thread: median seconds over rounds, with the fastest and the slowest", [
        {"tokens": count(long["length"]), first: rounds(long), second: rounds(full),
         f"memory, {first}": f"{long['megabytes']:,.0f} MB", f"memory, {second}": f"{full['megabytes']:,.0f} MB",
         "full attention over Longformer, time": f"{ratio[long['length']]:.2f}×"}
        for long, full in zip(*cost.values(), strict=True)])


def cost_figure(cost: Cost) -> Fragment:
    """Seconds over length."""
    lines = {str(kind): line for kind, line in medians(cost).items()}
    return plots.curves(lines, "tokens", "seconds a document",
                        "Time of reading one document by its length, for windowed and for full attention.")


def scoring(system: Evaluation) -> str:
    """What scoring all candidates took; nothing where that is not known."""
    inputs = system.source.entry().manifest["inputs"]
    return next((seconds(part["seconds"]) for part in inputs if part["step"] in SCORING and "seconds" in part), "")


def scoring_table(systems: Systems) -> Fragment:
    """What each length reached, and what scoring took."""
    return page.records_table("Effectiveness, and the time that scoring all candidates took", (
        {"system": name, "nDCG@10": mean_cell(system, "nDCG@10"), "scoring": "" if name == BM25 else scoring(system)}
        for name, system in systems.items()))
