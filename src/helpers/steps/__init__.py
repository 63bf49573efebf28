"""Steps: everything slow, computed once and kept.

    @step(version=1, form="run")
    def bm25_run(index: Path, queries: pd.DataFrame, *, k1: float, b: float, depth: int) -> pd.DataFrame: ...

    run = bm25_run(lucene_index(...), queries, k1=0.9, b=0.4, depth=100)    # a recipe; nothing is computed
    run.value()                                                             # the DataFrame, from the store if it is there

Calling a step gives a `Step`, which may stand as an argument of another one. `value()` looks for the key in the
reader's store, then among the recorded runs, and computes it otherwise, inputs first and only those that are needed:
in this process, or on a cluster (`helpers.steps.cluster_steps`).
"""

import functools
import inspect
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

from helpers import paths
from helpers.steps import cluster_steps, ledger, multi_gpu, numerics, provenance, recipe, values
from helpers.steps.shards import Shards, of_one_class
from helpers.steps.store import Entry, Store

REGISTRY: dict[str, "Definition"] = {}


@dataclass(frozen=True)
class Definition:
    """What `@step` knows of a function."""

    name: str
    version: int
    form: str
    network: bool  # True if the value depends on the numerics class (it comes out of a neural network)
    function: Callable[..., Any]
    hints: dict[str, Any] = field(repr=False, default_factory=dict)
    timing: bool = False  # True for a time or a size of memory: it belongs to this machine and is never shipped
    resumable: bool = False  # True if the function goes on from checkpoints that an interrupted run left
    parallel: bool = False  # True if several processes may run the function together, each on a GPU
    shards: Shards | None = None  # how a cluster computes it in parts


def step(version: int, form: str, network: bool = False, timing: bool = False,
         resumable: bool = False, parallel: bool = False,
         shards: Shards | None = None) -> Callable[[Callable[..., Any]], Callable[..., "Step"]]:
    """Make a function a step.

    A function of form `folder` takes one more keyword argument, `folder`: the empty folder that it fills. A resumable one takes
    `checkpoints` too: a folder that stays until the value is finished.

    Args:
        version: raise it when the meaning of the result changes; `tests/steps.json` keeps the decision honest.
        form: how the value is kept, see `helpers.steps.values`.
        network: whether the value comes out of a neural network, so that rounding depends on the hardware.
        timing: whether it is a measurement of this machine, which is always made live and never recorded.
        resumable: whether the function keeps checkpoints, and goes on from those that it finds.
        parallel: whether it is a training that several processes may run together, see `helpers.steps.multi_gpu`.
        shards: how a cluster computes it in parts; without a cluster it is computed as a whole.
    """

    if form not in values.FORMS:
        raise ValueError(f"unknown form {form!r}: one of {', '.join(values.FORMS)}")

    def wrap(function: Callable[..., Any]) -> Callable[..., Step]:
        definition = Definition(function.__name__, version, form, network, function, get_type_hints(function),
                                timing, resumable, parallel, shards)
        REGISTRY[definition.name] = definition
        signature = inspect.signature(function)

        @functools.wraps(function)
        def build(*args: Any, **kwargs: Any) -> Step:
            hidden = dict.fromkeys(["folder"] * (form == "folder") + ["checkpoints"] * resumable)
            bound = signature.bind(*args, **kwargs, **hidden)
            bound.apply_defaults()
            arguments = {name: _typed(definition, name, value) for name, value in bound.arguments.items()
                         if name not in hidden}
            return Step(definition, arguments)

        build.definition = definition  # type: ignore[attr-defined]
        return build

    return wrap


def _typed(definition: Definition, name: str, value: Any) -> Any:
    """A float parameter given as an int is the same recipe; any other mismatch of a plain type is a mistake."""
    hint = definition.hints.get(name)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint in (int, float, str, bool) and type(value) is not hint:
        raise TypeError(f"{definition.name}({name}={value!r}): {hint.__name__} wanted, got {type(value).__name__}")
    return value


