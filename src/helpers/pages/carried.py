"""The per-query values that a page carries in its metadata, so that they can be paired with those of another page.

Evaluations note themselves when they are made, and the last cell of a chapter, `page.provenance()`, hands all of them over.
Values are kept with five digits, as texts: a page of ten systems with three measures on 400 queries grows by about 60 kB.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pandas as pd


@dataclass(frozen=True)
class System:
    """A system as a page measured it.

    Args:
        label: its name on the page.
        key: of the step that was measured.
        values: a row a query, a column a measure.
    """

    label: str
    key: str
    values: pd.DataFrame


NOTED: list[System] = []  # of this process, in the order in which they were measured


def note(system: System) -> None:
    """Keep a system's values; the same values under the same label are kept once."""
    if not any(each.label == system.label and each.values.equals(system.values) for each in NOTED):
        NOTED.append(system)


def forget(values: pd.DataFrame) -> None:
    """Drop what was noted with just this table: a part of something that stands for it now."""
    NOTED[:] = [each for each in NOTED if each.values is not values]


def packed(systems: list[System]) -> dict[str, Any]:
    """The systems as plain JSON: each list of queries once, each measure a text of numbers in the order of its queries.

    Whatever has an order is a list: notebooks are written with sorted keys.
    """
    lists: list[str] = []
    rows = []
    for each in systems:
        queries = "\n".join(map(str, each.values.index))
        if queries not in lists:
            lists.append(queries)
        columns = [[str(name), " ".join(f"{value:.5g}" for value in each.values[name])] for name in each.values]
        rows.append({"label": each.label, "key": each.key, "queries": lists.index(queries), "values": columns})
    return {"queries": lists, "systems": rows}


def unpacked(data: dict[str, Any]) -> dict[str, System]:
    """The systems by label; one label for several gets a number behind it, `max (2)`, in the order of the page."""
    labels = Counter(row["label"] for row in data["systems"])
    seen: Counter[str] = Counter()
    found = {}
    for row in data["systems"]:
        label = row["label"]
        seen[label] += 1
        if labels[label] > 1:
            label = f"{label} ({seen[label]} of {labels[label]})"
        queries = data["queries"][row["queries"]].split("\n") if data["queries"][row["queries"]] else []
        values = {name: [float(value) for value in text.split()] for name, text in row["values"]}
        found[label] = System(label, row["key"], pd.DataFrame(values, index=pd.Index(queries, name="query_id"), dtype=float))
    return found
