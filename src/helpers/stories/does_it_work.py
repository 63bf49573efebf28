"""The chapter *Does it work?* (Steensland 2021, experiment 1)."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from helpers.data.collection import open_collection
from helpers.data.texts import Texts
from helpers.data.windows import doc_of
from helpers.evaluation import measures, published
from helpers.pages import claims, identity, page
from helpers.pages.compare import mean_cell
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, interval, p_value, plain, seconds, signed
from helpers.reranking.aggregation import aggregate
from helpers.steps import Step
from helpers.stories.wording import effect, significance
from helpers.systems.base_reranker import base_reranker
from helpers.systems.evaluated import Evaluation, evaluate
from helpers.systems.reranker import Reranker
from helpers.systems.testbed import Testbed
from helpers.systems.warm_up import WarmUp

STUDY, TABLE = "steensland2021", "5.1"
MEASURES = ["RR@10", "R@10", "nDCG@10"]
SYSTEMS = {"BERT-Max": "max", "BERT-Mean": "mean", "BERT-FirstP": "first", "BERT-SumP": "sum"}
SECTIONS = {"BERT-Max, section labels": "max", "BERT-Mean, section labels": "mean"}
BASE = {"BERT-Max, no labels": "max", "BERT-Mean, no labels": "mean"}
DENSE, DENSE_MEAN = "zero-shot MiniLM", "zero-shot MiniLM, mean"
KINDS_OF_WINDOWS = ("with the answer", "of the relevant document, without it", "of other candidates")


def published_means() -> Fragment:
    """What the study printed, in a sentence."""
    cells = {row: published.value(STUDY, TABLE, row, "MRR@10") for row in ("BM25", "BERT-Max", "BERT-Mean")}
    values = ", ".join(f"{entry.printed}{entry.mark} for {row}" for row, entry in cells.items())
    first = cells["BM25"]
    return page.prose(f"On {first.queries} test queries the study measured an MRR@10 of {values} ({first.where}); the "
                      "dagger marks a significant difference from BM25 in a paired t-test.")


def evaluations(bed: Testbed, run: Step, scores: Step, sections: Step | None, base: Step | None,
                dense: Step) -> dict[str, Evaluation]:
    """BM25, the cross-encoder under four aggregations, and under two the one that learned from sections, the base, which learned
    from no label, and the zero-shot bi-encoder, on the same candidates."""
    systems = {"BM25": evaluate("BM25", run.value(), bed, MEASURES, run)}
    for source, names in ((scores, SYSTEMS), (sections, SECTIONS), (base, BASE), (dense, {DENSE: "max", DENSE_MEAN: "mean"})):
        if source is not None:
            windows = source.value()
            systems |= {name: evaluate(name, aggregate(windows, how), bed, MEASURES, source) for name, how in names.items()}
    return systems


def claims_table(systems: Mapping[str, Evaluation], bed: Testbed, candidates: int) -> Fragment:
    """The chapter's claims with their verdicts; none on a system that knows the articles that it was trained on."""
    pairs = {"bert-mean-beats-bm25": (systems["BERT-Mean"], systems["BM25"]),
             "bert-max-not-significantly-above-bm25": (systems["BERT-Max"], systems["BM25"]),
             "mean-of-passages-beats-maximum": (systems["BERT-Mean"], systems["BERT-Max"])}
    return claims.judge("does_it_work", pairs, incomparable={
        name: identity.knows_articles(first, systems[DENSE], bed, candidates) for name, (first, _) in pairs.items()},
        controls={"bert-mean-beats-bm25": (systems["BERT-Mean"], systems[DENSE_MEAN])})


def ranks(systems: Mapping[str, Evaluation], bed: Testbed, names: list[str]) -> dict[str, pd.Series]:
    """The rank of each query's best relevant document, by system."""
    return {name: measures.first_relevant_rank(systems[name].run, bed.qrels, bed.min_relevance, bed.judged) for name in names}


