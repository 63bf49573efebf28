"""The chapter *Answer types* (David 2020, section 4.4.2, table 4.4): reciprocal rank by type."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.answer_types import TYPES
from helpers.evaluation import published
from helpers.evaluation.significance import Unpaired
from helpers.pages import claims, page, plots
from helpers.pages.compare import difference_cell, mean_cell, published_cell, table_value, test_cells
from helpers.pages.fragments import Fragment, Html
from helpers.pages.numbers import count, p_value
from helpers.stories.answer_type_rules import LABEL, STUDY, TABLE, published_counts, typed
from helpers.stories.collection import groups_of
from helpers.systems.evaluated import Evaluation, Systems, values_of
from helpers.systems.testbed import Testbed

MEASURE = "RR"  # the study names no cutoff: the first relevant passage of the whole run counts
EASY, HARD = "LOC", "ENTY"  # the easiest common type of the study, and the one that it calls the hardest
FEWEST = 2  # queries of a type that a test needs


def types_of(bed: Testbed) -> pd.Series:
    """The type of each judged query, in the order of table 4.4: the collection's label, or the rules' where there is none."""
    frame = bed.query_frame
    types = frame.set_index("query_id")[LABEL] if LABEL in frame else typed(frame)
    return in_order(types.loc[bed.judged])


def in_order(types: pd.Series) -> pd.Series:
    """The same, sorted by type; queries without a type are left out."""
    return types[types.isin(TYPES)].sort_values(key=lambda kinds: kinds.map(TYPES.index), kind="stable")


def by_type_table(systems: Systems, model: str, types: pd.Series) -> Fragment:
    """Table 4.4 for BM25 and one encoder, which is compared with BM25 in each type.

    The encoder stands beside the study's of its name; another one, such as the packaged MiniLM, stands beside BERT and is not
    comparable.
    """
    base, encoder, (beside, known) = systems["BM25"], systems[model], studied(model)
    groups = {kind: list(types.index[types == kind]) for kind in TYPES}
    tests = {kind: encoder.on(group).against(base.on(group), MEASURE) for kind, group in groups.items() if len(group) >= FEWEST}
    rows, data = [], []
    for kind, group in groups.items():
        bm25, printed = (published.value(STUDY, TABLE, row, kind) for row in ("BM25", beside))
        rows.append([kind, count(published_counts()[kind]), count(len(group)), published_cell(bm25, bm25),
                     group_cell(base, group), published_cell(printed, bm25), group_cell(encoder, group),
                     *test_cells(tests.get(kind))])
        for entry, system in [(bm25, base), (printed, encoder)][:1 + known] if group else []:
            data.append(table_value(entry, MEASURE, system.on(group).mean(MEASURE).mean, system.source))
    header = ("type", "queries, study", "queries, here", "BM25, published", "BM25, measured", f"{beside}, published",
              f"{model}, measured", "encoder less BM25", "p")
    caption = f"{published.published_name(STUDY)}, table {TABLE}: mean reciprocal rank by answer type"
    return page.show_table(caption, header, rows, values=data)


def group_cell(system: Evaluation, group: Sequence[str]) -> Html | str:
    """The mean over a group with its interval, linked to where it came from; empty for no queries."""
    return mean_cell(system.on(group), MEASURE) if group else ""


def by_type_figure(systems: Systems, types: pd.Series | None, what: str = "answer type", model: str = "") -> Fragment:
    """Mean reciprocal rank of every system by type, or by style, which not every collection tells; table 4.4 beside BM25 and one
    encoder."""
    if types is None:
        return page.prose("This collection does not label its queries by style.")
    values = values_of(systems, list(systems), MEASURE).loc[types.index]
    printed = {name: {kind: published.value(STUDY, TABLE, row, kind).amount for kind in TYPES}
               for name, row in (("BM25", "BM25"), (model, studied(model)[0])) if model}
    return plots.means_by_group(values, types, MEASURE, f"Mean reciprocal rank by {what}" + (
        f"; hollow, table 4.4's BM25 and {studied(model)[0]}." if model else "."), printed)


def studied(model: str) -> tuple[str, bool]:
    """The study's encoder that a model stands beside, and whether it is the model's own name."""
    name = model.split(" / ")[0]
    known = any((table, row) == (TABLE, name) for table, row, _ in published.load(STUDY))
    return (name if known else "BERT"), known


def styles_of(bed: Testbed) -> pd.Series | None:
    """The style of each judged query (plain, paraphrase, oblique), sorted; None if the collection has no such label."""
    styles = groups_of(bed, "style")
    return None if styles is None else styles.sort_values(ascending=False, kind="stable")


def labels_and_rules(systems: Systems, bed: Testbed) -> Fragment:
    """What table 4.4 becomes if the types are those of the rules instead of the labels."""
    if LABEL not in bed.query_frame:
        return page.prose("This collection has no labels: the types above are those of the rules.")
    labels, given = types_of(bed), in_order(typed(bed.query_frame).loc[bed.judged])
    records: list[dict[str, Any]] = [{"type": kind} for kind in TYPES]
    for record in records:
        for where, types in (("labels", labels), ("rules", given)):
            group = list(types.index[types == record["type"]])
            record |= {f"queries, {where}": count(len(group)),
                       **{f"{name}, {where}": group_cell(system, group) for name, system in systems.items()}}
    return page.records_table("Mean reciprocal rank by the collection's labels and by the types of the rules", records)


def signs(systems: Systems, model: str, types: pd.Series, styles: pd.Series | None) -> dict[str, bool]:
    """What the discussion rests on; queries without a style leave what is said of styles false."""
    bm25, encoder = (systems[name].values[MEASURE].groupby(types).mean() for name in ("BM25", model))
    known = pd.Series(dtype=object) if styles is None else styles
    own, by_style = (systems[name].values[MEASURE].groupby(known).mean() for name in ("BM25", model))
    return {"on abbreviations the encoder is below its mean of plain questions, and BM25 not above its own": bool(
                "plain" in by_style and encoder.get("ABBR", 1.0) < by_style["plain"] and bm25.get("ABBR", 1.0) <= own["plain"]),
            "the styles differ more than the types": len(by_style) > 0 and bool(np.ptp(by_style) > np.ptp(encoder)),
            "abbreviations are the only type in which the encoder is below BM25": list(encoder.index[encoder < bm25]) == ["ABBR"]}


# ---- the claim ----

def claims_table(systems: Systems, model: str, types: pd.Series) -> Fragment:
    """The chapter's claim: the encoder's queries for a location beside those of each other common type."""
    claim, encoder = "location-questions-are-easier", systems[model]
    groups = {kind: list(types.index[types == kind]) for kind in (EASY, *claims.rivals(claim))}
    pairs = {kind: (encoder.on(groups[EASY]), encoder.on(group)) for kind, group in groups.items()
             if kind != EASY and min(len(groups[EASY]), len(group)) >= FEWEST}
    return claims.judge("answer_types", {claim: pairs})


def comparisons(systems: Systems, types: pd.Series) -> dict[str, Unpaired]:
    """Location compared with entity for every system; empty where there are too few queries of either."""
    easy, hard = (list(types.index[types == kind]) for kind in (EASY, HARD))
    if min(len(easy), len(hard)) < FEWEST:
        return {}
    return {name: system.on(easy).unpaired_against(system.on(hard), MEASURE) for name, system in systems.items()}


def style_table(types: pd.Series, styles: pd.Series | None) -> Fragment:
    """How many queries each type has in each style, and in all."""
    if styles is None:
        return page.prose("This collection does not label its queries by style.")
    counts = pd.crosstab(types, styles)
    return page.records_table("Queries by type and style", (
        {"type": name, **{style: count(int(own[style])) for style in dict.fromkeys(styles)}, "all": count(int(own.sum()))}
        for name, own in counts.iterrows()))


def location_table(systems: Systems, types: pd.Series, styles: pd.Series | None, model: str) -> Fragment:
    """Location compared with entity for every system, and for one encoder, `model`, within each style of query."""
    tested = {name: (systems[name], test) for name, test in comparisons(systems, types).items()}
    if styles is not None:
        for style in dict.fromkeys(styles):
            inside = comparisons({model: systems[model]}, types[styles.loc[types.index] == style])
            tested |= {f"{model}, {style} queries": (systems[model], test) for test in inside.values()}
    return page.records_table("Questions for a location compared with questions for an entity, unpaired", (
        {"system": name, f"{EASY} and {HARD} queries": f"{test.sizes[0]:,} and {test.sizes[1]:,}",
         f"{EASY} less {HARD}": difference_cell(test.difference, system),
         "p": p_value(test.p_permutation)} for name, (system, test) in tested.items()), numeric_from=2)
