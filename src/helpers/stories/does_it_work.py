"""The chapter *Does it work?* (Steensland 2021, experiment 1)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from helpers.data.collection import open_collection
from helpers.data.collection_base import Text
from helpers.data.windows import doc_of
from helpers.evaluation import measures, published
from helpers.evaluation.verdicts import ALPHA
from helpers.pages import claims, page
from helpers.pages.compare import mean_cell
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, interval, p_value, plain, seconds, signed
from helpers.reranking.aggregation import aggregate
from helpers.steps import Step
from helpers.stories.wording import effect
from helpers.systems.base_reranker import base_reranker
from helpers.systems.evaluated import Evaluation, evaluate
from helpers.systems.reranker import Reranker
from helpers.systems.testbed import Testbed

STUDY, TABLE = "steensland2021", "5.1"
MEASURES = ["RR@10", "R@10", "nDCG@10"]
SYSTEMS = {"BERT-Max": "max", "BERT-Mean": "mean", "BERT-FirstP": "first", "BERT-SumP": "sum"}
SECTIONS = {"BERT-Max, section labels": "max", "BERT-Mean, section labels": "mean"}
DENSE, DENSE_MEAN = "zero-shot MiniLM", "zero-shot MiniLM, mean"


def found_by_the_study() -> Fragment:
    """What the study printed, in a sentence."""
    cells = {row: published.value(STUDY, TABLE, row, "MRR@10") for row in ("BM25", "BERT-Max", "BERT-Mean")}
    first = cells["BM25"]
    said = ", ".join(f"{entry.printed}{entry.mark} for {row}" for row, entry in cells.items())
    return page.prose(f"On {first.queries} test queries the study measured an MRR@10 of {said} ({first.where}); the dagger marks "
                      "a significant difference from BM25 in a paired t-test.")


def evaluations(bed: Testbed, run: Step, scores: Step, sections: Step | None, dense: Step) -> dict[str, Evaluation]:
    """BM25, the cross-encoder under four aggregations, the one that learned from sections under two, and the zero-shot
    bi-encoder under two, on the same candidates."""
    found = {"BM25": evaluate("BM25", run.value(), bed, MEASURES, run)}
    windows = scores.value()
    for name, how in SYSTEMS.items():
        found[name] = evaluate(name, aggregate(windows, how), bed, MEASURES, scores)
    if sections is not None:
        for name, how in SECTIONS.items():
            found[name] = evaluate(name, aggregate(sections.value(), how), bed, MEASURES, sections)
    for name, how in ((DENSE, "max"), (DENSE_MEAN, "mean")):
        found[name] = evaluate(name, aggregate(dense.value(), how), bed, MEASURES, dense)
    return found


def claims_table(systems: Mapping[str, Evaluation]) -> Fragment:
    """The chapter's claims with their verdicts."""
    return claims.judge("does_it_work", {
        "bert-mean-beats-bm25": (systems["BERT-Mean"], systems["BM25"]),
        "bert-max-not-significantly-above-bm25": (systems["BERT-Max"], systems["BM25"]),
        "mean-of-passages-beats-maximum": (systems["BERT-Mean"], systems["BERT-Max"])},
        controls={"bert-mean-beats-bm25": (systems["BERT-Mean"], systems[DENSE_MEAN])})


def ranks(systems: Mapping[str, Evaluation], bed: Testbed, names: list[str]) -> dict[str, pd.Series]:
    """The rank of each query's best relevant document, by system."""
    return {name: measures.first_relevant_rank(systems[name].run, bed.qrels, bed.min_relevance, bed.judged) for name in names}


def moves(systems: Mapping[str, Evaluation], bed: Testbed, name: str, how_many: int, won: bool) -> Fragment:
    """The queries that gained or lost most against BM25: text, ranks before and after, and the relevant title."""
    before, after = ranks(systems, bed, ["BM25", name]).values()
    change = systems[name].values["RR@10"] - systems["BM25"].values["RR@10"]
    order = change.sort_values(ascending=not won, kind="stable")
    chosen = order[order > 0] if won else order[order < 0]
    questions = bed.query_frame.set_index("query_id")
    texts = {query: _relevant_title(bed, query) for query in chosen.index[:how_many]}
    rows = [[questions.loc[query, "text"], _place(before[query]), _place(after[query]), _label(questions.loc[query]),
             texts[query]] for query in texts]
    caption = f"Queries {'won' if won else 'lost'} by {name}: {len(chosen)} of {len(change)}, the {len(rows)} largest"
    return page.show_table(caption, ("query", "BM25", name, "kind", "relevant text"), rows, numeric_from=9)


def _place(rank: float) -> str:
    return "not found" if pd.isna(rank) else f"rank {int(rank)}"


def _label(query: pd.Series) -> str:
    return ", ".join(str(query[name]) for name in ("answer_type", "style") if name in query)


def _relevant_title(bed: Testbed, query: str) -> str:
    from helpers.data.texts import Texts

    relevant = bed.qrels[(bed.qrels["query_id"] == query) & (bed.qrels["relevance"] >= bed.min_relevance)]
    best = relevant.sort_values("relevance", ascending=False).iloc[0]["doc_id"]
    text: Text = Texts(bed.store.value())[best]
    return text.title or " ".join(text.body.split()[:15]) + " …"


