"""What the step store keeps, by step: how much, and since when; and `book store`, which lists and empties it.

What is removed is computed again when it is needed. A key whose lock a process holds stays, with its checkpoints.
"""

import contextlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from filelock import Timeout

from helpers import paths
from helpers.data.downloads import bytes_text
from helpers.errors import BadInput
from helpers.steps.store import Store
from press.terminal import columns

KEY = re.compile(r"[0-9a-f]{20}")  # what the folder of a key is called
DAY = 86_400  # seconds


def kept() -> pd.DataFrame:
    """All of the store, a line a key, by step: its `step`, its `place`, the `bytes` of its values and of what an unfinished
    computation left there, and the `days` since a file was written or, where that is noted, read."""
    found = list[tuple[Any, ...]]()
    for place in sorted(folder for folder in paths.store().glob("*/*") if KEY.fullmatch(folder.name) and folder.is_dir()):
        states = list(_states(place))
        last = max((max(state.st_mtime, state.st_atime) for state in states), default=0.0)
        found.append((place.parent.name, place, sum(state.st_size for state in states), (time.time() - last) / DAY))
    return pd.DataFrame(found, columns=["step", "place", "bytes", "days"])


def _states(folder: Path) -> Iterator[os.stat_result]:
    for file in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # a running process has finished with it
            if not file.is_dir():
                yield file.stat()


def store(older: float | None, step: str, dry_run: bool) -> Iterator[str]:
    """List the store, or what is older than so many seconds, or of one step; without `dry_run` remove that. BadInput for removing
    without saying what."""
    narrowed = older is not None or bool(step)
    if not dry_run and not narrowed:
        raise BadInput("nothing says what to remove", mend="give --older 30d (0d for all) or --step NAME")
    chosen = kept()
    chosen = chosen[(chosen["days"] >= (older or 0) / DAY) & chosen["step"].isin([step] if step else chosen["step"])]
    yield table(chosen)
    if not dry_run:
        gone = chosen["place"].map(remove).astype(bool)
        yield f"removed {gone.sum()} of {len(chosen)}, {bytes_text(int(chosen['bytes'][gone].sum()))}"
        yield from (f"{place.parent.name} {place.name[:10]}: a process holds it" for place in chosen["place"][~gone])
    elif len(chosen) and narrowed:
        yield "nothing was removed; --no-dry-run removes these"


def table(chosen: pd.DataFrame) -> str:
    """A line a step, the largest first, and the total."""
    rows = [(name, len(own), bytes_text(int(own["bytes"].sum())), f"{own['days'].max():.1f}", f"{own['days'].min():.1f}")
            for name, own in chosen.groupby("step")]
    rows.sort(key=lambda row: -chosen["bytes"][chosen["step"] == row[0]].sum())
    return columns([("step", "keys", "size", "oldest, days", "newest"), *rows,
                    ("all", len(chosen), bytes_text(int(chosen["bytes"].sum())), "", "")], right=(1, 2, 3, 4))


def remove(place: Path) -> bool:
    """Remove a key's folder, unless a process computes it; whether it was removed."""
    try:
        with Store(place.parent.parent).lock(place.parent.name, place.name).acquire(timeout=0):
            shutil.rmtree(place)
            return True
    except Timeout:
        return False
