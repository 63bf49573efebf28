"""The chapter *Encoders* (David 2020, table 4.2, appendices A and B)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd

from helpers.data.texts import Texts
from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.pages import claims, page, plots
from helpers.pages.compare import against_published, differences_table, measured
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain
from helpers.retrieval.bm25 import K1, B
from helpers.stories.wording import effect
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation, evaluate, over_seeds
from helpers.systems.testbed import Testbed

STUDY, TABLE, MEASURE = "david2020", "4.2", "RR@10"
POOLINGS = {"mean": "Avg", "cls": "CLS", "max": "Max"}  # as the study's tables call them
CHECKPOINTS = {"bert-base-uncased": "BERT", "roberta-base": "RoBERTa", "albert-base-v1": "ALBERT",
               "distilbert-base-uncased": "DistilBERT", "electra-base-discriminator": "ELECTRA"}  # rows of its table B.1
PACKAGED = "MiniLM"
AFTER, BEFORE = "fine-tuned", "zero-shot"
NEWER = ("RoBERTa", "ALBERT", "ELECTRA")
ENDS = {"BERT": ("Avg", "Max"), "RoBERTa": ("Avg", "CLS"), "ALBERT": ("Max", "Avg"), "DistilBERT": ("Max", "Avg"),
        "ELECTRA": ("Max", "CLS")}  # the poolings that the study's table 4.2 has best and worst for each encoder


def label(spec: str) -> str:
    """How the tables call a backbone: the study's name for its five checkpoints, else its own."""
    if spec.startswith("packaged"):
        _, _, layers = spec.partition(":")
        return f"{PACKAGED} (layers {layers})" if layers else PACKAGED
    name = spec.removeprefix("hub:").partition("@")[0].rstrip("/").rpartition("/")[2]
    return CHECKPOINTS.get(name, name)


def models(base: BiEncoder, specs: Sequence[str], poolings: Sequence[str]) -> dict[str, BiEncoder]:
    """A model for every backbone and pooling, named as in table 4.2: `BERT / Avg`.

    Raises:
        BadInput: for two backbones of one name: the tables could not tell them apart.
    """
    if len({label(spec) for spec in specs}) < len(specs):
        raise BadInput(f"two of the backbones {', '.join(specs)} have one name", mend="give each of them once")
    return {f"{label(spec)} / {POOLINGS[pooling]}": replace(base, backbone=spec, pooling=pooling)
            for spec, pooling in product(specs, poolings)}


def measures(depth: int) -> list[str]:
    """The study's measures as far as so many passages of each query allow."""
    known = ["RR@10", "AP", f"R@{depth}", "Rprec", "nDCG@5", "nDCG@10", "nDCG@100", "nDCG@1000"]
    return [name for name in known if not name.startswith("nDCG@") or int(name[5:]) <= depth]


def baseline(bed: Testbed, depth: int) -> Evaluation:
    """BM25 on the same queries."""
    run = bed.bm25(K1, B, depth)
    return evaluate("BM25", run.value(), bed, measures(depth), run)


def fine_tuned(bed: Testbed, found: Mapping[str, BiEncoder], seeds: Sequence[int], depth: int) -> dict[str, Evaluation]:
    """Every model after its training; with several seeds their mean, query by query."""
    systems = {}
    for name, model in found.items():
        runs = [searched(name, replace(model, seed=seed, data_seed=1), bed, depth) for seed in seeds]
        systems[name] = over_seeds(name, runs) if len(runs) > 1 else runs[0]
    return systems


def zero_shot(bed: Testbed, found: Mapping[str, BiEncoder], depth: int) -> dict[str, Evaluation]:
    """Every model before its training."""
    return {name: searched(name, model.zero_shot(), bed, depth) for name, model in found.items()}


def searched(name: str, model: BiEncoder, bed: Testbed, depth: int) -> Evaluation:
    """One model, by exact search over the whole collection."""
    run = model.run(bed, depth)
    return evaluate(name, run.value(), bed, measures(depth), run)


def scale(bed: Testbed, depth: int) -> Fragment:
    """What is searched, and what recall means there."""
    passages = len(Texts(bed.store.value()))
    said = f"Exact search over all {count(passages)} passages for {count(len(bed.judged))} queries, {count(depth)} passages each."
    kept, of = (published.value(STUDY, *place).value for place in (
        ("text 4.4", "FAISS IndexFlatIP", "passages retrieved"), ("text 4.1", "MS MARCO", "passages")))
    if depth >= kept:
        return page.prose(said)
    share = min(1.0, kept / passages)
    return page.prose(said, f"The study keeps {count(kept)} of {count(of)} passages. Here that would be {share:.0%} of all, and "
                      f"recall would say little: it is taken at {depth}, and average precision over as many.")


