"""Steps: their declaration, their recipe and key, where a value is, how it is made, and how a step is made again.

Turns: of chapters that run side by side, whoever measures time computes alone.

A measurement begins when no other process is in the function of a step, and until it ends none begins one; what the cells of a
notebook do besides goes on. Both are locks of the operating system on files in the folder that `BOOK_TURNS` names, so that a
process which dies holds none; without that variable a process asks nobody.
"""

import contextlib
import fcntl
import functools
import importlib
import inspect
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_type_hints

from helpers import paths
from helpers.errors import BadInput
from helpers.steps import cluster, digests, ledger, numerics, recipe, registry
from helpers.steps.recorded import Recorded
from helpers.steps.store import Entry, Store

TURNS = "BOOK_TURNS"


@contextlib.contextmanager
def turn(alone: bool) -> Iterator[None]:
    """Compute within: with others, or `alone`. Who waits to be alone keeps the gate shut, so that nobody new comes in."""
    folder = os.environ.pop(TURNS, "")  # a step within a step, and the processes that it starts, ask nobody
    if not folder:
        yield
        return
    lock = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    try:
        with open(Path(folder) / "room", "a") as room, open(Path(folder) / "gate", "a") as gate:
            fcntl.flock(gate, lock)
            fcntl.flock(room, lock)
            if not alone:
                fcntl.flock(gate, fcntl.LOCK_UN)
            yield
    finally:
        os.environ[TURNS] = folder


# of an input's manifest: enough to add up the cost of a lineage without the input itself
SUMMARY = ("step", "key", "seconds", "finished", "numerics", "inputs")


class Step:
    """One computation with its arguments; `key` names it, `value()` gives its result."""

    _recorded_too = True  # whether a recorded value is used

    def __init__(self, definition: registry.Definition, arguments: dict[str, Any]):
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

    def recipe(self) -> dict[str, Any]:
        """The plain description from which `rebuild` makes the step again."""
        return self._recipe

    def __repr__(self) -> str:
        return f"{self.name}:{self.key[:10]}"

    def value(self) -> Any:
        """The result: from the store, from the recorded runs, or computed now."""
        return registry.FORMS[self.definition.form].load(self.entry().folder)

    def entry(self) -> Entry:
        """Like `value`, but the store's entry (folder and manifest) instead of the value."""
        entry, source = self.lookup()
        if entry is None:
            entry, source = cluster.compute(self, work) or self._compute()
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
        own, since = _class_here(self._recipe), fresh_since()
        stored = Store(paths.store()).find(self.name, self.key, own)
        if stored is not None and since is not None and (stored.folder / "manifest.json").stat().st_mtime < since:
            stored = None
        if stored is not None and stored.numerics == own:
            return stored, "stored"
        read = self._recorded_too and (since is None or not self.makeable)
        recorded = Recorded(paths.RESULTS).find(self.name, self.key, own) if read else None
        if recorded is not None and _has_its_recipe(recorded) and (stored is None or recorded.numerics == own):
            return recorded, "recorded"
        return (stored, "stored") if stored is not None else (None, "missing")

    def _compute(self, parts: Sequence[tuple[str, str]] = ()) -> tuple[Entry, str]:
        store = Store(paths.store())
        with store.lock(self.name, self.key):
            entry, source = self.lookup()  # another process may have finished it while this one waited
            if entry is not None:
                return entry, source
            shards = _of_one_class(store, self.name, parts)
            entries = {part.key: part.entry() for part in self.inputs()}
            inputs = [entries[part.key] for part in self.inputs()]
            loaded = lambda part: (registry.FORMS[part.definition.form].load(entries[part.key].folder)
                                   if isinstance(part, Step) else part)
            resolved = {} if shards else {name: recipe.replaced(value, loaded) for name, value in self.arguments.items()}
            started, clock = ledger.now(), time.perf_counter()
            ledger.progress(self.definition.in_words)

            def fill(folder: Path) -> None:
                extra: dict[str, Any] = {"folder": folder} if self.definition.form == "folder" else {}
                if self.definition.resumable:
                    extra["checkpoints"] = store.checkpoints(self.name, self.key, _class_here(self._recipe))
                if shards and self.definition.shards is not None:
                    joined = [registry.FORMS[shard.manifest["form"]].load(shard.folder) for shard in shards]
                    value = self.definition.shards.join(joined, **extra)
                else:
                    with self._unchanging(), turn(self.definition.timing):
                        value = self.definition.function(**resolved, **extra)
                registry.FORMS[self.definition.form].save(value, folder)
                spent = sum(shard.manifest["seconds"] for shard in shards)
                manifest["seconds"] = round(time.perf_counter() - clock + spent, 3)
                manifest["finished"] = ledger.now()

            of = shards[0].numerics if shards else numerics.class_of(
                _own_class(self.definition), [entry.numerics for entry in inputs])
            manifest: dict[str, Any] = {
                "step": self.name, "version": self.definition.version, "form": self.definition.form,
                "numerics": of, "recipe": self._recipe, "started": started,
                "inputs": ledger.told_once([{name: entry.manifest[name] for name in SUMMARY} for entry in inputs], set()),
                "machine": ledger.machine(), "versions": ledger.versions(), "commit": ledger.commit(),
            }
            entry = store.write(self.name, self.key, manifest, fill)
            store.drop_checkpoints(self.name, self.key, _class_here(self._recipe))
            for name, key in parts:
                store.remove(name, key)
            ledger.progress(f"{self.definition.in_words}, {manifest['seconds']:.1f} s")
            return entry, "computed"

    @contextlib.contextmanager
    def _unchanging(self) -> Iterator[None]:
        """While the data is read that the key names: BadInput if it is other data, even if it was put back since."""
        files = [file for part in self._parts() if hasattr(part, "sources") for file in part.sources()]
        before = {file: digests.state_of(file) for file in files}
        self._check_data([])
        yield
        self._check_data([file for file, state in before.items() if state != digests.state_of(file)])

    def _check_data(self, changed: list[Path]) -> None:
        if changed or any(recipe.describe(value) != self._recipe["arguments"][name]
                          for name, value in self.arguments.items() if value is not None):
            Store(paths.store()).drop_checkpoints(self.name, self.key, _class_here(self._recipe))
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
    """Whether the key in a manifest is that of the recipe in it, and what a page tells of a run is there, too."""
    try:
        told = isinstance(entry.manifest["inputs"], list) and isinstance(entry.manifest["seconds"], int | float)
        return told and recipe.key_of(entry.manifest["recipe"]) == entry.manifest["key"]
    except (KeyError, TypeError, AttributeError):
        return False


