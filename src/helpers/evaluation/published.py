"""The five studies' numbers, read from `published/<study>.yaml`: a value is looked up, never typed."""

import functools
from dataclasses import dataclass
from typing import Any

import yaml

from helpers import paths
from helpers.errors import BadInput

STUDIES = ("steensland2021", "alarfaj2022", "david2020", "zhan2020", "gao2021")
INHERITED = ("dataset", "split", "queries", "unit")


@dataclass(frozen=True)
class Entry:
    """One published value: where it stands, what it measures, on what."""

    study: str
    cite: str
    table: str
    row: str
    column: str
    system: str
    measure: str
    value: Any
    printed: str  # the value as the study prints it: 0.710 has its zero, +14 its sign
    mark: str = ""
    dataset: str | None = None
    split: str | None = None
    queries: int | None = None
    unit: str | None = None
    note: str | None = None

    @property
    def cell(self) -> list[str]:
        """Where it stands: study, table, row, column."""
        return [self.study, self.table, self.row, self.column]

    @property
    def amount(self) -> float:
        """The value as a number to compare with measurements: a percentage as a share of one."""
        return float(self.value) / 100 if self.unit == "percent" else float(self.value)

    @property
    def shown(self) -> str:
        """The value in the unit of measurements: as printed, a percentage as a share with the same places, 0.686 for 68.6."""
        if self.unit != "percent":
            return self.printed
        return f"{self.amount:{'+' if self.printed.startswith('+') else ''}.{len(self.printed.partition('.')[2]) + 2}f}"

    @property
    def where(self) -> str:
        """Such as `Steensland (2021), table 5.1`."""
        return f"{self.cite}, {self.table if self.table[0].isalpha() and ' ' in self.table else f'table {self.table}'}"


@functools.cache
def load(study: str) -> dict[tuple[str, str, str], Entry]:
    """All values of a study by (table, row, column); BadInput for an unknown study, a cell twice, or an entry without a field."""
    file = paths.PUBLISHED / f"{study}.yaml"
    if not file.exists():
        raise BadInput(f"no published study {study!r}", file=file, mend=f"choose from {', '.join(STUDIES)}")
    content, texts = paths.listed(file), yaml.load(file.read_text(encoding="utf-8"), yaml.CBaseLoader)  # every number a text
    entries: dict[tuple[str, str, str], Entry] = {}
    for table, table_texts in zip(content["tables"], texts["tables"], strict=True):
        shared = {name: table.get(name) for name in INHERITED if table.get(name) is not None}
        for raw, raw_texts in zip(table["entries"], table_texts["entries"], strict=True):
            key = (str(table["table"]), str(raw.get("row")), str(raw.get("column")))
            printed = raw_texts["value"] if isinstance(raw.get("value"), int | float) else str(raw.get("value"))
            try:
                entry = Entry(study=study, cite=content["cite"], table=key[0], printed=printed, **{**shared, **raw})
            except TypeError as error:
                raise BadInput(f"table {key[0]}, row {key[1]!r}: {error}", file=file, mend="see published/README.md") from None
            if key in entries:
                raise BadInput(f"table {key[0]} has two values for {key[1]!r}, {key[2]!r}", file=file,
                               mend="keep one of them")
            entries[key] = entry
    return entries


def value(study: str, table: str, row: str, column: str) -> Entry:
    """One published value; BadInput if the study has no such cell, naming the rows and columns that the table has."""
    entries = load(study)
    if (table, row, column) not in entries:
        cells = [f"{r} | {c}" for t, r, c in entries if t == table]
        raise BadInput(f"{study} has no table {table}, row {row!r}, column {column!r}",
                       mend=f"choose from {'; '.join(cells) or ', '.join(sorted({t for t, _, _ in entries}))}")
    return entries[table, row, column]


def cells(study: str, table: str) -> dict[tuple[str, str], Entry]:
    """A study's table by (row, column)."""
    return {(row, column): entry for (name, row, column), entry in load(study).items() if name == table}


def column(study: str, table: str, name: str) -> dict[str, Entry]:
    """One column of a study's table by row."""
    return {row: entry for (row, column), entry in cells(study, table).items() if column == name}


def everything() -> list[Entry]:
    """Every published value of every study, in the studies' order."""
    return [entry for study in STUDIES for entry in load(study).values()]


def published_name(study: str) -> str:
    """How the study is cited, `Steensland (2021)`."""
    return next(iter(load(study).values())).cite
