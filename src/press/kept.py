"""What the step store keeps, by step: how much, since when, for which chapters; and `book store`, which lists and empties it.

What is removed is computed again when it is needed. A key whose lock a process holds stays, with its checkpoints.
"""

import contextlib
import os
import re
import shutil
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from filelock import Timeout

from helpers import paths
from helpers.data.downloads import bytes_text
from helpers.errors import BadInput
from helpers.steps.store import Store
from press import execute, variants
from press.terminal import columns

KEY = re.compile(r"[0-9a-f]{20}")  # what the folder of a key is called
DAY = 86_400  # seconds


class Kept(NamedTuple):
    """The values of one key, and what an unfinished computation left there."""

    place: Path  # their folder, in that of the step
    bytes: int
    seconds: float  # since one of the files was written or, where the file system notes that, read
    chapters: frozenset[str]  # whose executed pages used them


def kept() -> list[Kept]:
    """All of the store, a line a key, by step."""
    used = defaultdict[str, set[str]](set)
    for page in paths.CHAPTERS.glob("*.ipynb"):
        for line in (line for item in execute.data_of(page) for line in item.get("ledger", [])):
            used[line["key"][:20]].add(variants.chapter_of(page.stem))
    found = []
    for place in sorted(folder for folder in paths.store().glob("*/*") if KEY.fullmatch(folder.name) and folder.is_dir()):
        states = list(_states(place))
        last = max((max(state.st_mtime, state.st_atime) for state in states), default=0.0)
        found.append(Kept(place, sum(state.st_size for state in states), time.time() - last, frozenset(used[place.name])))
    return found


def _states(folder: Path) -> Iterator[os.stat_result]:
    for file in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # a running process has finished with it
            if not file.is_dir():
                yield file.stat()


def store(older: float | None, step: str, chapter: str, dry_run: bool) -> Iterator[str]:
    """List the store, or what is older than so many seconds, of one step, or used by no page but those of one chapter; without
    `dry_run` remove that. BadInput for removing without saying what."""
    if not dry_run and older is None and not step and not chapter:
        raise BadInput("nothing says what to remove", mend="give --older 30d (0d for all), --step NAME or --chapter NAME")
    chosen = [one for one in kept() if (older is None or one.seconds >= older) and step in ("", one.place.parent.name)
              and (not chapter or one.chapters == {chapter})]
    yield table(chosen)
    if not dry_run:
        removed = [one for one in chosen if remove(one.place)]
        yield f"removed {len(removed)} of {len(chosen)}, {size(removed)}"
        yield from (f"{one.place.parent.name} {one.place.name[:10]}: a process holds it" for one in chosen if one not in removed)
    elif chosen and (older is not None or step or chapter):
        yield "nothing was removed; --no-dry-run removes these"


def table(chosen: list[Kept]) -> str:
    """A line a step, the largest first, and the total."""
    steps = defaultdict[str, list[Kept]](list)
    for one in chosen:
        steps[one.place.parent.name].append(one)
    rows = []
    for name, own in sorted(steps.items(), key=lambda item: -sum(one.bytes for one in item[1])):
        ages = sorted((one.seconds / DAY for one in own), reverse=True)
        rows.append((name, len(own), size(own), f"{ages[0]:.1f}", f"{ages[-1]:.1f}",
                     ", ".join(sorted(frozenset().union(*(one.chapters for one in own))))))
    return columns([("step", "keys", "size", "oldest, days", "newest", "chapters"), *rows,
                    ("all", len(chosen), size(chosen), "", "", "")], right=(1, 2, 3, 4))


def size(some: list[Kept]) -> str:
    """Their bytes in words."""
    return bytes_text(sum(one.bytes for one in some))


def remove(place: Path) -> bool:
    """Remove a key's folder, unless a process computes it; whether it was removed."""
    try:
        with Store(place.parent.parent).lock(place.parent.name, place.name).acquire(timeout=0):
            shutil.rmtree(place)
            return True
    except Timeout:
        return False