def moves(systems: Mapping[str, Evaluation], bed: Testbed, name: str, how_many: int, won: bool) -> Fragment:
    """The queries that gained or lost most against BM25: text, ranks before and after, and the relevant title."""
    places = [own.map("rank {:.0f}".format).mask(own.isna(), "not found") for own in ranks(systems, bed, ["BM25", name]).values()]
    change = systems[name].values["RR@10"] - systems["BM25"].values["RR@10"]
    moved = change[change > 0 if won else change < 0].sort_values(ascending=not won, kind="stable")
    queries = bed.query_frame.set_index("query_id").loc[moved.index[:how_many]]
    rows = [[query["text"], *(own[str(key)] for own in places),
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
    """Which of the three kinds each scored window is.

    Args:
        windows: columns query_id, doc_id (a window id).
        answers: two columns, queries and the windows that hold their answers.
        relevant: two columns, queries and their relevant documents.
    """
    documents = pd.MultiIndex.from_arrays([windows["query_id"], windows["doc_id"].map(doc_of)])
    return np.select([pd.MultiIndex.from_frame(windows[["query_id", "doc_id"]]).isin(pd.MultiIndex.from_frame(answers)),
                      documents.isin(pd.MultiIndex.from_frame(relevant))], KINDS_OF_WINDOWS[:2], KINDS_OF_WINDOWS[2])


def window_table(bed: Testbed, scores: Step) -> Fragment:
    """What the model says of windows with the answer, of other windows of the same documents, and of other documents."""
    if bed.answers is None:
        return page.prose("This collection does not say where in a document its answer lies.")
    windows = scores.value()
    relevant = bed.qrels.loc[bed.qrels["relevance"] >= bed.min_relevance, ["query_id", "doc_id"]]
    groups = windows.groupby(kinds_of(windows, bed.answers.value(), relevant))["score"]
    return page.records_table("Scores of windows, by what they hold", [
        {"windows": kind, "how many": count(len(scored)), "mean score": plain(scored.mean()),
         "share above one half": plain((scored > 0.5).mean())}
        for kind in KINDS_OF_WINDOWS if kind in groups.groups for scored in [groups.get_group(kind)]])


def section_model(collection: str, backbone: str, queries: int) -> Reranker | None:
    """The model of the chapters on fine-tuning, which learns from labelled sections; None where there are none."""
    if "passage" not in open_collection(collection).units:
        return None
    return base_reranker(collection, backbone, queries)


def base_model(collection: str, backbone: str, pseudo_queries: int) -> WarmUp | None:
    """The base, which learned without labels and from train articles alone; None if there are no passages to learn from."""
    if not pseudo_queries or "passage" not in open_collection(collection).units:
        return None
    return WarmUp(collection=collection, backbone=backbone, first=pseudo_queries)


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
    rows = [[name, *(mean_cell(system, "RR@10") for system in systems)] for name, systems in trained.items()]
    return page.show_table("RR@10 by aggregation and training", ("positive windows in training", *SYSTEMS), rows)


def finding(systems: Mapping[str, Evaluation], bed: Testbed, scores: Step, candidates: int) -> Fragment:
    """The chapter's last words."""
    means = {name: system.mean("RR@10").mean for name, system in systems.items()}
    ceiling = bed.per_query(systems["BM25"].run, [f"R@{candidates}"]).mean().iloc[0]
    base, mean, dense = (systems[name] for name in ("BM25", "BERT-Mean", DENSE))
    gain, over_dense = mean.against(base, "RR@10"), mean.against(dense, "RR@10")
    best, d = max(SYSTEMS, key=means.__getitem__), gain.difference
    text = [f"Re-ranking with the mean of the window scores {'raises' if d.mean > 0 else 'lowers'} RR@10 from "
            f"{plain(means['BM25'])} to {plain(means['BERT-Mean'])} over {gain.queries} queries: a difference of "
            f"{signed(d.mean)} {interval(d.low, d.high, sign=True)}, {significance(gain)} (t-test p {p_value(gain.p_t)}, "
            f"permutation p {p_value(gain.p_permutation)})."]
    if set(SECTIONS) <= set(systems):
        by_maximum, by_mean = (systems[name] for name in SECTIONS)
        text.append(f"A model that learned from labelled sections stands, with the maximum, at "
                    f"{effect(by_maximum.against(base, 'RR@10'))} against BM25, and at "
                    f"{effect(by_maximum.against(by_mean, 'RR@10'))} against its own mean.")
    if set(BASE) <= set(systems):
        by_maximum = systems["BERT-Max, no labels"]
        text.append(f"The base, which saw neither a label nor a text of another split, stands with the maximum at "
                    f"{plain(means['BERT-Max, no labels'])}: {effect(by_maximum.against(base, 'RR@10'))} against BM25, "
                    f"{effect(by_maximum.against(dense, 'RR@10'))} against the zero-shot bi-encoder that taught it.")
    return page.prose(
        *text, f"The best aggregation of its scores is {best} with {plain(means[best])}.",
        f"The ceiling that the candidates set is {plain(ceiling)} (recall in BM25's top {candidates}).",
        f"The fine-tuned cross-encoder ends {'ahead of' if over_dense.difference.mean > 0 else 'behind'} the zero-shot "
        f"bi-encoder that it started from ({plain(means[DENSE])}; difference {signed(over_dense.difference.mean)}, permutation p "
        f"{p_value(over_dense.p_permutation)}).",
        f"Scoring took {seconds(scores.entry().manifest['seconds'])}.")
