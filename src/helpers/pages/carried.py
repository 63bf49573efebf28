"""The per-query values that a page carries in its metadata, so that they can be paired with those of another page.

The last cell of a chapter, `page.provenance(systems)`, is given all the evaluations that the chapter shows. Values are kept
with five digits, as texts: a page of ten systems with three measures on 400 queries grows by about 60 kB.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from helpers.systems.evaluated import Evaluation, kind_of, seeds_of, trainings


@dataclass(frozen=True)
class System:
    """A system as a page measured it."""

    label: str  # its name on the page
    key: str  # of the step that was measured
    values: pd.DataFrame  # a row a query, a column a measure; of several seeds their mean
    seeds: tuple[pd.DataFrame, ...] = ()  # the values of each seed, if there are several
    # of these seeds: the kind of training, the seeds of each one's trainings, and the keys of the first one's
    of: tuple[str, tuple[tuple[int, ...], ...], str] = ("", (), "")


def collect(*shown: Any) -> list[System]:
    """The systems among evaluations, in mappings and sequences however deep, in their order; the same values under one name once.
    """
    systems: list[System] = []
    for part in evaluations(*shown):
        of = (kind_of(part.source), tuple(seeds_of(run.source) for run in part.seeds), " ".join(sorted(trainings(part.source)))
              ) if part.seeds else ("", (), "")
        new = System(part.name or part.label, part.source.key, part.values, tuple(run.values for run in part.seeds), of)
        if not any(old.label == new.label and old.values.equals(new.values) for old in systems):
            systems.append(new)
    return systems


def evaluations(*shown: Any) -> Iterator[Evaluation]:
    """All evaluations in mappings and sequences however deep, in their order; TypeError for anything else."""
    for part in shown:
        if isinstance(part, Evaluation):
            yield part
        elif isinstance(part, Mapping):
            yield from evaluations(*part.values())
        elif isinstance(part, list | tuple):
            yield from evaluations(*part)
        else:
            raise TypeError(f"{type(part).__name__}: a page carries evaluations, and mappings and sequences of them")


def packed(systems: list[System]) -> dict[str, Any]:
    """The systems as plain JSON: each list of queries once, each measure a text of numbers in the order of its queries.

    Whatever has an order is a list: notebooks are written with sorted keys.
    """
    lists = list(dict.fromkeys("\n".join(map(str, system.values.index)) for system in systems))
    rows = [{"label": system.label, "key": system.key, "queries": lists.index("\n".join(map(str, system.values.index))),
             "values": _columns(system.values),
             **({"seeds": [*map(_columns, system.seeds)], "of": system.of} if system.seeds else {})}
            for system in systems]
    return {"queries": lists, "systems": rows}


def _columns(values: pd.DataFrame) -> list[list[str]]:
    return [[str(name), " ".join(f"{value:.5g}" for value in values[name])] for name in values]


def unpacked(data: dict[str, Any]) -> dict[str, System]:
    """The systems by label; one label for several gets a number behind it, `max (1 of 2)`, in the order of the page."""
    labels = Counter(row["label"] for row in data["systems"])
    seen: Counter[str] = Counter()
    systems = {}
    for row in data["systems"]:
        label = row["label"]
        seen[label] += 1
        if labels[label] > 1:
            label = f"{label} ({seen[label]} of {labels[label]})"
        queries = data["queries"][row["queries"]]
        index = pd.Index(queries.split("\n") if queries else [], name="query_id")
        values, *seeds = (_frame(columns, index) for columns in (row["values"], *row.get("seeds", [])))
        kind, numbers, keys = row.get("of", ("", (), ""))
        systems[label] = System(label, row["key"], values, tuple(seeds), (kind, tuple(map(tuple, numbers)), keys))
    return systems


def _frame(columns: list[list[str]], index: pd.Index) -> pd.DataFrame:
    return pd.DataFrame({name: [float(value) for value in text.split()] for name, text in columns}, index=index, dtype=float)
