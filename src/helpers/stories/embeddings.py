"""The chapter *What embeddings hold* (David 2020, section 4.4.3 and figure B.2)."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from helpers.data.texts import Texts
from helpers.evaluation import measures
from helpers.pages import figures, page, plots
from helpers.pages.compare import beside, measured
from helpers.pages.fragments import Fragment, explored, linked
from helpers.pages.numbers import count, p_value, plain, signed
from helpers.steps import Step
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Systems, values_of
from helpers.systems.testbed import Testbed

MEASURE = "RR@10"
BM25, BEFORE, AFTER = "BM25", "zero-shot encoder", "fine-tuned encoder"
PERPLEXITY = 20.0  # of t-SNE: about how many neighbours of a point count
SHOWN_WORDS = 40  # of a passage
BANDS = {"none": 0.0, "up to half": 0.5, "over half": 0.999, "all": 1.0}  # up to which share


def of_space(make: Any, model: BiEncoder, bed: Testbed, *more: Any) -> Step:
    """A step on the vectors of a model: `similarities`, or `tsne_map` with its sample, perplexity and seed."""
    return make(model.embeddings(bed), model.query_embeddings(bed), bed.store, bed.query_step, bed.qrels_step, bed.min_relevance,
                *more)


def map_figure(maps: Mapping[str, pd.DataFrame]) -> Fragment:
    """Queries and their relevant passages in the plane, a panel for each model; a line joins the two of a pair."""
    figure, panels = figures.new(columns=len(maps), width=3.7 * len(maps), height=3.9)
    texts = []
    for axis, (name, points) in zip(panels, maps.items(), strict=True):
        query, passage = (points[points["kind"] == kind].set_index("query_id")[["x", "y"]] for kind in ("query", "passage"))
        both = np.stack([query, passage.loc[query.index]])  # (2, queries, 2)
        axis.plot(both[..., 0], both[..., 1], color="0.6", lw=0.5, zorder=1)
        for places, label, marker, colour in ((query, "query", "o", 0), (passage, "relevant passage", "^", 1)):
            axis.scatter(places["x"], places["y"], s=14, marker=marker, color=figures.COLOURS[colour], label=label, zorder=2)
        axis.set(title=name, xticks=[], yticks=[])
        texts.append(f"{name}: {nearest_share(points):.0%} of {len(query)} queries have their own passage as the nearest.")
    figures.legend(figure)
    alt = "Maps of queries and their relevant passages, a line between the two of a pair. " + " ".join(texts)
    return figures.show(figure, alt, "Queries and relevant passages in the plane by t-SNE; long distances there mean little.")


def nearest_share(points: pd.DataFrame) -> float:
    """The share of queries on a map whose own passage is the nearest of all passages there."""
    query, passage = (points.loc[points["kind"] == kind, ["x", "y"]].to_numpy() for kind in ("query", "passage"))
    distances = np.linalg.norm(query[:, None] - passage[None], axis=2)
    return float((distances.argmin(axis=1) == np.arange(len(query))).mean())


def space_table(steps: Mapping[str, Step]) -> Fragment:
    """How similar queries are to their relevant passages and to all others, before and after the training."""
    means = {name: step.value().mean(numeric_only=True) for name, step in steps.items()}
    return page.records_table("Mean similarity of a query to passages", (
        {"encoder": name, "relevant passage": linked(plain(mean["relevant"]), steps[name]), "all others": plain(mean["other"]),
         "relevant less others": plain(mean["relevant"] - mean["other"]), "others that are less similar": f"{mean['above']:.2%}"}
        for name, mean in means.items()))


def bands(shares: pd.DataFrame) -> pd.Series:
    """For each query how much of it its relevant passage repeats: none, up to half, over half, all."""
    return pd.cut(shares.set_index("query_id")["share"], [-1, *BANDS.values()], labels=list(BANDS))


def by_overlap(systems: Systems, shares: pd.DataFrame) -> Fragment:
    """RR@10 of each system by how much of the query the relevant passage repeats."""
    values, groups = values_of(systems, list(systems), MEASURE), bands(shares)
    groups = groups[groups.index.isin(values.index)].sort_values(kind="stable").astype(str)
    return plots.means_by_group(values.loc[groups.index], groups, MEASURE,
                                f"{MEASURE} by the share of the query's terms that its relevant passage holds.")


def ranks(systems: Systems, bed: Testbed) -> pd.DataFrame:
    """The rank of each query's best relevant passage, a column a system; missing where the run lacks it."""
    return pd.DataFrame({name: measures.first_relevant_rank(system.run, bed.qrels, bed.min_relevance, bed.judged)
                         for name, system in systems.items()})


