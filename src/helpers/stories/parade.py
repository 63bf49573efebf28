"""The chapter *States of windows* (Steensland 2021, section 3.2.2): PARADE beside the aggregation of scores."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from helpers.pages import claims, compare, identity, page, plots
from helpers.pages.compare import lead
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain
from helpers.systems.evaluated import Evaluation, Systems, evaluate_seeds
from helpers.systems.parade import Parade
from helpers.systems.reranking_experiment import RerankingExperiment
from helpers.systems.zero_shot import zero_shot_in

MEASURE = "nDCG@20"
WAYS = {"BERT-FirstP": "firstp", "BERT-MaxP": "maxp", "PARADE Avg": "avg", "PARADE Max": "max", "PARADE Attn": "attn",
        "PARADE": "transformer"}  # as the thesis's table 3.1 names them
START = "BERT-MaxP, without labels"
FROZEN = "the model that reads the windows stays as it is, and the authors trained it with the aggregation"


def models(base: Parade, rates: Sequence[float]) -> dict[str, Parade]:
    """Every aggregation with the rate of its lowest held-out loss."""
    ways = {name: [replace(base, how=how, learning_rate=rate) for rate in rates] for name, how in WAYS.items()}
    return {name: min(own, key=lambda model: losses(model).min()) for name, own in ways.items()}


def losses(model: Parade) -> pd.Series:
    """The held-out loss over the epochs."""
    return pd.Series({line["epoch"]: line["eval_loss"] for line in model.log.value()["log"]})


def learning_table(models: Mapping[str, Parade]) -> Fragment:
    """What each aggregation learns, and whether it did."""
    return page.records_table("Held-out loss of each aggregation, and the rate with the lowest", [
        {"aggregation": name, "weights": count(model.log.value()["parameters"]), "rate": f"{model.learning_rate:g}",
         "of a guess": plain(math.log(2)), "before": plain(own.iloc[0]), "lowest": plain(own.min()),
         "in epoch": count(int(own.argmin()))}
        for name, model in models.items() for own in [losses(model)]])


def learning_curves(models: Mapping[str, Parade]) -> Fragment:
    """The same over the epochs."""
    return plots.curves({name: losses(model) for name, model in models.items()}, "epochs", "held-out loss",
                        "Loss on held-out groups; weights of the lowest are kept.")


def evaluations(trial: RerankingExperiment, models: Mapping[str, Parade], seeds: Sequence[int]) -> dict[str, Evaluation]:
    """BM25, the start without labels, every aggregation over its seeds, and the zero-shot encoder."""
    start = replace(models["BERT-MaxP"], epochs=0)
    ways = {START: [start], **{name: [replace(model, seed=seed) for seed in seeds] for name, model in models.items()}}
    systems = {"BM25": trial.baseline()}
    for name, own in ways.items():
        runs = [model.run(trial.bed, trial.run, trial.candidates) for model in own]
        systems[name] = evaluate_seeds(name, runs, trial.bed, trial.measures)
    return systems | trial.zero_shot(start.reader.backbone)


def differences(systems: Systems) -> Fragment:
    """Every aggregation compared with the best window's score, trained alike."""
    return compare.differences_table("Compared with BERT-MaxP", {
        name: (system, systems["BERT-MaxP"]) for name, system in systems.items() if name not in ("BM25", "BERT-MaxP")}, MEASURE)


def claims_table(systems: Systems, trial: RerankingExperiment) -> Fragment:
    """The chapter's claims: states beside scores, and the transformer beside the maximum of states. The authors train the whole
    network; on the states of a model that stays as it is another thing is measured."""
    pairs = {"parade-beats-score-aggregation": (systems["PARADE"], systems["BERT-MaxP"]),
             "parade-transformer-beats-maximum": (systems["PARADE"], systems["PARADE Max"])}
    barred = identity.barred(pairs, zero_shot_in(systems), trial.bed, trial.candidates)
    return claims.judge("parade", pairs, untested={claim: why or FROZEN for claim, why in barred.items()})


def signs(systems: Systems) -> dict[str, bool]:
    """What the discussion rests on besides the claims."""
    names = [name for name in WAYS if name.startswith("PARADE")]
    return {"no aggregation of states is surely above the best window's score": not any(
                compare.above(systems[name], systems["BERT-MaxP"], MEASURE) for name in names),
            "the first window alone is surely below BM25": compare.above(systems["BM25"], systems["BERT-FirstP"], MEASURE),
            "labels hardly add to the start": lead(systems["BERT-MaxP"], systems[START], MEASURE) < 0.01,
            "the mean of states is the worst of the four": min(names, key=lambda name: systems[name].mean(MEASURE).mean)
            == "PARADE Avg"}
