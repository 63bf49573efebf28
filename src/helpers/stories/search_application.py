"""The chapter *The search application* (Steensland 2021, section 4.2): its stages' speed, what they cost and bring."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from helpers import paths
from helpers.costs.contenders import OURS, SEQUENTIAL
from helpers.costs.latency import BM25, OR, PAIRS, folder_size, stage_times, total
from helpers.costs.measurements import Measurements
from helpers.evaluation import published
from helpers.networks import backbone
from helpers.pages import page, scatter
from helpers.pages.compare import mean_cell, table_value, with_interval
from helpers.pages.fragments import Fragment, linked
from helpers.pages.numbers import count, joined, plain, seconds
from helpers.pages.rates import rounds_cell
from helpers.pages.shapes import studied_shapes
from helpers.pages.spot_check import spot_check
from helpers.pages.training import STUDY
from helpers.retrieval.bm25 import K1, B
from helpers.retrieval.feedback import or_matches
from helpers.steps import Step
from helpers.stories import candidates, duobert
from helpers.stories.speed import busy
from helpers.systems.evaluated import Evaluation
from helpers.systems.listwise_reranker import WarmUp
from helpers.systems.pairwise_reranker import PairwiseReranker
from helpers.systems.reranking_experiment import RerankingExperiment

MEASURE = "RR@10"


class Stages(NamedTuple):
    """How far a query goes."""

    depth: int  # documents that the model reads alone (R), 0 for BM25 alone
    paired: int = 0  # of them, those that are compared in pairs


Systems = Mapping[Stages, Evaluation]
TEXTS, INDEX, SEARCH = ("MS MARCO's documents, unpacked", "Lucene index of its documents, to fetch",
                        "BM25 on the documents")  # rows of published/scale.yaml


def evaluations(trial: RerankingExperiment, model: WarmUp, depths: Sequence[int], duo: PairwiseReranker,
                paired: Sequence[int]) -> dict[Stages, Evaluation]:
    """BM25, the model over the first R documents for each R, and pairs over the first of these for the R that the study reads."""
    alone = candidates.evaluations(trial, [model], depths)
    systems = {Stages(0): trial.baseline()} | {Stages(depth): system for depth, system in alone.items()}
    studied = replace(trial, candidates=candidates.nearest(alone, candidates.STUDIED))
    third = duobert.ThirdStage(studied, duobert.second_stage(studied, model), [duo], max(paired, default=0))
    return systems | {Stages(studied.candidates, first): third.by(duobert.SUM, first) for first in paired}


def matches(trial: RerankingExperiment) -> Step:
    """The step that counts what the OR phase returns."""
    return or_matches(trial.bed.index, trial.bed.query_step)


def timing(trial: RerankingExperiment, model: WarmUp, depths: Sequence[int], duo: PairwiseReranker, paired: Sequence[int],
           timed: int, rounds: int, live: bool) -> Step:
    """The step that times the stages; live without a recorded one."""
    bed, encoder = trial.bed, backbone.resolve(model.backbone)
    third = (duo.model, sorted(paired), duo.max_length) if paired else ()
    return stage_times(model.model, bed.index, bed.query_step, bed.store, bed.tokens(encoder), K1, B, sorted(depths),
                       model.max_length, model.query_length, timed, rounds, *third).here(live)


def or_table(matches: Step) -> Fragment:
    """The share of the collection that the OR phase returns."""
    share, entry = shares(matches.value()), published.value(STUDY, "text 4.2", "OR retrieval", "share of documents retrieved")
    spread = [linked(f"{share.quantile(q):.0%}", matches) for q in (0, 0.25, 0.5, 0.75, 1)]
    return page.show_table("The share of the collection that holds any of a query's words",
                           ("", "mean", "least", "first quarter", "median", "third quarter", "most"),
                           [[f"{entry.where}, in words", f"about {entry.printed} %", *[""] * 5],
                            ["here", linked(f"{share.mean():.0%}", matches), *spread]],
                           values=[table_value(entry, "share_of_documents", share.mean(), matches)])


def shares(matches: pd.DataFrame) -> pd.Series:
    """The share of each query."""
    return matches["documents"] / matches["of"]


def speed_table(timing: Step, name: str) -> Fragment:
    """Queries a minute of each stage and of the whole for each R, beside the study's."""
    times, rows = timing.value(), []
    bm25 = published.value(STUDY, "text 5.3.1", "BM25", "queries per minute")
    for stage, printed, spent in ((f"{OR}: documents counted, not ranked", "", times["stages"][OR]),
                                  ("BM25 over what it returns", f"about {bm25.printed}", times["stages"][BM25]),
                                  *((f"BM25, then {name} on R = {depth}", "", total(times, int(depth)))
                                    for depth in times["windows"]),
                                  *((f"the third stage alone, {stage}", "", own) for stage, own in times["stages"].items()
                                    if stage.startswith(PAIRS.format("")))):
        rows.append([stage, printed, linked(rounds_cell(60_000 / np.array(spent)), timing)])
    for row, entry in published.column(STUDY, "5.5", "Queries/min").items():
        rows.append([f"BM25, then {row} ({studied_shapes()[row]}) on R = 20", entry.printed, ""])
    here = float(np.median(60_000 / np.array(times["stages"][BM25])))
    return page.show_table(f"Queries a minute, published and measured on {page.where(timing.entry().manifest['machine'])}",
                           ("stage", "published", "here"), rows, values=[table_value(bm25, "queries_per_minute", here, timing)])


