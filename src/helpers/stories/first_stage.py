"""The chapter *First stages* (Zhan et al. 2020, table 1)."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from helpers.costs.latency import folder_size, per_query
from helpers.data.texts import Texts
from helpers.evaluation import published
from helpers.pages import claims, page, scatter
from helpers.pages.compare import above, mean_cell, table_value
from helpers.pages.fragments import Fragment, linked
from helpers.pages.numbers import count, plain, signed
from helpers.pages.rates import rounds_cell
from helpers.pages.spot_check import spot_check
from helpers.pages.stages import EXPANSION, IMPROVED, STUDY, label, recall_of
from helpers.retrieval.expansion import added_words
from helpers.retrieval.term_weights import top_weighted_terms
from helpers.steps import Step
from helpers.stories.repbert import ROWS, TABLE
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.first_stages import FirstStages
from helpers.systems.testbed import Testbed

LATENCY = "Latency / (ms/query)"
NO_REPBERT = "needs RepBERT among the stages"


def claims_table(systems: Systems) -> Fragment:
    """The chapter's claim: RepBERT beside each of the stages that improve exact match."""
    claim = "repbert-beats-improved-exact-match"
    if "repbert" not in systems:
        return claims.judge("first_stage", {claim: NO_REPBERT})
    pairs = {label(rival): (systems["repbert"], systems[rival]) for rival in IMPROVED if rival in systems}
    return claims.judge("first_stage", {claim: pairs})


def signs(systems: Systems) -> dict[str, bool]:
    """What the discussion rests on."""
    bm25, deepct, repbert, zero_shot = (systems.get(name) for name in ("bm25", "deepct", "repbert", "minilm"))
    if not (bm25 and deepct and repbert and zero_shot):
        return {}
    return {**expansion_signs(systems),
            "RepBERT ranks better in the mean than DeepCT": repbert.mean("RR@10").mean > deepct.mean("RR@10").mean,
            "RepBERT is surely above BM25": above(repbert, bm25, "RR@10"),
            "DeepCT is not surely above BM25": not above(deepct, bm25, "RR@10"),
            "RepBERT is not surely above the zero-shot encoder": not above(repbert, zero_shot, "RR@10")}


def expansion_signs(systems: Systems) -> dict[str, bool]:
    """What the discussion rests on where the learned expansion is among the stages."""
    bm25, repbert, expansion = (systems.get(name) for name in ("bm25", "repbert", EXPANSION))
    if not (bm25 and repbert and expansion):
        return {}
    both = ("RR@10", recall_of(bm25))
    return {"the learned expansion is better in the mean than BM25 in rank and in recall":
            all(expansion.mean(name).mean > bm25.mean(name).mean for name in both),
            "the learned expansion is in neither surely above BM25": not any(above(expansion, bm25, name) for name in both),
            "RepBERT is surely above the learned expansion": above(repbert, expansion, "RR@10")}


def sizes(recipes: FirstStages, names: Sequence[str], bed: Testbed) -> dict[str, Step]:
    """For each stage that is searched here, the step that measures its index."""
    places = {name: recipes.searched(name, bed) for name in names}
    return {name: folder_size(place) for name, place in places.items() if place is not None}


def table(systems: Systems, latency: Step | None, sizes: Mapping[str, Step]) -> Fragment:
    """Every stage: effectiveness, latency beside the study's, and the room that its index takes."""
    latencies = published.column(STUDY, TABLE, LATENCY)
    times, data, records = timings(latency), [], []
    for name, system in systems.items():
        known = latencies.get(ROWS.get(name, ""))
        record = {"first stage": system.label,
                  **{measure: mean_cell(system, measure) for measure in ("RR@10", recall_of(system))},
                  "ms/query, published": known.printed if known else "", "ms/query, here": "", "of which": "", "index": ""}
        if latency is not None and name in times:
            spent = times[name]
            record |= {"ms/query, here": linked(rounds_cell(per_query(spent), lambda value: plain(value, 1)), latency),
                       "index": linked(f"{sizes[name].value()['bytes'] / 1e6:.1f} MB", sizes[name])}
            if "encode" in spent:  # what the time goes to
                record["of which"] = ", ".join(f"{part} {plain(np.median(spent[part]), 1)}" for part in ("encode", "search"))
            if known is not None:
                data.append(table_value(known, "milliseconds_per_query", float(np.median(per_query(spent))), latency))
        records.append(record)
    return page.records_table("First stages: effectiveness, latency and size", records, values=data)


def latency_check(latency: Step) -> Fragment:
    """Some searches in the first Lucene index, here and now, beside the recorded times."""
    lexical = dict(list(latency.arguments["lexical"].items())[:1])
    return spot_check(latency, lambda value: {f"{name}, search": stage["search"] for name, stage in value["stages"].items()},
                      "milliseconds a query", lexical=lexical, dense={}, timed=10, rounds=1)


def timings(latency: Step | None) -> dict[str, dict[str, list[float]]]:
    """Milliseconds of each round, by stage; nothing without a measurement."""
    return {} if latency is None else latency.value()["stages"]


