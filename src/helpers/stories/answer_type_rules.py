"""The chapter *Answer types* (David 2020, section 4.4.2): the rules that find a query's type, and how often they are right."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from helpers.data.answer_types import RULES, TYPES, WIDER, Rule, answer_type, decide
from helpers.data.collection_base import Collection
from helpers.evaluation import published, verdicts
from helpers.evaluation.verdicts import NOT_RUN
from helpers.pages import matrices, page
from helpers.pages.fragments import Fragment, Html, badge
from helpers.pages.numbers import count

STUDY, TABLE = "david2020", "4.4"
LABEL, NONE = "answer_type", "none"


def typed(queries: pd.DataFrame, rules: Sequence[Rule] = RULES) -> pd.Series:
    """Each query's answer type by the rules, `none` where no rule has an answer."""
    found = [answer_type(text, rules) or NONE for text in queries["text"]]
    return pd.Series(found, index=pd.Index(queries["query_id"], name="query_id"), name="type", dtype=object)


def labelled(source: Collection) -> pd.DataFrame | None:
    """All queries of the collection that have an answer type, with their split; None if it has no such label."""
    frames = [source.queries(split).assign(split=split) for split in source.splits]
    with_label = [frame[frame[LABEL].isin(TYPES)] for frame in frames if LABEL in frame]
    found = pd.concat(with_label, ignore_index=True) if with_label else pd.DataFrame()
    return None if found.empty else found


def agreement_table(queries: pd.DataFrame | None) -> Fragment:
    """How often the rules give the collection's label, by split, as described and with our own rule."""
    if queries is None:
        return page.prose("This collection does not label its queries, so the rules cannot be checked on it.")
    rows = []
    for split, part in queries.groupby("split", sort=False):
        cells: list[Any] = [split, count(len(part))]
        for rules in (RULES, WIDER):
            given = typed(part, rules).to_numpy()
            right = given == part[LABEL].to_numpy()
            any_type = given != NONE
            cells += [f"{any_type.mean():.1%}", f"{right.mean():.1%}", f"{right[any_type].mean():.1%}" if any_type.any() else ""]
        rows.append(cells)
    one = ("given a type", "right, of all", "right, of those")
    header = ("split", "queries", *(f"{head} (qtypes' rules)" for head in one), *(f"{head} (one rule more)" for head in one))
    caption = "The rules against the collection's labels; the word lists were made on the Almanac's train queries"
    return page.show_table(caption, header, rows)


def confusion(queries: pd.DataFrame | None, split: str) -> Fragment:
    """The collection's labels by the types that the rules give."""
    if queries is None:
        return page.prose("")
    part = queries[queries["split"] == split]
    given = pd.Series(typed(part).to_numpy(), index=part.index)
    counts = pd.crosstab(part[LABEL], given).reindex(index=list(TYPES), columns=[*TYPES, NONE], fill_value=0)
    return matrices.confusion_matrix(counts, "label of the collection", "type by the rules",
                                     f"Labels and types of the {len(part):,} queries of {split}; colour is the share of the row.")


def rules_table(queries: pd.DataFrame | None, split: str) -> Fragment:
    """Every rule: what it looks for, how many queries it decides, and how often it is right."""
    if queries is None:
        return page.prose("")
    part = queries[queries["split"] == split]
    decided = [decide(text, WIDER) or (NONE, NONE) for text in part["text"]]
    frame = pd.DataFrame(decided, columns=["rule", "type"]).assign(right=[
        kind == label for (_, kind), label in zip(decided, part[LABEL], strict=True)])
    rows = []
    for rule in WIDER:
        mine = frame[frame["rule"] == rule.name]
        right = f"{mine['right'].mean():.0%}" if len(mine) else ""
        rows.append([rule.name.replace("_", " "), rule.looks_for, count(len(mine)), right])
    rows.append(["no rule", "", count(int((frame["rule"] == NONE).sum())), ""])
    return page.show_table(f"The rules in their order, the last that applies decides, on the queries of {split}",
                           ("rule", "looks for", "decides", "right"), rows, numeric_from=2)


def published_counts() -> dict[str, int]:
    """How many queries of each type the study counts, and how many had none."""
    found = {kind: published.value(STUDY, TABLE, "# of queries", kind).value for kind in TYPES}
    everything = published.value(STUDY, "text 4.3", "development set", "queries").value
    return {**found, NONE: everything - sum(found.values())}


def counts_table(queries: pd.DataFrame, name: str) -> Fragment:
    """Types of these queries, by their labels and by the rules, beside the study's counts.

    Args:
        queries: query_id, text, and answer_type if they are labelled.
        name: of the collection.
    """
    given, said = typed(queries).value_counts(), published_counts()
    labels = queries[LABEL].value_counts() if LABEL in queries else None
    share = lambda number, of: Html(f"{number:,}<br><small>{number / of:.1%}</small>")
    rows = []
    for kind in (*TYPES, NONE):
        cells: list[Any] = [kind, share(said[kind], sum(said.values()))]
        cells += [] if labels is None else [share(int(labels.get(kind, 0)), len(queries))]
        rows.append([*cells, share(int(given.get(kind, 0)), len(queries))])
    heads = ["type", "the study's queries, qtypes"] + ([] if labels is None else [f"{name}, labels"]) + [f"{name}, our rules"]
    caption = f"Answer types of {sum(said.values()):,} queries in the study and of {len(queries):,} here"
    return page.show_table(caption, heads, rows)


def own_queries(queries: pd.DataFrame) -> Fragment:
    """Whether the rules ran on as many queries as the study has; a badge that says *not run* if not."""
    wanted = sum(published_counts().values())
    if len(queries) == wanted:
        return page.prose(f"These are as many queries as the study's {wanted:,}.")
    reason = (f"the study types the {wanted:,} queries of MS MARCO's development set, which this book does not carry; give a "
              "folder with them as the collection and the same table is made of them")
    return Fragment(f"<p>{badge(NOT_RUN, verdicts.KINDS[NOT_RUN]).text} The rules on the study's own queries: {reason}.</p>")
