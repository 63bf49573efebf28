"""The chapter *Does it work?* (Steensland 2021, experiment 1)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.texts import Texts
from helpers.data.windows import doc_of
from helpers.evaluation import measures, published
from helpers.evaluation.pools import are_graded
from helpers.pages import claims, compare, identity, page, training
from helpers.pages.compare import above, beside, beside_published, differences_table, mean_cell
from helpers.pages.fragments import Fragment, explored
from helpers.pages.numbers import count, plain
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.listwise_reranker import Listwise, ListwiseReranker
from helpers.systems.reranking_experiment import RerankingExperiment
from helpers.systems.testbed import OVERLAP, WORDS, Testbed
from helpers.systems.zero_shot import ZERO_SHOT, ZeroShotReranker, zero_shot_in

STUDY, TABLE = "steensland2021", "5.1"
AGGREGATIONS = {"BERT-Max": "max", "BERT-Mean": "mean", "BERT-FirstP": "first", "BERT-SumP": "sum"}
STUDYS, SECTIONS, NONE = "documents", "sections", "none"  # whose labels a model learns from
MEAN = ", mean"  # how the name of the zero-shot encoder ends where its windows are averaged
OTHER_RATIO = "trained on one relevant document beside a few others, and not on all of the first forty, as the thesis is"
KINDS_OF_WINDOWS = ("with the answer", "of the relevant document, without it", "of other candidates")


def models(study: ListwiseReranker, sections: ListwiseReranker, seeds: Sequence[int]) -> dict[str, list[Listwise]]:
    """Models by the labels that they learn from, over seeds of head and order.

    `documents`: the study's; windows of documents, relevant if their document is (Steensland 2021, section 4.1.2). `sections`:
    passages that are judged so themselves, where the collection has them. `none`: the warm-up that both go on from.
    """
    whole = replace(study, unit="document", words=WORDS, overlap=OVERLAP)
    made: dict[str, list[Listwise]] = {STUDYS: [replace(whole, seed=seed) for seed in seeds]}
    if sections.unit == "passage":
        made[SECTIONS] = [replace(sections, seed=seed) for seed in seeds]
    return made | ({NONE: [study.start]} if study.start else {})


def named(aggregation: str, labels: str) -> str:
    """How a system is called: the study's own labels need no word."""
    return aggregation + {STUDYS: "", SECTIONS: ", section labels", NONE: ", no labels"}[labels]


def evaluations(trial: RerankingExperiment, trained: Mapping[str, Sequence[Listwise]],
                zero_shot: ZeroShotReranker) -> dict[str, Evaluation]:
    """BM25, every model under every aggregation, and the zero-shot bi-encoder, on the same candidates."""
    by_name = {how: replace(trial, aggregation=how) for how in AGGREGATIONS.values()}
    systems = {"BM25": trial.baseline()}
    for labels, group in trained.items():
        systems |= {(label := named(name, labels)): by_name[how].over_seeds(label, group) for name, how in AGGREGATIONS.items()}
    ways = {zero_shot.label: "max", zero_shot.label + MEAN: "mean"}
    return systems | {name: by_name[how].of(name, zero_shot) for name, how in ways.items()}


def in_the_table(systems: Systems) -> dict[str, Evaluation]:
    """Those that stand beside the study's: of labels that are not its own, the maximum and the mean alone."""
    return {name: system for name, system in systems.items()
            if name in AGGREGATIONS or not name.startswith(("BERT-FirstP", "BERT-SumP"))}


def shown_measures(bed: Testbed) -> list[str]:
    """What the tables show: RR@10, and for graded judgments nDCG@10, too."""
    return ["RR@10", "nDCG@10"] if are_graded(bed.qrels, bed.every_grade) else ["RR@10"]


def beside_the_study(systems: Systems, bed: Testbed, judged: Fragment) -> Fragment:
    """Table 5.1 in reciprocal rank, with the words of the `judged` claims; below it, for graded judgments, each system and BM25
    in nDCG@10."""
    shown = beside_published(STUDY, TABLE, "MRR@10", "RR@10", in_the_table(systems), "BM25", judged)
    pairs = {name: (system, systems["BM25"]) for name, system in in_the_table(systems).items() if name != "BM25"}
    more = [differences_table(f"Each system (first) and BM25 (second), in {measure}", pairs, measure).html
            for measure in shown_measures(bed)[1:]]
    return replace(shown, html="".join((shown.html, *more)))


