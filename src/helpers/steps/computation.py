"""One computation: its recipe and key, where its value is, and how it is made."""

import contextlib
import functools
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.errors import BadInput
from helpers.steps import digests, ledger, multi_gpu, numerics, provenance, recipe, registry, turns, values
from helpers.steps.recorded import Recorded
from helpers.steps.registry import Definition
from helpers.steps.store import Entry, Store

SUMMARY = ("step", "key", "seconds", "finished", "numerics", "inputs")  # of an input's manifest


class Step:
    """One computation with its arguments; `key` names it, `value()` gives its result."""

    _recorded_too = True  # whether a recorded value is used
    # what computes a step in place of this process, or gives None: `helpers.steps` sets it to the cluster, if there is one
    elsewhere: "Callable[[Step], tuple[Entry, str] | None]" = staticmethod(lambda step: None)

    def __init__(self, definition: Definition, arguments: dict[str, Any]):
        self.definition, self.arguments = definition, arguments
        self.name = definition.name
        # an absent input is not part of the recipe: an optional one added later leaves the old keys as they are
        self._recipe: dict[str, Any] = {"step": self.name, "version": definition.version,
                                        "arguments": {name: recipe.describe(value) for name, value in arguments.items()
                                                      if value is not None}}
        self.key: str = recipe.key_of(self._recipe, {id(part.recipe()): part.key for part in self.inputs()})

    def here(self, only: bool = True) -> "Step":
        """The same step, whose recorded value is not used if `only`: for a measurement that is to be of this machine."""
        step = Step(self.definition, self.arguments)
        step._recorded_too = not only
        return step

    def again(self, **changes: Any) -> "Step":
        """The step with some other arguments, whose recorded value is not used."""
        if unknown := sorted(set(changes) - set(self.arguments)):
            raise TypeError(f"{self.name} has no argument {unknown[0]!r}")
        return Step(self.definition, self.arguments | changes).here()

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
        turns.come_in()
        entry, source = self.lookup()
        if entry is None:
            entry, source = Step.elsewhere(self) or self._compute()
        ledger.note(entry.manifest, source)
        return entry

    def joined(self, parts: Sequence[tuple[str, str]]) -> Entry:
        """Like `entry`, but made of its shards, which are removed then: the name and the key of each."""
        return self._compute(parts)[0]

    @functools.cached_property
    def makeable(self) -> bool:
        """Whether all the data that it rests on is here: what is not cannot be read anew."""
        return all(part.makeable if isinstance(part, Step) else getattr(part, "is_here", True) for part in self._parts())

    def inputs(self) -> list["Step"]:
        """The steps that it takes directly as inputs, in order of appearance."""
        return [part for part in self._parts() if isinstance(part, Step)]

    def _parts(self) -> list[Any]:
        return list(recipe.parts_in(list(self.arguments.values())))

    def lookup(self) -> tuple[Entry | None, str]:
        """The entry that would be used, and where it was found: `stored`, `recorded` or `missing`."""
        own = self._class
        stored = Store(paths.store()).find(self.name, self.key, own)
        if stored is not None and _too_old(stored):
            stored = None
        if stored is not None and stored.numerics == own:
            return stored, "stored"
        read = self._recorded_too and (fresh_since() is None or not self.makeable)
        recorded = Recorded(paths.RESULTS).find(self.name, self.key, own) if read else None
        if recorded is not None and not _has_its_recipe(recorded):
            recorded = None
        if recorded is not None and (stored is None or recorded.numerics == own):
            return recorded, "recorded"
        return (stored, "stored") if stored is not None else (None, "missing")

    @property
    def _class(self) -> str:
        """The numerics class that the value has where it is computed here, with all that is below it."""
        return _class_here(self._recipe)

    def _compute(self, parts: Sequence[tuple[str, str]] = ()) -> tuple[Entry, str]:
        store = Store(paths.store())
        turns.go_out()
        with store.lock(self.name, self.key):
            turns.come_in()
            entry, source = self.lookup()  # another process may have finished it while this one waited
            if entry is not None:
                return entry, source
            store.sweep(self.name, self.key)
            shards = _of_one_class(store, self.name, parts)
            inputs = [(part, part.lookup()[0] if shards else part.entry()) for part in self.inputs()]
            loaded = functools.partial(_loaded, {part.key: entry for part, entry in inputs})
            resolved = {} if shards else {name: recipe.replaced(value, loaded) for name, value in self.arguments.items()}
            started, clock = provenance.now(), time.perf_counter()
            ledger.progress(f"{self.name} ...")

            def fill(folder: Path) -> None:
                extra: dict[str, Any] = {"folder": folder} if self.definition.form == "folder" else {}
                if self.definition.resumable:
                    extra["checkpoints"] = store.checkpoints(self.name, self.key, self._class)
                if shards and self.definition.shards is not None:
                    value = self.definition.shards.join([values.load(s.manifest["form"], s.folder) for s in shards], **extra)
                else:
                    with self._unchanging(), turns.alone() if self.definition.timing else contextlib.nullcontext():
                        value = multi_gpu.call(self.definition, {**resolved, **extra})
                    if (processes := multi_gpu.processes(self.definition, resolved)) > 1:
                        manifest["processes"] = processes
                values.save(self.definition.form, value, folder)
                spent = sum(shard.manifest["seconds"] for shard in shards)
                manifest["seconds"] = round(time.perf_counter() - clock + spent, 3)
                manifest["finished"] = provenance.now()

            of = shards[0].numerics if shards else numerics.class_of(
                _own_class(self.definition), [entry.numerics for _, entry in inputs if entry is not None])
            manifest: dict[str, Any] = {
                "step": self.name, "version": self.definition.version, "form": self.definition.form,
                "numerics": of, "recipe": self._recipe, "started": started,
                "inputs": provenance.told_once([_summary(part, entry) for part, entry in inputs], set()),
                "machine": provenance.machine(), "versions": provenance.versions(), "commit": provenance.commit(),
            }
            entry = store.write(self.name, self.key, manifest, fill)
            store.drop_checkpoints(self.name, self.key, self._class)
            for name, key in parts:
                store.remove(name, key)
            ledger.progress(f"{self.name} {manifest['seconds']:.1f} s")
            return entry, "computed"

    @contextlib.contextmanager
    def _unchanging(self) -> Iterator[None]:
        """While the data is read that the key names: BadInput if it is other data, even if it was put back since."""
        files = [file for part in self._parts() if hasattr(part, "sources") for file in part.sources()]
        before = digests.states(files)
        self._check_data([])
        yield
        self._check_data([file for file, state in digests.states(files).items() if state != before[file]])

    def _check_data(self, changed: list[Path]) -> None:
        if changed or any(recipe.describe(value) != self._recipe["arguments"][name]
                          for name, value in self.arguments.items() if value is not None):
            Store(paths.store()).drop_checkpoints(self.name, self.key, self._class)
            raise BadInput(f"what {self.name} reads was changed under way, so nothing is kept of it",
                           file=changed[0] if changed else None, mend="call again when it does not change")