def speed_check(timing: Step) -> Fragment:
    """Some queries of it, here and now, beside the recorded times; BM25 is left out, for its list is shorter here."""
    least = min(map(int, timing.value()["windows"]))
    return spot_check(timing, lambda value: {OR: value["stages"][OR], f"the model on R = {least}": value["stages"][str(least)]},
                      "milliseconds a query", depths=[least], timed=4, rounds=1, pairwise=None, paired=None)


def curve(systems: Systems, timing: Step) -> Fragment:
    """Effect against latency, a point for each R and each number of documents in pairs."""
    return scatter.points(tradeoff(systems, timing.value()), "milliseconds per query", MEASURE,
                        f"{MEASURE} over the time of a query, by the number of documents re-ranked, and of those compared in "
                        "pairs.", log=True, line="stages")


def tradeoff(systems: Systems, times: dict[str, Any]) -> pd.DataFrame:
    """Effect and median latency of each."""
    return pd.DataFrame([{"": label(stages), "milliseconds per query": float(np.median(total(times, *stages))),
                          MEASURE: system.mean(MEASURE).mean, "stages": bool(stages.paired)}
                         for stages, system in systems.items()]).set_index("")


def curve_table(systems: Systems, timing: Step) -> Fragment:
    """The same in numbers."""
    times = timing.value()
    return page.records_table("Effect and cost of each number of documents; a list has the re-ranked ones alone, so with R = 5 "
                              "R@10 counts five", [
        {"documents re-ranked": label(stages), MEASURE: mean_cell(system, MEASURE), "R@10": mean_cell(system, "R@10"),
         "windows a query": plain(times["windows"].get(str(stages.depth), 0) / times["queries"], 1),
         "pairs a query": count(stages.paired * (stages.paired - 1)),
         "ms a query": linked(rounds_cell(total(times, *stages)), timing)} for stages, system in systems.items()])


def label(stages: Stages) -> str:
    """How the tables call them."""
    alone = f"R = {stages.depth}" if stages.depth else BM25
    return f"{alone}, then {stages.paired} in pairs" if stages.paired else alone


def signs(systems: Systems, matches: pd.DataFrame, times: dict[str, Any]) -> dict[str, bool]:
    """What the discussion rests on."""
    known = published.value(STUDY, "text 4.2", "OR retrieval", "share of documents retrieved").amount
    rates = published.value(STUDY, "text 5.3.1", "BM25", "queries per minute").amount
    means = {stages: system.mean(MEASURE).mean for stages, system in systems.items() if stages.depth}
    alone, pairs = ({stages: mean for stages, mean in means.items() if bool(stages.paired) == paired} for paired in (False, True))
    most = max(alone)
    half = min(alone, key=lambda stages: abs(2 * stages.depth - most.depth))
    return {"the OR phase returns a smaller share than in the study": float(shares(matches).mean()) < known,
            "BM25 answers more queries a minute than in the study": float(np.median(times["stages"][BM25])) < 60_000 / rates,
            "the model takes most of the time at every R": all(
                float(np.median(times["stages"][depth])) > float(np.median(times["stages"][BM25])) for depth in times["windows"]),
            "the largest R gains less than a hundredth over half of it": means[most] - means[half] < 0.01,
            "recall in ten still rises at the largest R": systems[most].mean("R@10").mean > systems[half].mean("R@10").mean,
            "pairs rank above every R": bool(pairs) and max(pairs.values()) > max(alone.values()),
            "most pairs take longer than the largest R": bool(pairs) and bool(
                np.median(total(times, *max(pairs))) > np.median(total(times, *most)))}