def claims_table(after: Mapping[str, Evaluation], before: Mapping[str, Evaluation], bm25: Evaluation, backbone: str) -> Fragment:
    """The chapter's claims: an encoder beside BM25, each newer one beside BERT, and what pooling changes in each encoder.

    Args:
        after: the trained encoders.
        before: the same before their training: the control.
        bm25: the baseline.
        backbone: of the first encoder.
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
                        incomparable={} if main == "BERT / Avg" else {first: f"not BERT but {main}"},
                        controls={first: (after[main], before[main])} if main in before else {})


def against_the_study(after: Mapping[str, Evaluation], bm25: Evaluation, column: str, measure: str) -> Fragment:
    """A column of table 4.2 beside this run; rows of models that were not trained here stay unmeasured."""
    return against_published(STUDY, TABLE, column, measure, {"BM25": bm25, **after}, "BM25")


def before_and_after(before: Mapping[str, Evaluation], after: Mapping[str, Evaluation]) -> Fragment:
    """What the training changes, model by model (Holm's correction over all of them)."""
    return differences_table(f"{MEASURE} of each model {AFTER} (first) and {BEFORE} (second)",
                             {name: (after[name], before[name]) for name in after}, MEASURE)


def heat_map(systems: Mapping[str, Evaluation], when: str) -> Fragment:
    """RR@10 over models and poolings."""
    rows = [[*name.split(" / "), system.mean(MEASURE).mean] for name, system in systems.items()]
    table = pd.DataFrame(rows, columns=["model", "pooling", MEASURE])
    return plots.grid_heatmap(table, "model", "pooling", MEASURE, f"{MEASURE} by model and pooling, {when}.")


def published_heat_map() -> Fragment:
    """Table 4.2 of the study as a figure."""
    rows = [[*row.split(" / "), float(entry.value)] for row, entry in published_rows().items()]
    table = pd.DataFrame(rows, columns=["model", "pooling", "MRR@10"])
    return plots.grid_heatmap(table, "model", "pooling", "MRR@10", "The study's encoders: its table 4.2 as a figure.")


def published_rows() -> dict[str, published.Entry]:
    """The study's MRR@10 of each encoder and pooling."""
    return {row: entry for row, entry in published.column(STUDY, TABLE, "MRR@10").items() if " / " in row}


def pooling_table(systems: Mapping[str, Evaluation]) -> Fragment:
    """How far apart the poolings of each encoder lie: the study's encoders, and those trained here."""
    here = {name: (system.mean(MEASURE).mean, system) for name, system in systems.items()}
    rows: list[Sequence[Any]] = [[encoder, "published", *texts] for encoder, texts in ranges(
        {row: float(entry.value) for row, entry in published_rows().items()}).items()]
    for encoder, texts in ranges({name: value for name, (value, _) in here.items()}).items():
        source = next(system for name, (_, system) in here.items() if name.startswith(f"{encoder} / "))
        rows.append([encoder, "measured", *texts[:-1], measured(texts[-1], source)])
    return page.show_table(f"Poolings of one encoder, by {MEASURE}", ("encoder", "", "best", "worst", "range"), rows, 2)


def ranges(values: Mapping[str, float]) -> dict[str, tuple[str, str, str]]:
    """For each encoder its best and its worst pooling, and the distance between them."""
    found: dict[str, dict[str, float]] = {}
    for name, value in values.items():
        encoder, pooling = name.split(" / ")
        found.setdefault(encoder, {})[pooling] = value
    ends = {encoder: [pick(own, key=lambda pooling: own[pooling]) for pick in (max, min)] for encoder, own in found.items()}
    return {encoder: (f"{best} {plain(found[encoder][best])}", f"{worst} {plain(found[encoder][worst])}",
                      plain(found[encoder][best] - found[encoder][worst])) for encoder, (best, worst) in ends.items()}


def finding(before: Mapping[str, Evaluation], after: Mapping[str, Evaluation], bm25: Evaluation) -> Fragment:
    """The chapter's last words."""
    best, best_before = (max(systems, key=lambda name: systems[name].mean(MEASURE).mean) for systems in (after, before))
    change = {name: after[name].mean(MEASURE).mean - before[name].mean(MEASURE).mean for name in after}
    gained = [name for name in change if change[name] > 0]
    largest = max(change, key=lambda name: change[name])
    return page.prose(
        f"Of the trained encoders {best} ranks best, with {plain(after[best].mean(MEASURE).mean)}; against BM25: "
        f"{effect(after[best].against(bm25, MEASURE))}.",
        f"Of the zero-shot ones {best_before} ranks best, with {plain(before[best_before].mean(MEASURE).mean)}; against BM25: "
        f"{effect(before[best_before].against(bm25, MEASURE))}.",
        f"The training raises {len(gained)} of {len(change)} models; the most favourable change is that of {largest}: "
        f"{effect(after[largest].against(before[largest], MEASURE))}.")