class Step:
    """One computation with its arguments; `key` names it, `value()` gives its result."""

    def __init__(self, definition: Definition, arguments: dict[str, Any]):
        self.definition, self.arguments = definition, arguments
        self.name = definition.name
        # an absent input is not part of the recipe: an optional one added later leaves the old keys as they are
        self._recipe: dict[str, Any] = {"step": self.name, "version": definition.version,
                                        "arguments": {name: recipe.describe(value) for name, value in arguments.items()
                                                      if value is not None}}
        self.key = recipe.key_of(self._recipe)

    def recipe(self) -> dict[str, Any]:
        """The plain description from which `helpers.steps.rebuilding` makes the step again."""
        return self._recipe

    def __repr__(self) -> str:
        return f"{self.name}:{self.key[:10]}"

    def value(self) -> Any:
        """The result: from the store, from the recorded runs, or computed now."""
        entry = self.entry()
        return values.load(self.definition.form, entry.folder)

    def entry(self) -> Entry:
        """Like `value`, but the store's entry (folder and manifest) instead of the value."""
        entry, source = self.lookup()
        if entry is None:
            entry, source = cluster_steps.compute(self) if cluster_steps.takes(self) else self._compute()
        ledger.note(entry.manifest, source)
        return entry

    def joined(self, parts: Sequence[tuple[str, str]]) -> Entry:
        """Like `entry`, but made of its shards, which are removed then: the name and the key of each."""
        return self._compute(parts)[0]

    def inputs(self) -> list["Step"]:
        """The steps that it takes directly as inputs, in order of appearance."""
        return _steps_in(list(self.arguments.values()))

    def lookup(self) -> tuple[Entry | None, str]:
        """The entry that would be used, and where it was found: `stored`, `recorded` or `missing`."""
        own = self._class()
        stored = Store(paths.store()).find(self.name, self.key, own)
        if stored is not None and not _too_old(stored):
            if stored.numerics == own:
                return stored, "stored"
        else:
            stored = None
        recorded = None if fresh_since() is not None else Store(paths.RESULTS).find(self.name, self.key, own)
        if recorded is not None and (stored is None or recorded.numerics == own):
            return recorded, "recorded"
        return (stored, "stored") if stored is not None else (None, "missing")

    def _class(self) -> str:
        return numerics.own_class() if self.definition.network else numerics.EXACT

    def _compute(self, parts: Sequence[tuple[str, str]] = ()) -> tuple[Entry, str]:
        store = Store(paths.store())
        with store.lock(self.name, self.key):
            entry, source = self.lookup()  # another process may have finished it while this one waited
            if entry is not None:
                return entry, source
            store.sweep(self.name, self.key)
            shards = of_one_class(store, self.name, parts)
            resolved = {} if shards else {name: _resolve(value) for name, value in self.arguments.items()}
            started, clock = provenance.now(), time.perf_counter()
            ledger.progress(f"{self.name} ...")

            def fill(folder: Path) -> None:
                extra = {"folder": folder} if self.definition.form == "folder" else {}
                if self.definition.resumable:
                    extra["checkpoints"] = store.checkpoints(self.name, self.key, self._class())
                if shards and self.definition.shards is not None:
                    value = self.definition.shards.join([values.load(s.manifest["form"], s.folder) for s in shards], **extra)
                else:
                    value = multi_gpu.call(self.definition, {**resolved, **extra})
                    if (processes := multi_gpu.processes(self.definition, resolved)) > 1:
                        manifest["processes"] = processes
                values.save(self.definition.form, value, folder)
                spent = sum(shard.manifest["seconds"] for shard in shards)
                manifest["seconds"] = round(time.perf_counter() - clock + spent, 3)
                manifest["finished"] = provenance.now()

            manifest: dict[str, Any] = {
                "step": self.name, "version": self.definition.version, "form": self.definition.form,
                "numerics": shards[0].numerics if shards else self._class(), "recipe": self._recipe, "started": started,
                "inputs": [_summary(part) for part in recipe.input_steps(self._recipe)],
                "machine": provenance.machine(), "versions": provenance.versions(), "commit": provenance.commit(),
            }
            entry = store.write(self.name, self.key, manifest, fill)
            store.drop_checkpoints(self.name, self.key, self._class())
            for name, key in parts:
                store.remove(name, key)
            ledger.progress(f"{self.name} {manifest['seconds']:.1f} s")
            return entry, "computed"


def fresh_since() -> float | None:
    """With `BOOK_FRESH` (a time in seconds since 1970), older entries and recorded runs are not used."""
    text = os.environ.get("BOOK_FRESH", "")
    return float(text) if text else None


def _too_old(entry: Entry) -> bool:
    since = fresh_since()
    return since is not None and (entry.folder / "manifest.json").stat().st_mtime < since


def _steps_in(value: Any) -> list[Step]:
    if isinstance(value, Step):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [found for item in value for found in _steps_in(item)] if isinstance(value, list | tuple) else []


def _resolve(value: Any) -> Any:
    if isinstance(value, Step):
        return value.value()
    if isinstance(value, list | tuple):
        return [_resolve(item) for item in value]
    if isinstance(value, dict):
        return {name: _resolve(item) for name, item in value.items()}
    return value


def _summary(part: dict[str, Any]) -> dict[str, Any]:
    """What a manifest says of an input step: enough to add up the cost of a lineage without the input itself."""
    from helpers.steps.rebuilding import described

    built = described(part)
    entry, _ = built.lookup()
    if entry is None:
        return {"step": built.name, "key": built.key}
    manifest = entry.manifest
    wanted = ("step", "key", "seconds", "finished", "numerics", "inputs")
    return json.loads(json.dumps({name: manifest[name] for name in wanted}))