def _own_class(definition: registry.Definition) -> str:
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


def step(version: int, form: str, network: bool = False, timing: bool = False,
         resumable: bool = False, shards: registry.Shards | None = None) -> Callable[[Callable[..., Any]], Callable[..., Step]]:
    """Make a function a step; BadInput for a form that nobody has registered.

    A function of form `folder` takes one more keyword argument, `folder`: the empty folder that it fills. A resumable one takes
    `checkpoints` too: a folder that stays until the value is finished.

    Args:
        version: raise it when the meaning of the result changes; `tests/steps.json` keeps the decision honest.
        form: how the value is kept, see `registry`.
        network: whether the function itself computes with a neural network: its rounding is then that of this machine, and on a
            cluster it is given to a worker with a GPU. What is only made of such values says nothing; their numerics class
            follows from their inputs (`helpers.steps.numerics`).
        timing: whether it is a measurement of time or memory, which belongs to the machine that it was made on; it is made when
            no other step computes, see `turn`, and `Step.here` leaves the recorded one aside.
        resumable: whether the function keeps checkpoints, and goes on from those that an interrupted run left.
        shards: how a cluster computes it in parts; without a cluster it is computed as a whole.
    """
    registry.FORMS[form]  # noqa: B018 - unknown ones are refused here, not when the value is kept

    def wrap(function: Callable[..., Any]) -> Callable[..., Step]:
        definition = registry.Definition(function.__name__, version, form, network, function, get_type_hints(function), timing,
                                         resumable, shards)
        registry.STEPS[definition.name] = definition
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


def _typed(definition: registry.Definition, name: str, value: Any) -> Any:
    """A float parameter given as an int is the same recipe; any other mismatch of a plain type is a mistake."""
    hint = definition.hints.get(name)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint in (int, float, str, bool) and type(value) is not hint:
        raise TypeError(f"{definition.name}({name}={value!r}): a parameter of type {hint.__name__}, not {type(value).__name__}")
    return value


def rebuild(description: Any, lazily: bool = False) -> Any:
    """The argument that a recipe, or a part of one, describes: steps and data parts are made again, the rest is plain. `lazily`,
    the inputs of a step are made again only when they are asked for: looking it up reads no data. KeyError if a step of that name
    and version no longer exists."""
    made: dict[int, Any] = {}  # what several inputs share is one object in a recipe that was unfolded, and made once

    def again(part: dict[str, Any]) -> Any:
        if id(part) not in made:
            made[id(part)] = _Described(part) if lazily and "data" not in part else _made(part, again)
        return made[id(part)]

    return recipe.replaced(description, again)


def _made(part: dict[str, Any], again: Callable[[dict[str, Any]], Any]) -> Any:
    if "data" in part:
        data = registry.KINDS[part["data"][0]](part)
        if data.recipe()["digest"] != part["digest"]:
            raise BadInput(f"{'/'.join(part['data'])} has changed since", mend="compute the step again")
        return data
    return Step(registry.defined(part), {name: recipe.replaced(item, again) for name, item in part["arguments"].items()})


class _Described(Step):
    def __init__(self, description: dict[str, Any]):
        self.definition, self._recipe = registry.defined(description), description
        self.name, self.key = self.definition.name, recipe.key_of(description)

    @functools.cached_property
    def arguments(self) -> dict[str, Any]:  # type: ignore[override]
        return {name: rebuild(item, lazily=True) for name, item in self._recipe["arguments"].items()}


def work(task: dict[str, Any], below: Sequence[None] = ()) -> None:
    """Compute a step on a worker of a cluster, into the store that it shares with whoever asks.

    Args:
        task: its `recipe`, the `modules` that define it and its inputs, the `settings` (environment variables), and `shards`,
            name and key of those that it is to be joined from.
        below: what the tasks gave for which Dask waits, nothing: their values are in the store.
    """
    numerics.settle({**task["settings"], cluster.VARIABLE: None})  # what is missing is computed here
    for module in task["modules"]:
        importlib.import_module(module)
    try:
        step = rebuild(task["recipe"], lazily=True)
    except KeyError as error:
        raise BadInput(f"a worker has another version of the book: {error.args[0]}", mend="start the workers again") from None
    lock = Store(paths.store()).lock_file(step.name, step.key)
    cluster.wait(lambda: lock.exists() or None, f"a worker does not see {lock}, which was there before it was asked")
    step.joined(task["shards"]) if task["shards"] else step.entry()