def window_table(bed: Testbed, scores: Step) -> Fragment:
    """What the model says of windows with the answer, of other windows of the same documents, and of other documents."""
    if bed.answers is None:
        return page.prose("This collection does not say where in a document its answer lies.")
    holding = set(map(tuple, bed.answers.value().to_numpy()))
    relevant = set(map(tuple, bed.qrels.loc[bed.qrels["relevance"] >= bed.min_relevance, ["query_id", "doc_id"]].to_numpy()))
    windows = scores.value()
    kinds = pd.Series([kind_of(query, window, holding, relevant) for query, window in
                       zip(windows["query_id"], windows["doc_id"], strict=True)], name="kind")
    found = windows["score"].groupby(kinds)
    above = (windows["score"] > 0.5).groupby(kinds).mean()
    rows = [[kind, count(int(found.count()[kind])), plain(found.mean()[kind]), plain(above[kind])]
            for kind in KINDS_OF_WINDOWS if kind in found.groups]
    header = ("windows", "how many", "mean score", "share above one half")
    return page.show_table("Scores of windows, by what they hold", header, rows)


def section_model(collection: str, backbone: str, queries: int, epochs: int) -> Reranker | None:
    """The base model of the chapters on fine-tuning, which learns from labelled sections; None where there are none."""
    if "passage" not in open_collection(collection).units:
        return None
    return base_reranker(collection, backbone, queries, epochs)


def by_training(bed: Testbed, run: Step, model: Reranker, sections: Reranker | None,
                candidates: int) -> dict[str, list[Evaluation]]:
    """Every aggregation after the first pass, whose positives are any windows of relevant documents, after the whole training,
    which always has one that holds the answer, and after a training on labelled sections."""
    passes = {"first pass: any windows": model.start, "whole training: one with the answer": model,
              "labelled sections": sections}
    scores = {name: trained.scores(bed, run, candidates) for name, trained in passes.items() if trained is not None}
    return {name: [evaluate(how, aggregate(step.value(), how), bed, ["RR@10"], step) for how in SYSTEMS.values()]
            for name, step in scores.items()}


def aggregation_by_training(trained: Mapping[str, list[Evaluation]]) -> Fragment:
    """RR@10 of each aggregation after each training."""
    rows: list[list[Any]] = []
    for name, systems in trained.items():
        rows.append([name, *(mean_cell(system, "RR@10") for system in systems)])
    return page.show_table("RR@10 by aggregation and training", ("positive windows in training", *SYSTEMS), rows)


def section_sentences(systems: Mapping[str, Evaluation]) -> list[str]:
    """What labels of sections instead of documents change, if there is a model that had them."""
    if not set(SECTIONS) <= set(systems):
        return []
    best, mean = (systems[name] for name in SECTIONS)
    return [f"A model that learned from labelled sections stands, with the maximum, at "
            f"{effect(best.against(systems['BM25'], 'RR@10'))} against BM25, and at {effect(best.against(mean, 'RR@10'))} "
            "against its own mean."]


KINDS_OF_WINDOWS = ("with the answer", "of the relevant document, without it", "of other candidates")


def kind_of(query: str, window: str, holding: set, relevant: set) -> str:
    """Which of the three kinds a scored window is."""
    if (query, window) in holding:
        return KINDS_OF_WINDOWS[0]
    return KINDS_OF_WINDOWS[1 if (query, doc_of(window)) in relevant else 2]


def finding(systems: Mapping[str, Evaluation], bed: Testbed, scores: Step, candidates: int) -> Fragment:
    """The chapter's last words."""
    ceiling = bed.per_query(systems["BM25"].run, [f"R@{candidates}"]).mean().iloc[0]
    base, mean, dense = systems["BM25"], systems["BERT-Mean"], systems[DENSE]
    found, other = mean.against(base, "RR@10"), mean.against(dense, "RR@10")
    best = max(SYSTEMS, key=lambda name: systems[name].mean("RR@10").mean)
    d = found.difference
    verb = "raises" if d.mean > 0 else "lowers"
    sure = "significant" if found.p_permutation < ALPHA else "not significant"
    against_dense = "ahead of" if other.difference.mean > 0 else "behind"
    return page.prose(
        f"Re-ranking with the mean of the window scores {verb} RR@10 from {plain(base.mean('RR@10').mean)} to "
        f"{plain(mean.mean('RR@10').mean)} over {found.queries} queries: a difference of {signed(d.mean)} "
        f"{interval(d.low, d.high, sign=True)}, {sure} (t-test p {p_value(found.p_t)}, permutation p "
        f"{p_value(found.p_permutation)}).",
        *section_sentences(systems),
        f"The best aggregation of its scores is {best} with {plain(systems[best].mean('RR@10').mean)}.",
        f"The ceiling that the candidates set is {plain(ceiling)} (recall in BM25's top {candidates}).",
        f"The fine-tuned cross-encoder ends {against_dense} the zero-shot bi-encoder that it started from "
        f"({plain(dense.mean('RR@10').mean)}; difference {signed(other.difference.mean)}, permutation p "
        f"{p_value(other.p_permutation)}).",
        f"Scoring took {seconds(scores.entry().manifest['seconds'])}.")
