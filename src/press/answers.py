"""The answer to a chapter's exercise: what running it gave, kept in `book/answers/` and folded below the task.

    book answer candidates      # runs the exercise, and keeps what it changed
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.errors import BadInput
from helpers.pages.compare import test_cells
from helpers.pages.fragments import table
from helpers.pages.numbers import count, plain
from helpers.steps.store import Store
from press import comparison, edited, execute, exercises
from press.comparison import Page

PROFILE = "almanac"  # of the pages that have exercises
MOST = 12  # systems in an answer's table
LONGEST_PAGE = 60  # seconds of a page without its steps; where it ran longer, it computed them, and they count by themselves
MOST_PARTS = 2  # of a page whose systems did not move, tables or texts
HEADS = ("system", "without the change", "with the change", "difference", "p (t, perm.)")


def answer(names: Sequence[str]) -> Iterator[str]:
    """Run the exercises of some chapters, of all if none is named, and keep what came out."""
    known_chapters = exercises.load()
    if unknown := [name for name in names if name not in known_chapters]:
        raise BadInput(f"no exercise of a chapter {unknown[0]!r}", mend=f"choose from {', '.join(known_chapters)}")
    for name in names or known_chapters:
        before, after = (execute.run(name, PROFILE, given)[0] for given in ({}, exercises.given(name)))
        file = exercises.answer_file(name)
        file.parent.mkdir(exist_ok=True)
        known = kept(before, after, exercises.load()[name].get("shows", []))
        file.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        yield f"{name}: {file.relative_to(paths.ROOT)}"


def kept(before: Path, after: Path, shows: Sequence[str] = ()) -> dict[str, Any]:
    """What a page and its variant say of the change: where they differ, the time of steps that the variant alone has, and what
    the page rests on. What certain cells show is preferred to a table of systems."""
    baseline, variant = comparison.read(before), comparison.read(after)
    known, recorded = {line["key"] for line in baseline.ledger}, Store(paths.RESULTS)
    page = min(variant.run["seconds"], LONGEST_PAGE)
    own = [line["seconds"] for line in variant.ledger
           if line["key"] not in known and recorded.find(line["step"], line["key"], line["numerics"]) is None]
    systems = "" if shows else systems_table(baseline, variant)
    shown = [systems] if systems else changed(before, after, shows)
    return {"change": variant.run["changed"], "commit": variant.run["commit"], "date": variant.run["date"][:10],
            "seconds": round(sum(own) + page), "shown": shown,
            "rests_on": exercises.basis(baseline.run["parameters"], execute.data_of(before))}


def systems_table(baseline: Page, variant: Page) -> str:
    """The systems that moved or are new, by the first measure that they have; empty if all stayed as they were."""
    both = comparison.pairs(baseline, variant)
    new = {label: system for label, system in variant.systems.items() if label not in baseline.systems}
    names = [*(name for pair in both for name in pair.measures), *(str(n) for system in new.values() for n in system.values)]
    measure = next(iter(names), "")
    both = [pair for pair in both if measure in pair.measures and not pair.baseline[measure].equals(pair.variant[measure])]
    rows = [[row.pair.label, *(plain(float(side[measure].mean())) for side in (row.pair.baseline, row.pair.variant)),
             *test_cells(row.test)] for row in comparison.tested(both, measure)]
    rows += [[label, "", plain(float(system.values[measure].mean())), "", ""] for label, system in new.items()
             if measure in system.values]
    if not rows:
        return ""
    of = f", {MOST} of {count(len(rows))} systems" if len(rows) > MOST else ""
    return table(f"{measure} before and after the change, on the queries of both runs{of}", HEADS, rows[:MOST]).text


def changed(before: Path, after: Path, shows: Sequence[str]) -> list[str]:
    """The tables and texts of the second page in certain cells (by id), without links, or the first of those that the first page
    has otherwise; figures and what is folded are left out."""
    first, second = (outputs(page) for page in (before, after))
    moved = [name for name in second if first.get(name) != second[name]]
    return [second[name] for name in (shows or moved[:MOST_PARTS]) if name in second]


def outputs(page: Path) -> dict[str, str]:
    """What a page's cells show, by the cell's id: open tables and texts in HTML."""
    from bs4 import BeautifulSoup

    found = {}
    for one in edited.notebook_of(page).cells:
        parts = [output.get("data", {}).get("text/html", "") for output in one.get("outputs", [])]
        soup = BeautifulSoup("".join(parts), "lxml")
        for hidden in soup(["figure", "details"]):
            hidden.decompose()
        for link in soup("a"):
            link.unwrap()
        if soup.body and soup.body.get_text(strip=True):
            found[str(one.id)] = soup.body.decode_contents()
    return found
