"""Recorded runs: slow steps whose small results the book ships, and the proof that they can be had again.

`record` copies them from the store, and all measurements of time and memory, so that those of one page are of one machine;
`verify` recomputes a random sample in an empty store, or as much as a budget allows, and compares within a declared tolerance.
"""

import json
import math
import os
import random
import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from safetensors.torch import load_file

from helpers import paths
from helpers.data import elsewhere
from helpers.pages import fragments
from helpers.pages.rates import SPOT_CHECK
from helpers.steps import ledger, numerics, rebuild, registry
from helpers.steps.recorded import Recorded, unpacked
from helpers.steps.store import MANIFEST, Entry, Store, place_of, read_entry
from helpers.systems.rerankers import WarmUp
from press import execute, findings_picture
from press.step_digests import import_all

TOLERANCE = {"run": 0.02, "table": 0.02, "json": 0.05, "folder": 0.02}  # largest drift allowed: of a score, cell, number, weight
LIMIT = 3_000_000  # bytes: a recorded run is small, or it is not recorded
LIMIT_OF_BASE = 25_000_000  # of the one set of weights that is shipped
QUICK = 5.0  # seconds: what takes less, on a busy machine too, is made again from what it rests on
BELOW = 25.0  # seconds: an index of the texts, or BM25's run over it, takes less, and a page makes it anyway


def record(over: float = 20) -> Iterator[str]:
    """Copy the results of the executed chapters that took more than so many seconds, with all that comes before, to `results/`,
    and draw the README's picture anew. Spot checks and anything above 3 MB are never recorded, nor are folders (indexes,
    weights): but for the base re-ranker, which `book search` and trainings start from."""
    import_all()
    base = WarmUp().model
    timings = {name for name, step in registry.STEPS.items() if step.timing}
    trained = Store(paths.store()).find(base.name, base.key, "")
    pages = [data for page in sorted(paths.CHAPTERS.glob("*.ipynb")) for data in execute.data_of(page)]
    used, checks = (line for data in pages for line in data.get("ledger", [])), {data.get(SPOT_CHECK) for data in pages}
    recorded = Recorded(paths.RESULTS)
    there, new = {place_of(manifest) for manifest in recorded.manifests()}, dict[str, Entry]()
    for line in (*used, *([trained.manifest] if trained else [])):
        place = place_of(line)
        if line["key"] in checks or place in there or (entry := read_entry(paths.store() / place)) is None:
            continue
        worth = line["step"] in timings or (ledger.cost(line) > over and not quickly_made(line, there)) or rests_elsewhere(entry)
        if not worth or (entry.manifest["form"] == "folder" and line["key"] != base.key):
            continue
        size = sum(file["size"] for file in entry.manifest["files"].values())
        if size > (LIMIT_OF_BASE if line["key"] == base.key else LIMIT):
            yield f"left out {line['step']}:{line['key'][:10]}: {size:,} bytes"
            continue
        there.add(place)
        new[place] = entry
    recorded.add(new.values())
    yield from (f"recorded {place}: {fragments.seconds(ledger.cost(entry.manifest))}" for place, entry in new.items())
    findings_picture.write()


def rests_elsewhere(entry: Entry) -> bool:
    """Whether an entry has the measures or the types of queries that are not shipped: without them it cannot be made again."""
    return entry.manifest["step"] in ("run_measures", "type_counts") and any(
        json.dumps(folder) in json.dumps(entry.manifest["recipe"]) for folder in elsewhere.listed())


def quickly_made(line: dict[str, Any], there: Collection[str]) -> bool:
    """Whether a result takes no time from what is recorded, by its places: measures of a ranking, an aggregation of scores. The
    ledger has a result's inputs before it, so they are there by then."""
    below = [item for item in line.get("inputs") or [] if ledger.cost(item) > BELOW]
    keys = {place.rpartition("/")[0] for place in there}
    return (line["seconds"] or 0.0) < QUICK and bool(below) and all(
        f"{item['step']}/{item['key'][:20]}" in keys or quickly_made(item, there) for item in below)


def verify(sample: int, budget: float, seed: int | None) -> int:
    """Read all of the store, recompute so many recorded runs and compare; 1 if a value is damaged or a run differs, else 0. Runs
    that would exceed the budget of seconds, by their recorded cost, are named and left out."""
    import_all()
    recorded = Recorded(paths.RESULTS).entries()
    untimed = [entry for entry in recorded if entry.numerics != numerics.MEASURED]  # times are of another machine, or moment
    drawn, left, differing = random.Random(seed).sample(untimed, k=len(untimed)), budget, 0
    for manifest in sorted(paths.store().glob(f"*/*/*/{MANIFEST}")):
        if read_entry(manifest.parent) is None:
            differing += 1
            print(f"{manifest.parent}: damaged, and computed again when it is needed")
    with (tempfile.TemporaryDirectory() as folder,
          patch.dict(os.environ, BOOK_STORE=folder, BOOK_FRESH=str(time.time()))):
        for entry in drawn:
            cost, form = ledger.cost(entry.manifest), entry.manifest["form"]
            name = f"{entry.manifest['step']}:{entry.manifest['key'][:10]}"
            if sample == 0:
                break
            if cost > left:
                print(f"{name}: left out, {fragments.seconds(cost)} exceed the budget of {fragments.seconds(left)}")
                continue
            step = rebuild(entry.manifest["recipe"])
            if not step.makeable:
                print(f"{name}: left out, it rests on texts that are not here")
                continue
            sample, left = sample - 1, left - cost
            again = step.entry()
            drift = drift_of(*(registry.FORMS[form].load(one.folder) for one in (unpacked(entry), again)))
            verdict = "agrees" if drift <= TOLERANCE[form] and step.key == entry.manifest["key"] else "DIFFERS"
            differing += verdict != "agrees"
            print(f"{name}: {verdict}, largest drift {drift:.2g} (tolerance {TOLERANCE[form]})")
    return 1 if differing else 0


def drift_of(old: Any, new: Any) -> float:
    """The largest absolute difference between two plain values, frames in whatever order their rows are, or folders of weights;
    infinite if shapes or texts differ."""
    if isinstance(old, Path):
        return drift_of(*({name: weight.float().numpy() for name, weight in load_file(folder / "model.safetensors").items()}
                          for folder in (old, new)))
    if isinstance(old, pd.DataFrame):
        if list(old.columns) != list(new.columns):
            return math.inf
        figures = list(old.select_dtypes(["number", "bool"]).columns)
        texts = [column for column in old.columns if column not in figures]
        old, new = (frame.sort_values([*texts, *figures]) for frame in (old, new))
        return drift_of(*([frame[texts].to_numpy().tolist(), frame[figures].to_numpy(float)] for frame in (old, new)))
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        return max((drift_of(old[name], new[name]) for name in old), default=0.0)
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return max(map(drift_of, old, new), default=0.0)
    if isinstance(old, int | float | np.ndarray) and isinstance(new, int | float | np.ndarray):
        old, new = np.asarray(old, float), np.asarray(new, float)
        if old.shape != new.shape or not np.array_equal(np.isnan(old), np.isnan(new)):
            return math.inf
        return float(np.nan_to_num(np.abs(old - new)).max(initial=0.0))
    return 0.0 if old == new else math.inf