# ---- under load, and where one machine ends ----

def load_table(measurements: Measurements) -> Fragment:
    """The service under load: answers a second, median and 99th percentile of their times, and the rate beside the book's."""
    section = measurements.section("serve")
    if section is None:
        return page.prose("The service under load: not measured yet; `make bench` measures.")
    own = section["contenders"][OURS]
    return page.records_table(
        f"Answers under load, {section['candidates']} texts re-ranked for each, all on one core, measured on "
        f"{section['measured'][:10]}",
        ({"contender": name, "clients": clients, "answers/s": plain(load["per_second"], 2),
          "this book's / its": f"{own[clients]['per_second'] / load['per_second']:.2f}×", "p50": seconds(load["p50"]),
          "p99": seconds(load["p99"]), "refused": count(int(load["refused"]))}
         for name, loads in section["contenders"].items() for clients, load in loads.items()))


def load_notes(measurements: Measurements) -> Fragment:
    """What was missing, and the memory."""
    section = measurements.section("serve")
    if section is None:
        return page.prose()
    missing, memory, cores = section["missing"], section["memory"], measurements.content["machine"]["cores"]
    loads, alone = section["contenders"][OURS], section["contenders"].get(SEQUENTIAL, {})
    gains = [f"{loads[number]['per_second'] / load['per_second']:.2f}" for number, load in alone.items()]
    low, high = min(section["load"]), max(section["load"])
    return page.prose(
        (f"Batches answer {joined(gains)} times as many requests as one at a time, by the number of clients. The windows of one "
         "request fill a core's units already; batches help a little where many requests wait.") if gains else "",
        f"The machine's load was {plain(low, 1)} to {plain(high, 1)} on {cores} cores, the measurement included.",
        busy(section["load"], cores), f"Not installed, hence not measured: {', '.join(missing)}." if missing else "",
        f"After a fifth of {count(memory['requests'])} cheap requests (BM25 alone, one document shown) service and Java had "
        f"{memory['MiB'][0]:.0f} MiB, after all of them {memory['MiB'][1]:.0f} MiB.")


def one_machine(trial: RerankingExperiment, timing: Step, matches: Step) -> Fragment:
    """What the collection's own files and times say of a collection as large as MS MARCO's documents, in proportion."""
    bed, times = trial.bed, timing.value()
    facts = paths.listed(paths.PUBLISHED / "scale.yaml")["rows"]
    amounts = {row["what"]: row["amount"] for row in facts}
    known = {row["what"]: with_interval(row["amount"], row["source"]) for row in facts}
    factor, rows = float(amounts[TEXTS].split()[0]) * 1e9 / folder_size(bed.store).value()["bytes"], []
    for what, step, told in (("texts", bed.store, TEXTS), ("Lucene index", bed.index, INDEX),
                             ("tokens of the windows", bed.tokens(backbone.resolve("packaged")), "")):
        step.value()
        size, spent = folder_size(step).value()["bytes"], step.entry().manifest["seconds"]
        rows.append([what, with_interval(f"{size / 1e6:.1f} MB", seconds(spent)),
                     with_interval(f"{size * factor / 1e9:.1f} GB", seconds(spent * factor)), known.get(told, "")])
    matching, most = float(np.median(times["stages"][BM25])), max(times["windows"], key=int)
    rows += [["BM25, a query", f"{matching:.1f} ms", f"at most {seconds(matching * factor / 1000)}", known[SEARCH]],
             [f"the model on R = {most}, a query", *[seconds(float(np.median(times["stages"][most])) / 1000)] * 2, ""]]
    texts = int(matches.value()["of"].iloc[0])
    return page.show_table(f"A slice of {count(texts)} texts, and in proportion to its bytes the documents of MS MARCO",
                           ("what", "measured", "in proportion", "published"), rows)
