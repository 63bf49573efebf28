"""Recorded runs: slow steps whose small results the book ships, and the proof that they can be had again.

`record` copies, from the store, the results that the executed chapters used and that cost more than a minute from
nothing. `verify` recomputes a random sample in an empty store and compares it within a declared tolerance.
"""

import contextlib
import math
import os
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import paths
from helpers.pages import numbers
from helpers.steps import ledger, rebuilding, registry, values
from helpers.steps.store import MANIFEST, Entry, Store, read_entry
from press import execute
from press.step_digests import import_all

TOLERANCE = {"run": 0.02, "table": 0.02, "json": 0.05}  # largest allowed drift of a score, a cell, a number
LIMIT = 3_000_000  # bytes: a recorded run is small, or it is not recorded


def record(over: float) -> Iterator[str]:
    """Copy the slow results of the executed chapters to `results/`; yields a line for each.

    Folders (indexes, weights), timings and anything above 3 MB are never recorded.
    """
    store, results = Store(paths.store()), Store(paths.RESULTS)
    for line in _used():
        folder = store.place(line["step"], line["key"]) / line["numerics"]
        target = results.place(line["step"], line["key"]) / line["numerics"]
        entry = read_entry(folder)
        if _is_timing(line["step"]) or entry is None or entry.manifest["form"] == "folder":
            continue
        if target.exists() or ledger.cost(line) <= over:
            continue
        size = sum(file["size"] for file in entry.manifest["files"].values())
        if size > LIMIT:
            yield f"left out {line['step']}:{line['key'][:10]}: {size:,} bytes"
            continue
        shutil.copytree(folder, target)
        yield f"recorded {line['step']}:{line['key'][:10]}: {size:,} bytes, {numbers.seconds(ledger.cost(line))}"


def _is_timing(name: str) -> bool:
    import_all()
    return name in registry.STEPS and registry.STEPS[name].timing


def _used() -> Iterator[dict[str, Any]]:
    for page in sorted(paths.CHAPTERS.glob("*.ipynb")):
        for data in execute.data_of(page):
            yield from data.get("ledger", [])


def entries() -> list[Entry]:
    """Every recorded run that is sound.

    Raises:
        ValueError: for one that is damaged.
    """
    found = []
    for manifest in sorted(paths.RESULTS.rglob(MANIFEST)):
        entry = read_entry(manifest.parent)
        if entry is None:
            raise ValueError(f"{manifest.parent.relative_to(paths.ROOT)} is damaged. Mend: restore it from git")
        found.append(entry)
    return found


def verify(sample: int, budget: float, seed: int | None) -> int:
    """Recompute a random sample of recorded runs from nothing and compare; 1 if any differs beyond the tolerance.

    Args:
        sample: how many.
        budget: seconds; runs that would exceed it, by their recorded cost, are named and left out.
        seed: of the draw; by default another sample each time.
    """
    import_all()
    drawn, left, differing = random.Random(seed).sample(entries(), k=len(entries())), budget, 0
    with tempfile.TemporaryDirectory() as folder, _environment(BOOK_STORE=folder, BOOK_FRESH=str(time.time())):
        for entry in drawn:
            cost = ledger.cost(entry.manifest)
            name = f"{entry.manifest['step']}:{entry.manifest['key'][:10]}"
            if sample == 0:
                break
            if cost > left:
                print(f"{name}: left out, {numbers.seconds(cost)} exceed the budget of {numbers.seconds(left)}")
                continue
            sample, left = sample - 1, left - cost
            drift = compare(entry, rebuilding.rebuild(entry.manifest["recipe"]).entry())
            verdict = "agrees" if drift <= TOLERANCE[entry.manifest["form"]] else "DIFFERS"
            differing += verdict != "agrees"
            print(f"{name}: {verdict}, largest drift {drift:.2g} (tolerance {TOLERANCE[entry.manifest['form']]})")
    return 1 if differing else 0


def compare(old: Entry, new: Entry) -> float:
    """The largest difference between two values of one step; infinite if their shapes or texts differ."""
    form = old.manifest["form"]
    return drift_of(*(values.load(form, Path(entry.folder)) for entry in (old, new)))


def drift_of(old: Any, new: Any) -> float:
    """The largest absolute difference between two plain values or frames, in whatever order their rows are."""
    if isinstance(old, pd.DataFrame):
        if list(old.columns) != list(new.columns) or len(old) != len(new):
            return float("inf")
        texts = [column for column in old.columns if not pd.api.types.is_numeric_dtype(old[column])]
        figures = [column for column in old.columns if column not in texts]
        old, new = (f.sort_values(texts + figures).reset_index(drop=True) for f in (old, new))
        if texts and not old[texts].equals(new[texts]):
            return float("inf")
        return max((_column_drift(old[c].astype(float), new[c].astype(float)) for c in figures), default=0.0)
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        return max((drift_of(old[name], new[name]) for name in old), default=0.0)
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return max((drift_of(a, b) for a, b in zip(old, new, strict=True)), default=0.0)
    if isinstance(old, int | float) and isinstance(new, int | float):
        return float("inf") if math.isnan(old) != math.isnan(new) else 0.0 if math.isnan(old) else abs(old - new)
    return 0.0 if old == new else float("inf")


def _column_drift(old: pd.Series, new: pd.Series) -> float:
    if not old.isna().equals(new.isna()):
        return float("inf")
    drift = (old - new).abs().max()
    return 0.0 if pd.isna(drift) else float(drift)


@contextlib.contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
