"""The chapter *What embeddings hold* (David 2020, section 4.4.3 and figure B.2)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from helpers.data.texts import Texts
from helpers.encoders.embedding_space import similarities, tsne_map
from helpers.evaluation import measures
from helpers.pages import figures, page, plots
from helpers.pages.compare import measured
from helpers.pages.fragments import Fragment, linked
from helpers.pages.numbers import count, p_value, plain, signed
from helpers.retrieval.term_recall import term_overlap
from helpers.steps import Step
from helpers.stories import encoders
from helpers.stories.wording import effect
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation
from helpers.systems.testbed import Testbed

MEASURE = "RR@10"
BM25, BEFORE, AFTER = "BM25", "zero-shot encoder", "fine-tuned encoder"
DEPTH = 100  # passages kept for each query
PERPLEXITY = 20.0  # of t-SNE: about how many neighbours of a point count
SHOWN_WORDS = 40  # of a passage
BANDS = {"none": (-1.0, 0.0), "up to half": (0.0, 0.5), "over half": (0.5, 0.999), "all": (0.999, 1.0)}


def models(base: BiEncoder) -> dict[str, BiEncoder]:
    """The encoder before and after its training."""
    return {BEFORE: base.zero_shot(), AFTER: base}


def evaluations(found: Mapping[str, BiEncoder], bed: Testbed) -> dict[str, Evaluation]:
    """BM25 and the encoders on the same queries."""
    return {BM25: encoders.baseline(bed, DEPTH),
            **{name: encoders.searched(name, model, bed, DEPTH) for name, model in found.items()}}


def of_space(make: Any, model: BiEncoder, bed: Testbed, *more: Any) -> Step:
    """A step on the vectors of a model: `similarities`, or `tsne_map` with its sample, perplexity and seed."""
    return make(model.embeddings(bed), model.query_embeddings(bed), bed.store, bed.query_step, bed.qrels_step, bed.min_relevance,
                *more)


def spaces(found: Mapping[str, BiEncoder], bed: Testbed) -> dict[str, Step]:
    """The similarities of each model."""
    return {name: of_space(similarities, model, bed) for name, model in found.items()}


def maps(found: Mapping[str, BiEncoder], bed: Testbed, sample: int, seed: int) -> dict[str, Step]:
    """The map of each model's space."""
    return {name: of_space(tsne_map, model, bed, sample, PERPLEXITY, seed) for name, model in found.items()}


def map_figure(found: Mapping[str, pd.DataFrame]) -> Fragment:
    """Queries and their relevant passages in the plane, a panel for each model; a line joins the two of a pair."""
    figure, panels = figures.new(columns=len(found), width=3.7 * len(found), height=3.9)
    said = []
    for axis, (name, points) in zip(panels, found.items(), strict=True):
        query, passage = (points[points["kind"] == kind].set_index("query_id")[["x", "y"]] for kind in ("query", "passage"))
        for start, end in zip(query.to_numpy(), passage.loc[query.index].to_numpy(), strict=True):
            axis.plot([start[0], end[0]], [start[1], end[1]], color="0.6", lw=0.5, zorder=1)
        for each, label, marker, colour in ((query, "query", "o", 0), (passage, "relevant passage", "^", 1)):
            axis.scatter(each["x"], each["y"], s=14, marker=marker, color=figures.COLOURS[colour], label=label, zorder=2)
        axis.set(title=name, xticks=[], yticks=[])
        said.append(f"{name}: {nearest_share(points):.0%} of {len(query)} queries have their own passage as the nearest.")
    panels[0].legend(loc="best", fontsize=10)
    alt = "Maps of queries and their relevant passages, a line between the two of a pair. " + " ".join(said)
    return figures.show(figure, alt, "Queries and relevant passages in the plane by t-SNE; long distances there mean little.")


def nearest_share(points: pd.DataFrame) -> float:
    """The share of queries on a map whose own passage is the nearest of all passages there."""
    query, passage = (points.loc[points["kind"] == kind, ["x", "y"]].to_numpy() for kind in ("query", "passage"))
    distances = np.linalg.norm(query[:, None] - passage[None], axis=2)
    return float((distances.argmin(axis=1) == np.arange(len(query))).mean())


def space_table(steps: Mapping[str, Step]) -> Fragment:
    """How similar queries are to their relevant passages and to all others, before and after the training."""
    rows = []
    for name, step in steps.items():
        table = step.value()
        value = linked(plain(table["relevant"].mean()), step)
        rows.append([name, value, plain(table["other"].mean()),
                     plain((table["relevant"] - table["other"]).mean()), f"{table['above'].mean():.2%}"])
    header = ("encoder", "relevant passage", "all others", "distance", "others that are less similar")
    return page.show_table("Mean similarity of a query to passages", header, rows)


def overlap(bed: Testbed) -> Step:
    """The step that measures how much of each query its relevant passage repeats."""
    return term_overlap(bed.store, bed.query_step, bed.qrels_step, bed.min_relevance)