def won(places: pd.DataFrame, winner: str, loser: str, within: int) -> pd.DataFrame:
    """Queries that the winner answers at the first place and the loser not within so many; worst of the loser first."""
    chosen = places[(places[winner] == 1) & ~(places[loser] <= within)]
    return chosen.sort_values(loser, ascending=False, na_position="first", kind="stable")


def examples(systems: Systems, bed: Testbed, winner: str, loser: str, within: int, how_many: int) -> Fragment:
    """Queries that one system answers at once and the other does not find, with the texts."""
    lost, texts = won(ranks(systems, bed), winner, loser, within)[loser], Texts(bed.store.value())
    questions = bed.query_frame.set_index("query_id")["text"]
    best = {name: system.run.groupby("query_id", sort=False)["doc_id"].first() for name, system in systems.items()}

    def shown(name: str, query: str) -> str:
        if query not in best[name]:
            return "nothing"
        text = texts[best[name][query]]
        words = f"{text.title} {text.body}".split()
        return " ".join(words[:SHOWN_WORDS]) + (" …" if len(words) > SHOWN_WORDS else "")

    rows = [[explored(query, questions[query]), shown(winner, query), "not found" if pd.isna(rank) else f"rank {int(rank)}",
             shown(loser, query)]
            for query, rank in zip(lost.index[:how_many], lost, strict=False)]
    return page.show_table(f"Relevant first for {winner}, not among the first {within} of {loser}: {count(len(lost))} queries, "
                           f"{len(rows)} shown", ("query", "relevant passage", f"its rank in {loser}", f"first of {loser}"), rows,
                           numeric_from=9)


def counts_table(systems: Systems, bed: Testbed, within: int) -> Fragment:
    """How many queries each pair of systems answers: both, one alone, neither; within so many places."""
    answered = ranks(systems, bed) <= within
    return page.records_table(f"Queries with a relevant passage among the first {within}", (
        {"first, second": f"{first}, {second}", "both": measured(f"{(one & two).sum():,}", systems[first]),
         "first alone": f"{(one & ~two).sum():,}", "second alone": f"{(~one & two).sum():,}",
         "neither": f"{(~one & ~two).sum():,}"}
        for first, second in combinations(systems, 2) for one, two in [(answered[first], answered[second])]))


def signs(systems: Systems, shares: pd.DataFrame, spaces: Sequence[Step]) -> dict[str, bool]:
    """What the discussion rests on; `spaces` are the similarities before the training and after it."""
    nearer = [1 - step.value()["above"].mean() for step in spaces]
    gain = (systems[AFTER].values[MEASURE] - systems[BM25].values[MEASURE]).groupby(bands(shares)).mean()
    return {"the encoder gains over BM25 where at most half of the words are shared, and loses where more are":
            bool(gain.get("up to half", 0.0) > 0 > gain.get("over half", 0.0)),
            "passages nearer than the relevant one become fewer by a third": bool(nearer[-1] < 2 / 3 * nearer[0]),
            "the fine-tuned encoder ranks better in the mean than the zero-shot one":
            systems[AFTER].mean(MEASURE).mean > systems[BEFORE].mean(MEASURE).mean}


def finding(systems: Systems, encoder: str, shares: pd.DataFrame) -> Fragment:
    """The chapter's last words: does the encoder gain where words do not match?"""
    share, (own, base) = shares.set_index("query_id")["share"], (systems[encoder], systems[BM25])
    difference = (own.values[MEASURE] - base.values[MEASURE]).reindex(share.index).dropna()
    text = (f"Over all queries the {encoder} has an RR@10 of {plain(own.mean(MEASURE).mean)} and {BM25} one of "
            f"{beside(own, base, MEASURE)}.")
    if share.nunique() == 1 or difference.nunique() == 1:
        return page.prose(text)
    correlation = stats.spearmanr(share[difference.index], difference)
    return page.prose(text, f"Its lead {'shrinks' if correlation.statistic < 0 else 'grows'} with the share of the query that "
                      f"its passage repeats: Spearman's correlation of the two is {signed(float(correlation.statistic), 2)} "
                      f"(p {p_value(float(correlation.pvalue))}).")