def fusion(trial: RerankingExperiment, dev: RerankingExperiment, group: Sequence[Listwise], zero_shot: ZeroShotReranker,
           systems: Systems) -> Fragment:
    """What the zero-shot encoder's opinion adds to the maximum, z-scored within a query; no system of the study's, so apart.

    The group are the models that learned from sections, over seeds; the queries of `dev` choose the weight; `systems` has both
    alone.
    """
    alone, dense, dev = systems[named("BERT-Max", SECTIONS)], zero_shot_in(systems), replace(dev, aggregation="max")
    weight = dev.best_weight(dev.of("", group[0]), dev.of("", zero_shot))
    if weight == 1:
        return page.prose(
            f"The best weight on {count(len(dev.bed.judged))} development queries leaves the encoder out, so that the sum is the "
            f"re-ranker alone, with an RR@10 of {plain(alone.mean('RR@10').mean)}; the encoder alone has "
            f"{beside(alone, dense, 'RR@10')}.")
    system = trial.fused_over_seeds(f"BERT-Max, section labels, with {zero_shot.label}", group, dense, weight)
    return page.prose(
        f"With weight {plain(weight, 1)} for the re-ranker, the best on {count(len(dev.bed.judged))} development queries, the "
        f"sum reaches an RR@10 of {plain(system.mean('RR@10').mean)}, the re-ranker alone {beside(system, alone, 'RR@10')}, the "
        f"encoder alone {beside(system, dense, 'RR@10')}.")


def claims_table(systems: Systems, log: Mapping[str, Any], bed: Testbed, candidates: int) -> Fragment:
    """The chapter's claims with their verdicts, of the models that learned from the study's labels, as this log says; none on a
    system that knows the articles that it was trained on. What the mean makes of a document rests on how many texts without an
    answer a model has seen, so that claims on the mean are of models trained at the thesis's ratio (section 4.1.2)."""
    pairs = {"bert-mean-beats-bm25": (systems["BERT-Mean"], systems["BM25"]),
             "bert-max-beats-bm25": (systems["BERT-Max"], systems["BM25"]),
             "mean-of-passages-beats-maximum": (systems["BERT-Mean"], systems["BERT-Max"])}
    averaged = next(system for name, system in systems.items() if name.startswith(ZERO_SHOT) and name.endswith(MEAN))
    lost = "the evaluation loss is that of a constant guess" if training.untrained(log) else ""
    barred = identity.barred(pairs, zero_shot_in(systems), bed, candidates)
    ratio = {claim: OTHER_RATIO for claim in pairs if claim != "bert-max-beats-bm25"}
    why = {claim: lost or known or ratio.get(claim, "") for claim, known in barred.items()}
    return claims.judge("does_it_work", pairs, untested=why, controls={"bert-mean-beats-bm25": averaged})


def signs(systems: Systems) -> dict[str, bool]:
    """What the discussion rests on besides the claims."""
    lead = systems["BERT-Max"].against(systems["BM25"], "RR@10").difference
    lags = {labels: compare.lead(systems[named("BERT-Max", labels)], systems[named("BERT-Mean", labels)], "RR@10")
            for labels in (STUDYS, SECTIONS) if named("BERT-Max", labels) in systems}
    mean, bm25 = systems["BERT-Mean"], systems["BM25"]
    first = [(system.values["RR@10"] == 1).mean() for system in (mean, bm25)]
    sections = systems.get(named("BERT-Max", SECTIONS))
    return {"the maximum's lead over BM25 is narrow": 0 < lead.low < lead.mean / 4,
            "the mean finds more than BM25 among the first ten, and puts fewer first":
                bool(compare.lead(mean, bm25, "R@10") > 0 and first[0] < first[1]),
            "labels of sections surely help the maximum":
                sections is not None and above(sections, systems["BERT-Max"], "RR@10"),
            "labels of sections bring the mean nearer to the maximum": lags.get(SECTIONS, lags[STUDYS]) < lags[STUDYS],
            "no re-ranker surely passes the zero-shot encoder": not any(
                above(system, zero_shot_in(systems), "RR@10") for name, system in systems.items() if name.startswith("BERT-"))}


def ranks(systems: Systems, bed: Testbed, names: list[str]) -> dict[str, pd.Series]:
    """The rank of each query's best relevant document, by system."""
    return {name: measures.first_relevant_rank(systems[name].run, bed.qrels, bed.min_relevance, bed.judged) for name in names}


def first_ranks() -> dict[str, float]:
    """The part of the study's queries whose best relevant document stands first (figure 5.1), of the systems that it gives."""
    known = {name: published.value(training.STUDY, "figure 5.1", name, "rank 1") for name in ("BM25", "BERT-Mean")}
    return {name: entry.amount / (entry.queries or 1) for name, entry in known.items()}


