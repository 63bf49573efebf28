"""The ledger: which step values this process used, and where each came from.

A page's provenance table, `make explain` and the tests read it; with `BOOK_LEDGER` every line also goes to that file.
"""

import json
import os
import sys
from typing import Any

from tqdm import tqdm

from helpers.errors import printable

WARNED: set[str] = set()
USED: dict[str, dict[str, Any]] = {}  # by key, in order of first use


def note(manifest: dict[str, Any], source: str) -> None:
    """Remember the use of a value; `source` is `computed` (now), `stored` (an earlier run here) or `recorded`."""
    key = manifest["key"]
    if key in USED:
        return
    USED[key] = {"key": key, "source": source, **{name: manifest.get(name) for name in (
        "step", "version", "numerics", "seconds", "started", "finished", "machine", "versions", "commit", "recipe", "inputs")}}
    if file := os.environ.get("BOOK_LEDGER"):
        with open(file, "a", encoding="utf-8") as lines:
            lines.write(json.dumps(USED[key], ensure_ascii=False) + "\n")


def progress(text: str) -> None:
    """Tell a person at a terminal what is being computed."""
    print(f"  {printable(text)}", file=sys.stderr, flush=True)


def warn(text: str) -> None:
    """Tell them what is odd in what they gave, and no error, once."""
    if text not in WARNED:
        WARNED.add(text)
        progress(f"warning: {text}")


def bar(what: str, total: int, done: int = 0) -> Any:
    """Tell them how far it is, in one line of plain text, which a chapter passes on: a bar of tqdm, none for nothing."""
    return tqdm(total=total, initial=done, desc=what, disable=not what, mininterval=5,
                bar_format="{desc} {n_fmt} of {total_fmt}{postfix}, {remaining} left")


def cost(line: dict[str, Any]) -> float:
    """Seconds that a value costs from nothing: its own and those of all steps below it, each counted once."""
    seen: dict[str, float] = {}

    def visit(item: dict[str, Any]) -> None:
        if item["key"] not in seen:
            seen[item["key"]] = item.get("seconds") or 0.0
            for below in item.get("inputs") or []:
                visit(below)

    visit(line)
    return sum(seen.values())
