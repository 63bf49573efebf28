"""Other people's reproductions, on a study's page beside the printed value and this run's: values that they published, from
`published/others.yaml`, and what other copies of this book measured, from the files of `book report` in `published/reports`."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from helpers import paths
from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.evaluation.significance import Interval
from helpers.evaluation.verdicts import WORDS
from helpers.pages import claims
from helpers.pages.fragments import Html, cell, one_line, signed, table, with_ends
from helpers.steps.recipe import canonical, sha256
from press import execute, front_page

FILE, REPORTS = "others.yaml", "reports"  # below `published`
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
    """All entries; BadInput for one that lacks a field or names an unknown study, claim or cell, a value that is no share, or no
    source."""
    file, entries = paths.PUBLISHED / FILE, []
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


def report(by: str, folder: Path, tested: Mapping[str, Mapping[str, Any]]) -> Path:
    """Write what this copy's pages measured of the studies' claims, with each page's run and a digest of it all; the file.

    BadInput for nobody's name, and where no page has measured anything.
    """
    if not (by := one_line(by).strip()):
        raise BadInput("a report needs a name", mend='say whose it is: book report --by "Ada Lovelace"')
    measured = {name: {"page": line["page"], "difference": line["pair"]["mean"], "interval": list(line["pair"]["interval"]),
                       "word": line["verdict"]} for name, line in tested.items() if name in claims.load() and "pair" in line}
    if not measured:
        raise BadInput("no executed page has measured a claim", mend="run chapters first, by make book or make chapter")
    runs = {page: {name: run[name] for name in ("profile", "commit", "date", "parameters")}
            for page in sorted({own["page"] for own in measured.values()})
            if (run := execute.run_of(paths.CHAPTERS / f"{page}.ipynb"))}
    content = {"by": by, "runs": runs, "claims": measured}
    digest = sha256(canonical(content))
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{digest[:12]}.json"
    file.write_text(json.dumps(content | {"sha256": digest}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return file


def reports() -> list[Mapping[str, Any]]:
    """The reports of other copies; BadInput for one that is not as it was written, or says what no page measures."""
    return [_report(file) for file in sorted((paths.PUBLISHED / REPORTS).glob("*.json"))]


def _report(file: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        digest = content.pop("sha256")
        for name, own in content["claims"].items():
            if name not in claims.load() or own["word"] not in WORDS or own["page"] not in content["runs"]:
                raise ValueError(f"{name}: no such claim, word or run")
            run = content["runs"][own["page"]]
            if not all(isinstance(text, str) for text in (content["by"], run["profile"], run["commit"])):
                raise ValueError(f"{name}: its author, profile or commit is missing")
            if not all(math.isfinite(value) for value in (own["difference"], *own["interval"])) or len(own["interval"]) != 2:
                raise ValueError(f"{name}: no difference with an interval")
        if digest != sha256(canonical(content)):
            raise ValueError("it was changed after it was written: its digest is another one")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"no report of this book: {error}", file=file, mend="take the file as `book report` wrote it") from None
    return content


def section(study: str, tested: Mapping[str, Mapping[str, Any]]) -> str:
    """What others measured of a study: printed, theirs with its source, and this run's effect on the same claim."""
    rows = [[entry.what, entry.expected, Html(f'<a href="{entry.address}">{cell(entry.value)}, {cell(entry.source)}</a>'),
             Html("<br>".join(of_claim(name, tested) for name in entry.claims))] for entry in load() if entry.study == study]
    for one in reports():
        for name, own in ((name, own) for name, own in one["claims"].items() if claims.load()[name].study == study):
            run, printed = one["runs"][own["page"]], front_page.published_effect(claims.load()[name])
            rows.append([f"this book's {own['page']}, profile {run['profile']}, commit {run['commit'][:12]}",
                         "" if printed is None else signed(printed),
                         f"{with_ends(Interval(own['difference'], *own['interval']))}, {own['word']}; {one['by']}",
                         Html(of_claim(name, tested))])
    return table(f"What others measured of {published.published_name(study)}", ("what was run", "printed or stated",
                 "measured by others", "the claim here"), rows, numeric_from=9).text if rows else "We know of none."


def of_claim(name: str, tested: Mapping[str, Mapping[str, Any]]) -> str:
    """A claim in its own words, with the word and the effect of this run."""
    line = tested.get(name, front_page.UNRUN)
    told = f", {with_ends(front_page.effect_of(line))}" if "pair" in line else ""
    return f"{front_page.link(claims.load()[name], tested, '../')}: {line['verdict']}{told}"
