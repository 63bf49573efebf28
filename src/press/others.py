"""Other people's reproductions, from `published/others.yaml`, on a study's page beside the printed value and this run's."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from helpers import paths
from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.pages import claims
from helpers.pages.fragments import Html, cell, table, with_ends
from press import front_page

SOURCE = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")


@dataclass(frozen=True)
class Other:
    """One value that somebody else measured, as text, with its source; see the head of the file."""

    study: str
    claims: list[str]
    what: str
    value: str
    source: str
    cell: Mapping[str, str] | None = None
    measure: str = ""
    stated: str = ""

    @property
    def expected(self) -> str:
        """The value that was to come out, with its measure."""
        if self.cell is None:
            return f"{self.stated} {self.measure}, as its authors state"
        entry = published.value(self.study, **self.cell)
        return f"{entry.shown} {entry.measure} ({entry.where})"

    @property
    def address(self) -> str:
        """Where it was reported; GitHub leads from an issue's address to a pull request of that number."""
        return SOURCE.sub(r"https://github.com/\1/issues/\2", self.source)


def load() -> list[Other]:
    """All entries; BadInput for one that lacks a field or a source, names no study, claim or cell, or whose value is no share."""
    file, entries = paths.PUBLISHED / "others.yaml", []
    for number, raw in enumerate(yaml.load(file.read_text(encoding="utf-8"), yaml.BaseLoader)["others"], start=1):
        try:
            entry = Other(**raw)
            wrong = [f"no claim {name!r} of {entry.study}" for name in entry.claims
                     if name not in claims.load() or claims.load()[name].study != entry.study]
            wrong += ["neither `cell` nor `measure` with `stated`"] * (not entry.cell and not (entry.measure and entry.stated))
            wrong += ["no source such as owner/name#12"] * (not SOURCE.fullmatch(entry.source))
            wrong += [f"{value} is no share of one" for value in (entry.value, entry.stated or 0) if not 0 <= float(value) <= 1]
            entry.expected  # noqa: B018 - a cell that does not exist is an error
        except (TypeError, ValueError) as error:
            wrong = [str(error)]
        if wrong:
            raise BadInput(f"entry {number}: {wrong[0]}", file=file, mend="see the head of the file")
        entries.append(entry)
    return entries


def section(study: str, tested: Mapping[str, Mapping[str, Any]]) -> str:
    """What others measured of a study: printed, theirs with its source, and this run's effect on the same claim."""
    rows = [[entry.what, entry.expected, Html(f'<a href="{entry.address}">{cell(entry.value)}, {cell(entry.source)}</a>'),
             Html("<br>".join(of_claim(name, tested) for name in entry.claims))] for entry in load() if entry.study == study]
    return table(f"What others measured of {published.published_name(study)}", ("what was run", "printed or stated",
                 "measured by others", "the claim here"), rows, numeric_from=9).text if rows else "We know of none."


def of_claim(name: str, tested: Mapping[str, Mapping[str, Any]]) -> str:
    """A claim in its own words, with the word and the effect of this run."""
    line = tested.get(name, front_page.UNRUN)
    told = f", {with_ends(front_page.effect_of(line))}" if "pair" in line else ""
    return f"{front_page.link(claims.load()[name], tested, '../')}: {line['verdict']}{told}"
