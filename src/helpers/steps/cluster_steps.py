"""Steps on a cluster: what is missing below a step goes to the workers, independent branches side by side.

A task is a recipe. The worker makes the step again and computes it into the shared store; no value travels. A task whose
worker dies is given to another one: what was finished is in the store, so only the step that was running is lost. A step
that declares `shards` is computed in parts, which are steps themselves.

Steps that measure time stay in the process that asks for them, and so do those defined in a notebook.
"""

import os
import time
from collections.abc import Iterator
from graphlib import TopologicalSorter
from typing import Any

from helpers import paths
from helpers.errors import BadInput
from helpers.steps import cluster, ledger, recipe, registry, values
from helpers.steps.cluster_work import wait, work
from helpers.steps.computation import Step
from helpers.steps.store import Entry, Store

SETTINGS = ("BOOK_FRESH", "BOOK_DEVICE", "BOOK_DTYPE")  # of the asking process, which hold for the workers
PAUSE, LOOK = 0.05, 1.0  # seconds between looks at the tasks, and at the workers


def _stays(step: Step) -> bool:
    return step.definition.timing or step.definition.function.__module__ == "__main__"


def compute(step: Step) -> tuple[Entry, str] | None:
    """Compute a step, and what is missing below it, on the cluster; None where there is no cluster, or the step is not for it.

    Raises:
        BadInput: if workers died of a step again and again, the store is not shared, or the cluster is gone.
        Exception: whatever a step raised.
    """
    if not os.environ.get(cluster.VARIABLE) or _stays(step):
        return None
    needed = list(_needed(step, set()))
    if missing := [part for part, entry, _ in needed if entry is None]:
        _Run(cluster.client(os.environ[cluster.VARIABLE])).compute(missing)
    for part, entry, source in needed[:-1]:
        ledger.note((entry or _seen(part)).manifest, source)
    return _seen(step), "computed"


def _needed(step: Step, visited: set[str]) -> Iterator[tuple[Step, Entry | None, str]]:
    """The inputs that are used, and the steps that are to be computed: in the order in which one process takes them."""
    if step.key in visited:
        return
    visited.add(step.key)
    entry, source = step.lookup()
    if entry is None and _stays(step):
        entry, source = step.entry(), "computed"
    if entry is None:
        for part in step.inputs():
            yield from _needed(part, visited)
        source = "computed"
    yield step, entry, source


