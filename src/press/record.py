"""Recorded runs: slow steps whose small results the book ships, and the proof that they can be had again.

`record` copies, from the store, the results that the executed chapters used and that cost more than a minute from
nothing. `verify` recomputes a random sample in an empty store and compares it within a declared tolerance.
"""

import math
import os
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from safetensors.torch import load_file

from helpers import paths
from helpers.pages import numbers
from helpers.steps import ledger, rebuilding, registry, values
from helpers.steps.store import MANIFEST, Entry, Store, read_entry
from helpers.systems.listwise_reranker import WarmUp
from press import execute
from press.step_digests import import_all

TOLERANCE = {"run": 0.02, "table": 0.02, "json": 0.05, "folder": 0.02}  # largest drift allowed: of a score, cell, number, weight
LIMIT = 3_000_000  # bytes: a recorded run is small, or it is not recorded
LIMIT_OF_BASE = 25_000_000  # of the one set of weights that is shipped


def record(over: float) -> Iterator[str]:
    """Copy the slow results of the executed chapters to `results/`; yields a line for each.

    Timings and anything above 3 MB are never recorded, nor are folders (indexes, weights): but for the base re-ranker, which
    `book search` and trainings start from.
    """
    import_all()
    base = WarmUp().model
    timings = {name for name, step in registry.STEPS.items() if step.timing}
    trained = Store(paths.store()).find(base.name, base.key, "")
    used = (line for page in sorted(paths.CHAPTERS.glob("*.ipynb")) for data in execute.data_of(page)
            for line in data.get("ledger", []))
    for line in (*used, *([trained.manifest] if trained else [])):
        folder, target = (Store(root).place(line["step"], line["key"]) / line["numerics"]
                          for root in (paths.store(), paths.RESULTS))
        if line["step"] in timings or target.exists() or ledger.cost(line) <= over:
            continue
        entry = read_entry(folder)
        if entry is None or (entry.manifest["form"] == "folder" and line["key"] != base.key):
            continue
        size = sum(file["size"] for file in entry.manifest["files"].values())
        if size > (LIMIT_OF_BASE if line["key"] == base.key else LIMIT):
            yield f"left out {line['step']}:{line['key'][:10]}: {size:,} bytes"
            continue
        shutil.copytree(folder, target)
        yield f"recorded {line['step']}:{line['key'][:10]}: {size:,} bytes, {numbers.seconds(ledger.cost(line))}"


def entries() -> list[Entry]:
    """Every recorded run that is sound.

    Raises:
        ValueError: for one that is damaged.
    """
    recorded = []
    for manifest in sorted(paths.RESULTS.rglob(MANIFEST)):
        entry = read_entry(manifest.parent)
        if entry is None:
            raise ValueError(f"{manifest.parent.relative_to(paths.ROOT)} is damaged. Mend: restore it from git")
        recorded.append(entry)
    return recorded


def verify(sample: int, budget: float, seed: int | None) -> int:
    """Recompute a random sample of recorded runs from nothing and compare; 1 if any differs beyond the tolerance.

    Args:
        sample: how many.
        budget: seconds; runs that would exceed it, by their recorded cost, are named and left out.
        seed: of the draw; by default another sample each time.
    """
    import_all()
    drawn, left, differing = random.Random(seed).sample(entries(), k=len(entries())), budget, 0
    with (tempfile.TemporaryDirectory() as folder,
          patch.dict(os.environ, BOOK_STORE=folder, BOOK_FRESH=str(time.time()))):
        for entry in drawn:
            cost, form = ledger.cost(entry.manifest), entry.manifest["form"]
            name = f"{entry.manifest['step']}:{entry.manifest['key'][:10]}"
            if sample == 0:
                break
            if cost > left:
                print(f"{name}: left out, {numbers.seconds(cost)} exceed the budget of {numbers.seconds(left)}")
                continue
            sample, left = sample - 1, left - cost
            again = rebuilding.rebuild(entry.manifest["recipe"]).entry()
            drift = drift_of(*(values.load(form, one.folder) for one in (entry, again)))
            verdict = "agrees" if drift <= TOLERANCE[form] else "DIFFERS"
            differing += verdict != "agrees"
            print(f"{name}: {verdict}, largest drift {drift:.2g} (tolerance {TOLERANCE[form]})")
    return 1 if differing else 0


def drift_of(old: Any, new: Any) -> float:
    """The largest absolute difference between two plain values, frames in whatever order their rows are, or folders of weights.

    Infinite if shapes or texts differ.
    """
    if isinstance(old, Path) and isinstance(new, Path):
        first, second = ({name: weight.float().numpy() for name, weight in load_file(folder / "model.safetensors").items()}
                         for folder in (old, new))
        if {name: weight.shape for name, weight in first.items()} != {name: weight.shape for name, weight in second.items()}:
            return math.inf
        return max(_drift(weight, second[name]) for name, weight in first.items())
    if isinstance(old, pd.DataFrame):
        if list(old.columns) != list(new.columns) or len(old) != len(new):
            return math.inf
        figures = [column for column in old.columns if pd.api.types.is_numeric_dtype(old[column])]
        texts = [column for column in old.columns if column not in figures]
        old, new = (frame.sort_values(texts + figures).reset_index(drop=True) for frame in (old, new))
        if not old[texts].equals(new[texts]):
            return math.inf
        return _drift(old[figures].to_numpy(float), new[figures].to_numpy(float))
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        return max((drift_of(old[name], new[name]) for name in old), default=0.0)
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return max(map(drift_of, old, new), default=0.0)
    if isinstance(old, int | float) and isinstance(new, int | float):
        return _drift(np.array(old, float), np.array(new, float))
    return 0.0 if old == new else math.inf


def _drift(old: np.ndarray, new: np.ndarray) -> float:
    if not np.array_equal(np.isnan(old), np.isnan(new)):
        return math.inf
    return float(np.nan_to_num(np.abs(old - new)).max(initial=0.0))