def bands(shares: pd.DataFrame) -> pd.Series:
    """For each query how much of it its relevant passage repeats: none, up to half, over half, all."""
    named = {name: (shares["share"] > low) & (shares["share"] <= high) for name, (low, high) in BANDS.items()}
    group = pd.Series("none", index=shares["query_id"])
    for name, chosen in named.items():
        group[chosen.to_numpy()] = name
    return group


def by_overlap(systems: Mapping[str, Evaluation], shares: pd.DataFrame) -> Fragment:
    """RR@10 of each system by how much of the query the relevant passage repeats."""
    groups = bands(shares)
    groups = groups[groups.index.isin(next(iter(systems.values())).values.index)]
    order = [name for name in BANDS if (groups == name).any()]
    groups = groups.sort_values(key=lambda column: column.map(order.index), kind="stable")
    values = pd.DataFrame({name: system.values[MEASURE] for name, system in systems.items()}).loc[groups.index]
    caption = f"{MEASURE} by the share of the query's terms that its relevant passage holds."
    return plots.means_by_group(values, groups, MEASURE, caption)


def ranks(systems: Mapping[str, Evaluation], bed: Testbed) -> pd.DataFrame:
    """The rank of each query's best relevant passage, a column a system; missing where it was not found."""
    return pd.DataFrame({name: measures.first_relevant_rank(system.run, bed.qrels, bed.min_relevance, bed.judged)
                         for name, system in systems.items()})


def won(places: pd.DataFrame, winner: str, loser: str, within: int) -> pd.DataFrame:
    """Queries that the winner answers at the first place and the loser not within so many; worst of the loser first."""
    chosen = places[(places[winner] == 1) & ~(places[loser] <= within)]
    return chosen.sort_values(loser, ascending=False, na_position="first", kind="stable")


def examples(systems: Mapping[str, Evaluation], bed: Testbed, winner: str, loser: str, within: int, how_many: int) -> Fragment:
    """Queries that one system answers at once and the other does not find, with the texts."""
    found, texts = won(ranks(systems, bed), winner, loser, within), Texts(bed.store.value())
    asked = bed.query_frame.set_index("query_id")["text"]
    best = {name: system.run.groupby("query_id", sort=False)["doc_id"].first() for name, system in systems.items()}
    rows = []
    for query in found.index[:how_many]:
        place, other = found.loc[query, loser], best[loser].get(query)
        rows.append([asked[query], shown(texts, best[winner][query]), "not found" if pd.isna(place) else f"rank {int(place)}",
                     shown(texts, other) if other is not None else "nothing"])
    caption = (f"Relevant first for {winner}, not among the first {within} of {loser}: {count(len(found))} queries, "
               f"{len(rows)} shown")
    header = ("query", "relevant passage", f"its rank in {loser}", f"first of {loser}")
    return page.show_table(caption, header, rows, numeric_from=9)


def shown(texts: Texts, doc_id: str) -> str:
    """The beginning of a passage."""
    words = f"{texts[doc_id].title} {texts[doc_id].body}".split()
    return " ".join(words[:SHOWN_WORDS]) + (" …" if len(words) > SHOWN_WORDS else "")


def counts_table(systems: Mapping[str, Evaluation], bed: Testbed, within: int) -> Fragment:
    """How many queries each pair of systems answers: both, one alone, neither; within so many places."""
    places = ranks(systems, bed)
    names = list(systems)
    rows = []
    for first, second in ((a, b) for number, a in enumerate(names) for b in names[number + 1:]):
        one, two = places[first] <= within, places[second] <= within
        both, *others = (count(int(chosen.sum())) for chosen in (one & two, one & ~two, ~one & two, ~one & ~two))
        rows.append([f"{first}, {second}", measured(both, systems[first]), *others])
    return page.show_table(f"Queries with a relevant passage among the first {within}",
                           ("first, second", "both", "first alone", "second alone", "neither"), rows)


def finding(systems: Mapping[str, Evaluation], encoder: str, shares: pd.DataFrame, bed: Testbed, within: int) -> Fragment:
    """The chapter's last words: does the encoder gain where words do not match?"""
    share = shares.set_index("query_id")["share"]
    difference = (systems[encoder].values[MEASURE] - systems[BM25].values[MEASURE]).reindex(share.index).dropna()
    places = ranks(systems, bed)
    alone = {name: len(won(places, name, other, within)) for name, other in ((encoder, BM25), (BM25, encoder))}
    said: list[str] = [
        f"The {encoder} against {BM25}: RR@10 {effect(systems[encoder].against(systems[BM25], MEASURE))}.",
        f"It has a relevant passage first where {BM25} has none among its first {within} for {count(alone[encoder])} queries; "
        f"the reverse holds for {count(alone[BM25])}."]
    if share.nunique() > 1 and difference.nunique() > 1:
        found = stats.spearmanr(share[difference.index], difference)
        said.append(f"Spearman's correlation of that gain with the share of the query that its relevant passage repeats is "
                    f"{signed(float(found.statistic), 2)} (p {p_value(float(found.pvalue))}, {count(len(difference))} queries).")
    return page.prose(*said)
