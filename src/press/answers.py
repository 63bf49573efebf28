"""The answer to a chapter's exercise: what running it gave, kept in `book/answers/` and folded below the task.

    book answer candidates      # runs the exercise, and keeps what it changed
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.pages.compare import test_cells
from helpers.pages.fragments import table
from helpers.pages.numbers import count, plain
from press import comparison, edited, execute, exercises
from press.comparison import Page

PROFILE = "almanac"  # of the pages that have exercises
MOST = 12  # systems in an answer's table
MOST_TABLES = 2  # in the answer of a page whose systems did not move
HEADS = ("system", "on this page", "with the change", "difference", "p (t, perm.)")


def answer(names: Sequence[str]) -> Iterator[str]:
    """Run the exercises of some chapters, of all if none is named, and keep what came out."""
    for name in names or exercises.load():
        change = {key: json.dumps(value) for key, value in exercises.load()[name]["change"].items()}
        before, after = (execute.run(name, PROFILE, given)[0] for given in ({}, change))
        file = exercises.answer_file(name)
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(kept(before, after), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        yield f"{name}: {file.relative_to(paths.ROOT)}"


def kept(before: Path, after: Path) -> dict[str, Any]:
    """What a page and its variant say of the change: the time it took, and the table in which they differ, with the keys of the
    steps that the page rests on."""
    baseline, variant = comparison.read(before), comparison.read(after)
    known = [line["key"] for line in baseline.ledger]
    own = [line["seconds"] for line in variant.ledger if line["key"] not in known]
    tables = [moved] if (moved := systems_table(baseline, variant)) else changed_tables(before, after)[:MOST_TABLES]
    return {"change": variant.run["changed"], "commit": variant.run["commit"], "date": variant.run["date"][:10],
            "seconds": round(sum(own) + min(variant.run["seconds"], 60)), "rests_on": sorted(set(known)), "tables": tables}


def systems_table(baseline: Page, variant: Page) -> str:
    """The systems that moved or are new, by the first measure that they have; empty if all stayed as they were."""
    both = [pair for pair in comparison.pairs(baseline, variant) if not pair.is_unchanged]
    new = {label: system for label, system in variant.systems.items() if label not in baseline.systems}
    names = [*(name for pair in both for name in pair.measures), *(str(n) for system in new.values() for n in system.values)]
    if not names:
        return ""
    measure = names[0]
    rows = [[row.pair.label, *(plain(float(side[measure].mean())) for side in (row.pair.baseline, row.pair.variant)),
             *test_cells(row.test)] for row in comparison.tested(both, measure)]
    rows += [[label, "", plain(float(system.values[measure].mean())), "", ""] for label, system in new.items()
             if measure in system.values]
    of = f", {MOST} of {count(len(rows))} systems" if len(rows) > MOST else ""
    return table(f"{measure} before and after the change{of}", HEADS, rows[:MOST]).text


def changed_tables(before: Path, after: Path) -> list[str]:
    """The tables of the second page that the first has otherwise, without links; those that are folded are left out."""
    first, second = (tables_of(page) for page in (before, after))
    return [text for caption, text in second.items() if first.get(caption, text) != text]


def tables_of(page: Path) -> dict[str, str]:
    """A page's open tables by caption."""
    from bs4 import BeautifulSoup

    found = {}
    for output in (output for one in edited.notebook_of(page).cells for output in one.get("outputs", [])):
        soup = BeautifulSoup(output.get("data", {}).get("text/html", ""), "lxml")
        for link in soup("a"):
            link.unwrap()
        for box in soup.select("div.nr-scroll"):
            if not box.find_parent("details") and box.caption:
                found[box.caption.get_text()] = str(box)
    return found