class _Run:
    """The steps of one request: those that are ready, and those on the cluster.

    No more of them are on the cluster than it can compute at once: a worker that dies takes none down with it that only waited.
    """

    def __init__(self, client: Any):
        self._client = client
        self._ready: list[Step] = []
        self._running: list[tuple[Step, bool, Any]] = []  # with whether it has a GPU, and its future
        self._shards: dict[str, list[Step]] = {}  # by the key of the whole
        self._lacking: dict[str, tuple[Step, set[str]]] = {}  # by the key of a shard: the whole, and the shards that it waits for
        self._gpus = 0  # the most that were there: a step waits while a worker with a GPU is started anew
        self._done = self._total = 0

    def compute(self, missing: list[Step]) -> None:
        """Compute steps; an input that is not among them is there already."""
        steps = {step.key: step for step in missing}
        order = TopologicalSorter({step.key: {part.key for part in step.inputs()} & steps.keys() for step in missing})
        order.prepare()
        self._total = len(missing)
        self._tell(f"cluster: {self._total} to compute, workers: {len(self._workers()) or 'none yet, waiting for the first'}")
        looked = -LOOK
        try:
            while order.is_active():
                for key in order.get_ready():
                    self._ready += self._begin(steps[key])
                finished = [task for task in self._running if task[2].done()]
                for task in finished:
                    self._running.remove(task)
                    _check(task[0], task[2])
                    if self._finish(task[0]):
                        order.done(task[0].key)
                if finished or time.monotonic() > looked + LOOK:
                    self._submit_ready()
                    looked = time.monotonic()
                time.sleep(0 if finished else PAUSE)
        finally:
            self._client.cancel([future for _, _, future in self._running])

    def _begin(self, step: Step) -> list[Step]:
        """What is ready once a step's inputs are there: the step, or the shards that it is joined from."""
        if step.definition.shards is None:
            return [step]
        inputs = {name: values.load(part.definition.form, _seen(part).folder)
                  for name, part in step.arguments.items() if hasattr(part, "definition")}
        shards = step.definition.shards.split(step, inputs)
        self._shards[step.key] = shards if len(shards) > 1 else []
        missing = [shard for shard in self._shards[step.key] if shard.lookup()[0] is None]
        self._lacking |= dict.fromkeys((shard.key for shard in missing), (step, {shard.key for shard in missing}))
        self._total += len(missing)
        return missing or [step]

    def _finish(self, step: Step) -> bool:
        """Tell of a step that is finished; False for a shard, the last of which makes its whole ready."""
        self._done += 1
        self._tell(f"{step.name} {_seen(step).manifest['seconds']:.1f} s ({self._done} of {self._total})")
        if step.key not in self._lacking:
            return True
        whole, lacking = self._lacking[step.key]
        lacking.remove(step.key)
        if not lacking:
            self._ready.append(whole)
        return False

    def _submit_ready(self) -> None:
        """Submit what the workers can begin with; network steps only to those with a GPU, if there are such."""
        workers = self._workers()
        free = sum(worker["nthreads"] for worker in workers) - len(self._running)
        gpus = sum(int(worker["resources"].get("GPU", 0)) for worker in workers)
        self._gpus = 0 if os.environ.get("BOOK_DEVICE") == "cpu" else max(self._gpus, gpus)
        free_gpus = gpus - sum(on_gpu for _, on_gpu, _ in self._running)
        for step in list(self._ready):
            on_gpu = bool(self._gpus) and step.definition.network and not self._shards.get(step.key)
            if free > 0 and (free_gpus > 0 or not on_gpu):
                free, free_gpus = free - 1, free_gpus - on_gpu
                self._ready.remove(step)
                self._running.append((step, on_gpu, self._submit(step, on_gpu)))

    def _submit(self, step: Step, on_gpu: bool) -> Any:
        Store(paths.store()).lock_file(step.name, step.key).touch()  # by which a worker knows the store
        settings = {name: os.environ.get(name) for name in SETTINGS} | {"BOOK_STORE": str(paths.store().resolve())}
        task = {"recipe": step.recipe(), "modules": sorted(registry.modules(step.recipe())), "settings": settings,
                "shards": [(shard.name, shard.key) for shard in self._shards.get(step.key, [])]}
        # two notebooks that want the same step share its task; the name before a hyphen would stand for an expected duration
        name = f"{step.name}_{recipe.sha256(recipe.canonical([step.key, settings]))}"
        return self._client.submit(work, task, key=name, resources={"GPU": 1} if on_gpu else None)

    def _workers(self) -> list[dict[str, Any]]:
        try:
            return list(self._client.scheduler_info()["workers"].values())
        except OSError:
            raise BadInput("the cluster went away", mend=AGAIN) from None

    def _tell(self, text: str) -> None:
        ledger.progress(text)
        self._client.log_event(cluster.TOPIC, {"from": self._client.id, "text": text})


AGAIN = "start it and call again; finished steps are kept"


def _check(step: Step, future: Any) -> None:
    """Raise what a task that is over has raised."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError

    try:
        future.result()
    except KilledWorker as lost:
        raise BadInput(f"{lost.allowed_failures + 1} workers died while they computed {step.name}",
                       mend="their log may say why; most often memory. Finished steps are kept") from None
    except FutureCancelledError:
        raise BadInput(f"the cluster went away while it computed {step.name}", mend=AGAIN) from None
    finally:
        future.release()  # the value is in the store


def _seen(step: Step) -> Entry:
    """The entry that a worker has finished."""
    return wait(lambda: step.lookup()[0], f"a worker has computed {step.name}, but it is not in {paths.store()}")