def fresh_since() -> float | None:
    """With `BOOK_FRESH` (a time in seconds since 1970), older entries and recorded runs are not used."""
    text = os.environ.get("BOOK_FRESH", "")
    try:
        return float(text) if text else None
    except ValueError:
        raise BadInput(f"BOOK_FRESH={text!r} is no time", mend="give seconds since 1970, as `date +%s` says") from None


def _has_its_recipe(entry: Entry) -> bool:
    """Whether the key in a manifest is that of the recipe in it."""
    try:
        return recipe.key_of(entry.manifest["recipe"]) == entry.manifest["key"]
    except (KeyError, TypeError, AttributeError):
        return False


def _too_old(entry: Entry) -> bool:
    since = fresh_since()
    return since is not None and (entry.folder / "manifest.json").stat().st_mtime < since


def _own_class(definition: Definition) -> str:
    return numerics.MEASURED if definition.timing else numerics.own_class() if definition.network else numerics.EXACT


def _class_here(description: dict[str, Any]) -> str:
    """The class that a recipe has where all of it is computed in this process: no value is looked up."""
    below = map(_class_here, recipe.input_steps(description))
    return numerics.class_of(_own_class(registry.STEPS[description["step"]]), below)


def _of_one_class(store: Store, of: str, parts: Sequence[tuple[str, str]]) -> list[Entry]:
    """The entries of a value's shards; those that do not fit together are removed."""
    entries = [entry for name, key in parts if (entry := store.find(name, key, "")) is not None]
    if len(entries) < len(parts):
        raise BadInput(f"{len(parts) - len(entries)} of {len(parts)} shards of {of} are gone", mend="call again")
    if len(classes := {entry.numerics for entry in entries}) > 1:
        for name, key in parts:
            store.remove(name, key)
        raise BadInput(f"workers computed the shards of {of} in different arithmetic: {', '.join(sorted(classes))}",
                       mend="let workers of one kind do it, or set BOOK_DEVICE=cpu and BOOK_DTYPE=fp32")
    return entries


def _loaded(entries: dict[str, Entry | None], part: Any) -> Any:
    """The value of an input step; data as it is."""
    entry = entries[part.key] if isinstance(part, Step) else None
    return part if entry is None else values.load(part.definition.form, entry.folder)


def _summary(part: Step, entry: Entry | None) -> dict[str, Any]:
    """What a manifest says of an input step: enough to add up the cost of a lineage without the input itself."""
    if entry is None:
        return {"step": part.name, "key": part.key}
    return json.loads(json.dumps({name: entry.manifest[name] for name in SUMMARY}))