def moves(systems: Systems, bed: Testbed, name: str, how_many: int, won: bool) -> Fragment:
    """The queries that gained or lost most compared with BM25: text, ranks before and after, and the relevant title."""
    places = [own.map("rank {:.0f}".format).mask(own.isna(), "not found") for own in ranks(systems, bed, ["BM25", name]).values()]
    change = systems[name].values["RR@10"] - systems["BM25"].values["RR@10"]
    moved = change[change > 0 if won else change < 0].sort_values(ascending=not won, kind="stable")
    queries = bed.query_frame.set_index("query_id").loc[moved.index[:how_many]]
    rows = [[explored(str(key), query["text"]), *(own[str(key)] for own in places),
             ", ".join(str(query[label]) for label in ("answer_type", "style") if label in query), relevant_title(bed, str(key))]
            for key, query in queries.iterrows()]
    caption = f"Queries {'won' if won else 'lost'} by {name}: {len(moved)} of {len(change)}, the {len(rows)} largest"
    return page.show_table(caption, ("query", "BM25", name, "kind", "relevant text"), rows, numeric_from=9)


def relevant_title(bed: Testbed, query: str) -> str:
    """The title of the text that is judged highest, or its first words."""
    grades = bed.qrels[bed.qrels["query_id"] == query].sort_values("relevance", ascending=False)
    text = Texts(bed.store.value())[grades.iloc[0]["doc_id"]]
    return text.title or " ".join(text.body.split()[:15]) + " …"


def kinds_of(windows: pd.DataFrame, answers: pd.DataFrame, relevant: pd.DataFrame) -> np.ndarray:
    """Which of the three kinds each scored window is, by the pairs of a query with the windows that hold its answer, and those of
    a query with its relevant documents."""
    documents = pd.MultiIndex.from_arrays([windows["query_id"], windows["doc_id"].map(doc_of)])
    return np.select([pd.MultiIndex.from_frame(windows[["query_id", "doc_id"]]).isin(pd.MultiIndex.from_frame(answers)),
                      documents.isin(pd.MultiIndex.from_frame(relevant))], KINDS_OF_WINDOWS[:2], KINDS_OF_WINDOWS[2])


def window_table(trial: RerankingExperiment, models: Mapping[str, Sequence[Listwise]]) -> Fragment:
    """What the first model of each kind of labels says of windows with the answer, of other windows of the same documents, and of
    other documents."""
    bed, rows = trial.bed, []
    if bed.answers is None:
        return page.prose("This collection does not say where in a document its answer lies.")
    relevant = bed.qrels.loc[bed.qrels["relevance"] >= bed.min_relevance, ["query_id", "doc_id"]]
    for labels in (own for own in (STUDYS, SECTIONS) if own in models):
        windows = models[labels][0].scores(bed, trial.run, trial.candidates).value()
        groups = windows.groupby(kinds_of(windows, bed.answers.value(), relevant))["score"]
        rows += [{"labels of": labels, "windows": kind, "how many": count(len(scored)), "mean score": plain(scored.mean()),
                  "standard deviation": plain(scored.std())}
                 for kind in KINDS_OF_WINDOWS if kind in groups.groups for scored in [groups.get_group(kind)]]
    return page.records_table("Scores of windows, by what the model's labels were of and by what the windows hold", rows, 2)


def aggregation_by_labels(systems: Systems, bed: Testbed) -> Fragment:
    """RR@10 of each aggregation after each training; for graded judgments nDCG@10, too."""
    told = {STUDYS: "any windows of relevant documents", SECTIONS: "sections that answer", NONE: "none: the warm-up"}
    return Fragment("".join(page.records_table(f"{measure} by aggregation and by labels in training", (
        {"labelled relevant": text, **{name: mean_cell(systems[named(name, labels)], measure) for name in AGGREGATIONS}}
        for labels, text in told.items() if named("BERT-Max", labels) in systems)).html for measure in shown_measures(bed)))


def finding(systems: Systems, bed: Testbed, candidates: int) -> Fragment:
    """The chapter's last words."""
    ceiling = bed.per_query(systems["BM25"].run, [f"R@{candidates}"]).mean().iloc[0]
    best = max((name for name in systems if name.startswith("BERT")), key=lambda name: systems[name].mean("RR@10").mean)
    own, others = systems[best], {"BM25": systems["BM25"], (dense := zero_shot_in(systems)).label: dense}
    text = [f"Of the re-rankers *{best}* ranks best, with an RR@10 of {plain(own.mean('RR@10').mean)};",
            " and ".join(f"{name} has {beside(own, other, 'RR@10')}" for name, other in others.items()) + "."]
    for measure in shown_measures(bed)[1:]:
        text.append(f"In {measure}, which counts the grades, it has {plain(own.mean(measure).mean)}, and BM25 "
                    f"{beside(own, systems['BM25'], measure)}.")
    return page.prose(*text, f"No order of the first {candidates} candidates could exceed an RR@10 of {plain(ceiling)}.")