def figure(systems: Systems, latency: Step | None) -> Fragment:
    """RR@10 over the latency of the stages that were timed, and of the study's, each beside its own BM25."""
    times = timings(latency)
    if not times:
        return page.prose("Published runs cannot be timed.")
    known, base = published.cells(STUDY, TABLE), label("bm25" if "bm25" in times else next(iter(times)))
    ours = {label(name): (float(np.median(per_query(spent))), systems[name].mean("RR@10").mean) for name, spent in times.items()}
    study = {label(name): (known[row, LATENCY].amount, known[row, "MRR@10 / Dev"].amount)
             for name, row in ROWS.items() if (row, LATENCY) in known}
    return scatter.beside(ours, study, (base, base), f"times the latency of {base}",
                          f"RR@10 less that of {base}", "Effectiveness and latency, measured and published (table 1).")


def baseline(systems: Systems) -> str:
    """The row that the others are compared with: BM25, or the first stage where it is missing."""
    first = "bm25" if "bm25" in systems else next(iter(systems))
    return ROWS.get(first, systems[first].label)


def deepct_training(recipes: FirstStages, names: Sequence[str]) -> Fragment:
    """What DeepCT learned from, if it is among the stages."""
    if "deepct" not in names:
        return page.prose("DeepCT is not among the stages.")
    log = recipes.deepct.log.value()
    alone, used = log["passages_of_one_query"] / log["passages_in_all"], log["words_in_queries"] / log["words"]
    return page.prose(
        f"The training passages hold {count(log['words'])} words, each counted once a passage; "
        f"{count(log['words_in_queries'])} of them ({used:.1%}) stand in a query of their passage.",
        f"{alone:.1%} of the {count(log['passages_in_all'])} passages have a single query, so that the recall of a word is "
        "mostly one or zero.")


def expansion_training(recipes: FirstStages, names: Sequence[str]) -> Fragment:
    """What the learned expansion learned from, and what it gained on passages that it did not see."""
    if EXPANSION not in names:
        return page.prose("The learned expansion is not among the stages.")
    log = recipes.expansion.log.value()
    losses = [line["eval_loss"] for line in log["log"] if "eval_loss" in line]
    return page.prose(
        f"The queries of {count(log['passages'])} training passages hold {count(log['words_asked'])} of the "
        f"{count(log['vocabulary'])} words that can be added.",
        f"The cross-entropy of the words asked of {count(log['evaluation_passages'])} passages held out falls from "
        f"{plain(losses[0], 2)} before the training to {plain(losses[-1], 2)}; {plain(min(losses), 2)} is its lowest.")


def moved_most(system: Evaluation, base: Evaluation, examples: int) -> pd.Series:
    """The changes in RR@10 of the queries that a stage ranks better than another by most, and worse by most, by query."""
    order = (system.values["RR@10"] - base.values["RR@10"]).sort_values(kind="stable")
    return pd.concat([order[order > 0][-examples:][::-1], order[order < 0][:examples]])


def relevant_of(bed: Testbed, queries: Iterable[str]) -> dict[str, str]:
    """The most relevant text of each query."""
    best = bed.qrels.sort_values("relevance", ascending=False, kind="stable").drop_duplicates("query_id").set_index("query_id")
    return {query: str(best.loc[query, "doc_id"]) for query in queries}


def added_table(recipes: FirstStages, bed: Testbed, systems: Systems, examples: int, words: int) -> Fragment:
    """The first words added to the relevant passages of some queries: those that the learned expansion moves most from BM25."""
    if not {EXPANSION, "bm25"} <= set(systems):
        return page.prose("The learned expansion or BM25 is not among the stages: there are no added words to show.")
    change = moved_most(systems[EXPANSION], systems["bm25"], examples)
    added = added_words(recipes.expansion.expansion(bed), sorted({*relevant_of(bed, change.index).values()}), words)
    return words_table("Likeliest added words of relevant passages, for the queries that the learned expansion moves most",
                       "added, the likeliest first", added, added.value().set_index("doc_id")["words"], change, bed)


def weights_table(recipes: FirstStages, bed: Testbed, systems: Systems, examples: int, words: int) -> Fragment:
    """The heaviest words of the relevant passages of some queries: those that DeepCT ranks better or worse than BM25 by most."""
    if not {"deepct", "bm25"} <= set(systems):
        return page.prose("DeepCT or BM25 is not among the stages: there are no weights to show.")
    change = moved_most(systems["deepct"], systems["bm25"], examples)
    heavy = top_weighted_terms(recipes.deepct.weights(bed), sorted({*relevant_of(bed, change.index).values()}), words)
    weights = heavy.value()
    listed = (weights["word"] + weights["weight"].map(" {:.2f}".format)).groupby(weights["doc_id"]).agg(", ".join)
    return words_table("Words of largest weight in relevant passages, for the queries that DeepCT moves most", "heaviest words",
                       heavy, listed, change, bed)


def words_table(caption: str, head: str, step: Step, listed: pd.Series, change: pd.Series, bed: Testbed) -> Fragment:
    """Words of each query's relevant text, in a line by document, that a step found, and the query's change in RR@10."""
    texts, questions = Texts(bed.store.value()), bed.query_frame.set_index("query_id")["text"]
    return page.records_table(caption, (
        {"query": questions[query], "relevant passage": texts[doc_id].title or doc_id,
         head: linked(listed.get(doc_id, ""), step), "RR@10 less BM25's": signed(change[query], 2)}
        for query, doc_id in relevant_of(bed, change.index).items()), numeric_from=3)
