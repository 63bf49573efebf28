"""The per-query values that a page carries in its metadata, so that they can be paired with those of another page: with five
digits, as texts, a page of ten systems with three measures on 400 queries grows by about 60 kB.

A run with its ir_metadata header (Breuer, Keller & Schaer 2022), YAML in comment lines above the TREC lines. Its parts are those
of PRIMAD (Ferro et al. 2016): platform, research goal, implementation, method, actor, data.
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from helpers.data.lines import text_lines
from helpers.data.runs import END, START, in_single_precision, to_trec
from helpers.errors import BadInput
from helpers.steps import ledger, recipe
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
    """The systems among evaluations, in mappings and sequences of any depth, in order; the same values under one name once."""
    systems: list[System] = []
    for part in evaluations(*shown):
        shared = frozenset[str].intersection(*part.trainings())  # what lies behind all of its runs, and makes none of their noise
        of = (kind_of(part.source, shared), tuple(seeds_of(run.source, shared) for run in part.seeds),
              " ".join(sorted(trainings(part.source)))) if part.seeds else ("", (), "")
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
        values, *seeds = (pd.DataFrame({name: [float(value) for value in text.split()] for name, text in columns}, index=index,
                                       dtype=float) for columns in (row["values"], *row.get("seeds", [])))
        kind, numbers, keys = row.get("of", ("", (), ""))
        systems[label] = System(label, row["key"], values, tuple(seeds), (kind, tuple(map(tuple, numbers)), keys))
    return systems


VERSION = 0.1  # of the schema, see ir-metadata.org; `features`, `threads` and `resources` are named as in 0.2, not final yet


def metadata(system: Evaluation, line: Mapping[str, Any], command: str) -> dict[str, Any]:
    """The header of a system's run, which the command makes, from the ledger's line of the step that was measured, with the first
    collection that its recipe names. Its time is that of all steps below the run, each counted once; energy is not measured."""
    machine, whole = line["machine"], line["recipe"]
    features = " ".join(machine.get("flags", ())) or "not known"  # of an older value
    parameters = {name: value for name, value in whole["arguments"].items() if not isinstance(value, dict | list)}
    collection = next((part["collection"] for part in recipe.parts(whole) if "collection" in part), "not said")
    return {"schema-version": VERSION, "run-version": 1.0, "tag": tag(system), "platform": {
                "hardware": {"cpu": {"model": machine["cpu"], "number of cores": machine["cores"], "features": features,
                                     "threads": machine["threads"] or machine["cores"]},
                             "ram": f"{machine['memory_gib'] * 2**30 / 1e9:.0f} GB"},
                "operating system": {"kernel": machine["system"]},
                "software": {"libraries": {"python": [f"{name}=={version}" for name, version in line["versions"].items()]}}},
            "research goal": {"evaluation": {"reported measures": [str(name) for name in system.values]}},
            "implementation": {"executable": {"cmd": command}, "source": {"lang": ["python"], "commit": line["commit"]},
                               "numerics": line["numerics"]},
            "method": {"automatic": True, "retrieval": [{"name": system.name or system.label, "method": whole["step"],
                                                           "version": whole["version"], "key": line["key"],
                                                           "params": parameters}]},
            "actor": {"team": "Neural Ranking, Reproduced", "role": "reproducer"},
            "data": {"test collection": {"name": collection}},
            "resources": {"runtime": {"wallclock": f"{1000 * ledger.cost(dict(line)):.0f} ms"},
                          "cpu": {"energy used system": "not measured"}}}


def tag(system: Evaluation) -> str:
    """A system's name without blanks, as TREC runs want it."""
    return "-".join((system.name or system.label).split())


def write_run(file: Path, system: Evaluation, line: Mapping[str, Any], command: str) -> None:
    """Write a system's run, whose step has this line in the ledger, below the header that names the command."""
    header = yaml.safe_dump(metadata(system, line, command), sort_keys=False, allow_unicode=True, width=10_000)
    head = "\n".join([START, *(f"# {own}" for own in header.splitlines()), END])
    file.write_text(f"{head}\n{to_trec(in_single_precision(system.run), tag(system))}", encoding="utf-8")


def read(file: Path) -> dict[str, Any]:
    """The header of a run, plain or gzip; empty for a run without one. BadInput for one that is no YAML, or maps nothing."""
    lines = itertools.takewhile(lambda line: line != END, (line.rstrip() for _, line in text_lines(file)))
    if next(lines, None) != START:
        return {}
    text = "\n".join(line[2:] for line in lines)
    try:
        aliases = [event.start_mark for event in yaml.parse(text, yaml.SafeLoader) if isinstance(event, yaml.AliasEvent)]
        header = {} if aliases else yaml.safe_load(text) or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a thirteenth month; lists within lists within lists
        mark = getattr(error, "problem_mark", None)
        raise BadInput("the header is no YAML", file=file, line=mark and mark.line + 2, mend="mend it, or remove it") from None
    if aliases:  # a few of them make a header without end
        raise BadInput("the header has an alias", file=file, line=aliases[0].line + 2 if aliases[0] else None,
                       mend="write out what it stands for")
    if not isinstance(header, dict):
        raise BadInput("the header maps no names to values", file=file, line=2, mend="mend it, or remove it")
    return header
