"""The chapter *Encoders* (David 2020, table 4.2, appendices A and B), and what the study's other chapters share with it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.texts import Texts
from helpers.evaluation import published
from helpers.pages import claims, matrices, page
from helpers.pages.compare import above, lead, measured
from helpers.pages.encoders import STUDY, measures, seconds_before
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain, seconds
from helpers.pages.training import Logs, change, curve
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation, Systems, evaluate_seeds
from helpers.systems.testbed import Testbed

TABLE, MEASURE = "4.2", "RR@10"
NEWER = ("RoBERTa", "ALBERT", "ELECTRA")
ENDS = {"BERT": ("Avg", "Max"), "RoBERTa": ("Avg", "CLS"), "ALBERT": ("Max", "Avg"), "DistilBERT": ("Max", "Avg"),
        "ELECTRA": ("Max", "CLS")}  # the poolings that the study's table 4.2 has best and worst for each encoder


def fine_tuned(bed: Testbed, models: Mapping[str, BiEncoder], seeds: Sequence[int], depth: int) -> dict[str, Evaluation]:
    """Every model after its training; with several seeds their mean, query by query."""
    runs = {name: [replace(model, seed=seed, data_seed=1).run(bed, depth) for seed in seeds] for name, model in models.items()}
    return {name: evaluate_seeds(name, own, bed, measures(depth)) for name, own in runs.items()}


def by_margin(bed: Testbed, model: BiEncoder, margins: Sequence[float], seeds: Sequence[int],
              depth: int) -> dict[str, Evaluation]:
    """One model, trained with each margin of the triplet loss."""
    return fine_tuned(bed, {f"margin {margin:g}": replace(model, margin=margin) for margin in margins}, seeds, depth)


def scale(bed: Testbed, depth: int) -> Fragment:
    """What is searched, and what recall means there."""
    passages = len(Texts(bed.store.value()))
    kept, of = (published.value(STUDY, *place).value for place in (
        ("text 4.4", "FAISS IndexFlatIP", "passages retrieved"), ("text 4.1", "MS MARCO", "passages")))
    return page.prose(
        f"Exact search over all {count(passages)} passages for {count(len(bed.judged))} queries, {count(depth)} passages each.",
        "" if depth >= kept else f"The study keeps {count(kept)} of {count(of)} passages. Here that would be "
        f"{min(1.0, kept / passages):.0%} of all, and recall would say little: it is taken at {depth}, and average precision "
        "over as many.")


def training_table(logs: Logs) -> Fragment:
    """What each model was trained on, and how well it tells held-out triplets apart before and after."""
    return page.records_table("The trainings", (
        {"model": name, "parameters": count(log["parameters"]), "training queries": count(log["queries"]),
         "optimiser steps": count(log["steps"]), "evaluation loss": change(curve(log, "eval_loss")),
         "accuracy on held-out triplets": change(curve(log, "eval_accuracy"))} for name, log in logs.items()))


def claims_table(after: Systems, before: Systems, bm25: Evaluation, backbone: str) -> Fragment:
    """The chapter's claims: an encoder beside BM25, each newer one beside BERT, and what pooling changes in each encoder.

    The control is the first encoder before its training.
    """
    first, main = "bert-encoder-beats-bm25", "BERT / Avg" if "BERT / Avg" in after else next(iter(after))
    newer = {name: (after[f"{name} / Avg"], after["BERT / Avg"]) for name in NEWER
             if {f"{name} / Avg", "BERT / Avg"} <= set(after)}
    spans = {name: after[f"{name} / {best}"].less(after[f"{name} / {worst}"]) for name, (best, worst) in ENDS.items()
             if {f"{name} / {best}", f"{name} / {worst}"} <= set(after)}
    wide = {f"{a} over {b}": (spans[a], spans[b]) for a in ("ELECTRA", "RoBERTa") for b in ("BERT", "ALBERT", "DistilBERT")
            if {a, b} <= set(spans)}
    return claims.judge("encoders", {first: (after[main], bm25), "newer-encoders-do-not-beat-bert": newer,
                                     "pooling-matters-for-electra": wide}, backbone=backbone,
                        untested={first: "" if main == "BERT / Avg" else f"not BERT but {main}"},
                        controls={first: before[main]} if main in before else {})


def signs(after: Systems, before: Systems, logs: Logs, with_margins: Systems) -> dict[str, bool]:
    """What the discussion rests on besides the claims; none where no maximum was trained."""
    values, first = means(after), next(iter(after))
    ordered, highest = sorted(values, key=values.__getitem__), f"{first.split(' / ')[0]} / Max"
    if highest not in after:
        return {}
    here, study = map(grouped, (values, published_means()))
    left = {name: losses.iloc[-1] / losses.iloc[0] for name, log in logs.items() for losses in [curve(log, "eval_loss")]}
    return {"the mean is every encoder's best pooling": all(name.endswith(" / Avg") for name in here.idxmax()),
            "poolings lie further apart than any encoder's of the study": bool(here.agg(np.ptp).min() > study.agg(np.ptp).max()),
            "fine-tuning surely lowers the maximum, and its loss falls":
                above(before[highest], after[highest], MEASURE) and bool(left[highest] < 0.9),
            "fine-tuning does not surely raise the best encoder": not above(after[ordered[-1]], before[ordered[-1]], MEASURE),
            "the largest margin ranks below no training": lead(list(with_margins.values())[-1], before[first], MEASURE) < 0,
            "the worst encoder, a [CLS], did not train": ordered[0].endswith(" / CLS") and bool(left[ordered[0]] > 0.95)}


def means(systems: Systems) -> dict[str, float]:
    """The mean RR@10 of each."""
    return {name: system.mean(MEASURE).mean for name, system in systems.items()}


def published_means() -> dict[str, float]:
    """The study's MRR@10 of each encoder and pooling: its table 4.2."""
    return {row: float(entry.value) for row, entry in published.column(STUDY, TABLE, "MRR@10").items() if " / " in row}


