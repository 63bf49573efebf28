"""The chapter *Answer types* (David 2020, section 4.4.2): the rules that find a query's type, and how often they are right."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from helpers.data.answer_types import RULES, TYPES, WIDER, Rule, answer_type, decide
from helpers.data.collection_base import Collection
from helpers.evaluation import published
from helpers.evaluation.verdicts import UNTESTED
from helpers.pages import matrices, page
from helpers.pages.compare import verdict_badge
from helpers.pages.fragments import Fragment, Html
from helpers.pages.numbers import count

STUDY, TABLE = "david2020", "4.4"
LABEL, NONE = "answer_type", "none"


def typed(queries: pd.DataFrame, rules: Sequence[Rule] = RULES) -> pd.Series:
    """Each query's answer type by the rules, `none` where no rule has an answer."""
    types = [answer_type(text, rules) or NONE for text in queries["text"]]
    return pd.Series(types, index=pd.Index(queries["query_id"], name="query_id"), name="type", dtype=object)


def labelled(source: Collection) -> pd.DataFrame | None:
    """All queries of the collection that have an answer type, with their split; None if it has no such label."""
    queries = pd.concat([source.queries(split).assign(split=split) for split in source.splits], ignore_index=True)
    labelled = queries[queries[LABEL].isin(TYPES)] if LABEL in queries else queries.head(0)
    return None if labelled.empty else labelled.reset_index(drop=True)


def agreement_table(queries: pd.DataFrame | None) -> Fragment:
    """How often the rules give the collection's label, by split, as described and with our own rule."""
    if queries is None:
        return page.prose("This collection does not label its queries, so the rules cannot be checked on it.")
    records = []
    for split, part in queries.groupby("split", sort=False):
        record: dict[str, Any] = {"split": split, "queries": count(len(part))}
        for which, rules in (("qtypes' rules", RULES), ("one rule more", WIDER)):
            given = typed(part, rules).to_numpy()
            right, any_type = given == part[LABEL].to_numpy(), given != NONE
            record |= {f"given a type ({which})": f"{any_type.mean():.1%}", f"right, of all ({which})": f"{right.mean():.1%}",
                       f"right, of those ({which})": f"{right[any_type].mean():.1%}" if any_type.any() else ""}
        records.append(record)
    caption = "The rules' types and the collection's labels; the word lists were fitted to qtypes, not to the labels"
    return page.records_table(caption, records)


def confusion(queries: pd.DataFrame | None, split: str) -> Fragment:
    """The collection's labels by the types that the rules give."""
    if queries is None:
        return page.prose()
    part = queries[queries["split"] == split]
    given = pd.Series(typed(part).to_numpy(), index=part.index)
    counts = pd.crosstab(part[LABEL], given).reindex(index=list(TYPES), columns=[*TYPES, NONE], fill_value=0)
    return matrices.confusion_matrix(counts, "label of the collection", "type by the rules",
                                     f"Labels and types of the {len(part):,} queries of {split}; colour is the share of the row.")


def rules_table(queries: pd.DataFrame | None, split: str) -> Fragment:
    """Every rule: what it looks for, how many queries it decides, and how often it is right."""
    if queries is None:
        return page.prose()
    part = queries[queries["split"] == split]
    decided = pd.DataFrame([decide(text, WIDER) or (NONE, NONE) for text in part["text"]], columns=["rule", "type"])
    right = (decided["type"] == part[LABEL].to_numpy()).groupby(decided["rule"]).mean()
    counts = decided["rule"].value_counts()
    meanings = {rule.name: rule.looks_for for rule in WIDER}
    return page.records_table(f"The rules in their order, the last that applies decides, on the queries of {split}; one may "
                              "decide that a query has no type, which counts as not right", (
        {"rule": "no rule" if rule == NONE else rule.replace("_", " "), "looks for": meaning,
         "decides": count(int(counts.get(rule, 0))), "right": f"{right[rule]:.0%}" if rule in right and rule != NONE else ""}
        for rule, meaning in {**meanings, NONE: ""}.items()), numeric_from=2)


def published_counts() -> dict[str, int]:
    """How many queries of each type the study counts, and how many had none."""
    counts = {kind: published.value(STUDY, TABLE, "# of queries", kind).value for kind in TYPES}
    everything = published.value(STUDY, "text 4.3", "development set", "queries").value
    return {**counts, NONE: everything - sum(counts.values())}


def counts_table(queries: pd.DataFrame, name: str) -> Fragment:
    """Types of the queries of the collection of that name, by the rules and by their labels if they have any (column
    answer_type), beside the study's counts."""
    columns = {"the study's queries, qtypes": pd.Series(published_counts())}
    if LABEL in queries:
        columns[f"{name}, labels"] = queries[LABEL].value_counts()
    columns[f"{name}, our rules"] = typed(queries).value_counts()
    counts = pd.DataFrame(columns).reindex([*TYPES, NONE]).fillna(0).astype(int)
    of = dict.fromkeys(columns, len(queries)) | {"the study's queries, qtypes": int(counts.iloc[:, 0].sum())}
    return page.records_table(
        f"Answer types of {counts.iloc[:, 0].sum():,} queries in the study and of {len(queries):,} here",
        ({"type": kind, **{head: Html(f"{counts[head][kind]:,}<br><small>{counts[head][kind] / of[head]:.1%}</small>")
                           for head in columns}} for kind in counts.index))


def own_queries(queries: pd.DataFrame) -> Fragment:
    """Whether the rules ran on as many queries as the study has; a badge that shows *not tested* if not."""
    number = sum(published_counts().values())
    if len(queries) == number:
        return page.prose(f"These are as many queries as the study's {number:,}.")
    reason = (f"the study types the {number:,} queries of MS MARCO's development set, which this book does not carry; give a "
              "folder with them as the collection and the same table is made of them")
    return Fragment(f"<p>{verdict_badge(UNTESTED).text} The rules on the study's own queries: {reason}.</p>")