def grouped(values: Mapping[str, float]) -> Any:
    """Values by encoder, for what is to be said of each one's poolings."""
    return pd.Series(values).groupby(lambda name: name.split(" / ")[0])


def heat_map(values: Mapping[str, float], caption: str, measure: str = MEASURE) -> Fragment:
    """Means over models and poolings."""
    table = pd.DataFrame([[*name.split(" / "), value] for name, value in values.items()], columns=["model", "pooling", measure])
    return matrices.grid_heatmap(table, "model", "pooling", measure, caption)


def pooling_table(states: Mapping[str, Systems]) -> Fragment:
    """How far apart the poolings of each encoder lie: the study's encoders, and those measured here, by what became of them."""
    rows: list[Sequence[Any]] = [[encoder, "published", *texts] for encoder, texts in ranges(published_means()).items()]
    for state, systems in states.items():
        sources = {name.split(" / ")[0]: system for name, system in systems.items()}
        rows += [[encoder, state, best, worst, measured(distance, sources[encoder])]
                 for encoder, (best, worst, distance) in ranges(means(systems)).items()]
    return page.show_table(f"Poolings of one encoder, by {MEASURE}", ("encoder", "", "best", "worst", "range"), rows, 2)


def ranges(values: Mapping[str, float]) -> dict[str, tuple[str, str, str]]:
    """For each encoder its best and its worst pooling, and the distance between them."""
    series = pd.Series(values.values(), index=pd.MultiIndex.from_tuples(tuple(name.split(" / ")) for name in values))
    by_encoder = {str(encoder): own.droplevel(0) for encoder, own in series.groupby(level=0, sort=False)}
    return {encoder: (f"{own.idxmax()} {plain(own.max())}", f"{own.idxmin()} {plain(own.min())}", plain(own.max() - own.min()))
            for encoder, own in by_encoder.items()}


def cost(trained: Mapping[str, BiEncoder], systems: Systems) -> Fragment:
    """Seconds of training, of encoding the collection and of searching it, model by model."""
    records = []
    for name, model in trained.items():
        searches, before = systems[name].source.entry().manifest, seconds_before(systems[name].source, model.log)
        records.append({"model": name, "training": before.get("bi_encoder", ""),
                        "encoding all passages": before.get("passage_embeddings", ""),
                        "searching all queries": measured(seconds(searches["seconds"]), systems[name]),
                        "on": page.where(searches["machine"])})
    return page.records_table("What each model cost, on a machine that may have done other work (speeds: chapter Speed)", records)
