"""Clusters: Dask workers that compute the steps in place of this process (https://distributed.dask.org).

| `--cluster` | what |
|---|---|
| `local` | workers on this machine: one a core, or `--workers`; they share its cores, and each GPU has a worker of its own |
| `slurm` | Slurm jobs, a worker each: two, or `--workers`; all else is set in dask-jobqueue's configuration, `jobqueue.slurm` |
| `tcp://host:8786` | a scheduler that runs already, with workers started by `dask worker tcp://host:8786 --nthreads 1` |

Notebooks find the cluster by its address in `BOOK_CLUSTER`. Workers and notebooks share the step store: `BOOK_STORE` on a
file system that all see. A worker with a GPU says so by Dask's resource `GPU=1`.

What is missing below a step goes to the workers, independent branches side by side. A task is a recipe: the worker makes the step
again and computes it into the shared store; no value travels. A task whose worker dies is given to another one: what was finished
is in the store, so only the step that was running is lost. A step that declares `shards` is computed in parts, which are steps
themselves. Steps that measure time stay in the process that asks for them, and so do those defined in a notebook.
"""

import contextlib
import functools
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from helpers import paths
from helpers.errors import BadInput
from helpers.steps import ledger, numerics, recipe, registry
from helpers.steps.store import Entry, Store

Seen = TypeVar("Seen")

VARIABLE = "BOOK_CLUSTER"
PATIENCE = 10  # seconds in which a scheduler answers, or is none
SETTINGS = ("BOOK_FRESH", "BOOK_DEVICE", "BOOK_DTYPE")  # of the asking process, which hold for the workers
LATE = 60  # seconds after which a file that another machine wrote is seen here
AGAIN = "start it and call again; finished steps are kept"
JOBS, MEMORY = 2, "8 GB"  # of Slurm, where nobody says how many, and how large


@contextlib.contextmanager
def started(spec: str, workers: int = 0) -> Iterator[None]:
    """Within, steps are computed on a cluster.

    Args:
        spec: `local`, `slurm` or an address; "" for none.
        workers: how many; 0 for as many as the table above says. An address has those that it has.

    Raises:
        BadInput: for another text, if no scheduler answers, or without Slurm.
    """
    if not spec:
        yield
        return
    with _opened(spec, workers) as address:
        connection = client(address)
        os.environ[VARIABLE] = address
        try:
            yield
        finally:
            del os.environ[VARIABLE]
            client.cache_clear()
            connection.close()


@functools.cache
def client(address: str) -> Any:
    """The connection of this process to a scheduler; BadInput if none answers."""
    from distributed import Client

    try:
        return Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BadInput(f"no Dask scheduler answers at {address} ({type(error).__name__})",
                       mend="start one with `dask scheduler`, or use --cluster local") from None


def _opened(spec: str, workers: int) -> contextlib.AbstractContextManager[str]:
    if spec == "local":
        return _local(workers or numerics.cores())
    if spec == "slurm":
        return _slurm(workers or JOBS)
    if not re.fullmatch(r"[a-z]+://\S+", spec):
        raise BadInput(f"no cluster {spec!r}", mend="use local, slurm, or the address of a scheduler: tcp://host:8786")
    return contextlib.nullcontext(spec)


@contextlib.contextmanager
def _local(workers: int) -> Iterator[str]:
    import dask
    from distributed import LocalCluster

    settings = {"distributed.deploy.lost-worker-timeout": "1h",  # a worker that died is started again, however long it takes
                "distributed.nanny.pre-spawn-environ": {}}  # which would change the environment of this process
    # no limit of memory: in this process, too, a step takes what it needs
    with dask.config.set(settings), LocalCluster(n_workers=workers, threads_per_worker=1, memory_limit=0,
                                                 dashboard_address="127.0.0.1:0") as own:
        client(own.scheduler_address).register_worker_callbacks(
            functools.partial(_share, count=workers, gpus=visible_gpus()))
        yield own.scheduler_address


@contextlib.contextmanager
def _slurm(workers: int) -> Iterator[str]:
    if shutil.which("sbatch") is None:
        raise BadInput("there is no Slurm here: `sbatch` is not found",
                       mend="call it where jobs are submitted, or use --cluster local")
    import dask
    from dask_jobqueue import SLURMCluster

    own = dask.config.get("jobqueue.slurm")
    cores = own["cores"] or 1
    arguments = [*own["worker-extra-args"], "--nthreads", "1"]  # one step at a time, which uses all cores of the job
    if any("gpu" in directive for directive in own["job-extra-directives"]):
        arguments += ["--resources", "GPU=1"]
    with SLURMCluster(cores=cores, processes=1, memory=own["memory"] or MEMORY, worker_extra_args=arguments) as cluster:
        client(cluster.scheduler_address).register_worker_callbacks(functools.partial(_tell_libraries, cores))
        cluster.adapt(minimum_jobs=workers, maximum_jobs=workers)  # a job that ends is submitted again
        yield cluster.scheduler_address


def visible_gpus() -> list[str]:
    """The GPUs that PyTorch may use, by their names in CUDA_VISIBLE_DEVICES."""
    import torch

    count = torch.cuda.device_count()
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    return given.split(",")[:count] if given else [str(number) for number in range(count)]


def _tell_libraries(threads: int) -> None:
    """How many threads the numeric libraries use, which a worker has not loaded yet; Dask would have it 1."""
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads)))


async def _share(count: int, gpus: list[str], dask_worker: Any) -> None:
    """Keep one of `count` workers, named 0, 1, ..., and the threads that it will start, to its share of this machine's cores; the
    first ones have a GPU each, by its name in CUDA_VISIBLE_DEVICES. Dask calls it before a worker's first step."""
    number, threads = int(dask_worker.name), 1
    if hasattr(os, "sched_setaffinity"):  # elsewhere than on Linux the workers share all cores
        cores = sorted(os.sched_getaffinity(0))
        share = cores[number % len(cores)::count]
        os.sched_setaffinity(0, share)
        threads = len(share)
    _tell_libraries(threads)
    if gpus:
        own = gpus[number:number + 1]
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(own)
        await dask_worker.set_resources(**{"GPU": 1.0} if own else {})


def _stays(step: Any) -> bool:
    return step.definition.timing or step.definition.function.__module__ == "__main__"


def compute(step: Any, work: Callable[..., None]) -> tuple[Entry, str] | None:
    """Compute a step, and what is missing below it, on the cluster; None where there is no cluster, or the step is not for it.

    Args:
        step: a `computation.Step`, as it is below.
        work: what a worker does with a task: the same for every step.

    Raises:
        BadInput: if workers died of a step again and again, the store is not shared, or the cluster is gone.
        Exception: whatever a step raised.
    """
    if not os.environ.get(VARIABLE) or _stays(step):
        return None
    needed = list(_needed(step, set()))
    if missing := [part for part, entry, _ in needed if entry is None]:
        _compute_all(client(os.environ[VARIABLE]), missing, work)
    for part, entry, source in needed[:-1]:
        ledger.note((entry or _seen(part)).manifest, source)
    return _seen(step), "computed"


def _needed(step: Any, visited: set[str]) -> Iterator[tuple[Any, Entry | None, str]]:
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


def _compute_all(connection: Any, missing: list[Any], work: Callable[..., None]) -> None:
    """Have the workers compute steps, inputs first: Dask begins each as soon as those below it are there.

    The shards of a step are known once its inputs are there: until then the steps after it wait to be submitted.
    """
    from distributed import as_completed

    on_gpus, futures = _has_gpus(connection), dict[str, Any]()  # by the key of a step

    def submit(step: Any, below: list[Any], shards: Sequence[Any] = ()) -> Any:
        Store(paths.store()).lock_file(step.name, step.key).touch()  # by which a worker knows the store
        settings = {name: os.environ.get(name) for name in SETTINGS} | {"BOOK_STORE": str(paths.store().resolve())}
        task = {"recipe": step.recipe(), "modules": sorted(registry.modules(step.recipe())), "settings": settings,
                "shards": [(shard.name, shard.key) for shard in shards]}
        # two notebooks that want the same step share its task; the name before a hyphen would stand for an expected duration
        name = f"{step.name}_{recipe.sha256(recipe.canonical([step.key, settings]))}"
        on_gpu = on_gpus and step.definition.network and not shards
        return connection.submit(work, task, below, key=name, resources={"GPU": 1} if on_gpu else None)

    try:
        for step in missing:
            below, shards = [futures[part.key] for part in step.inputs() if part.key in futures], []
            if step.definition.shards is not None:
                for future in below:
                    _check(future)
                inputs = {name: registry.FORMS[part.definition.form].load(_seen(part).folder)
                          for name, part in step.arguments.items() if hasattr(part, "definition")}
                shards = step.definition.shards.split(step, inputs)
                shards = shards if len(shards) > 1 else []  # one alone is the step itself
                futures |= {shard.key: submit(shard, []) for shard in shards if shard.lookup()[0] is None}
                below = [futures[shard.key] for shard in shards if shard.key in futures]
            futures[step.key] = submit(step, below, shards)
        for done, future in enumerate(as_completed(futures.values(), loop=connection.loop), start=1):
            _check(future)
            ledger.progress(f"{_name_of(future.key)} ({done} of {len(futures)})")
    finally:
        connection.cancel(list(futures.values()))


def _has_gpus(connection: Any) -> bool:
    """Whether network steps are for workers with a GPU alone: some have one, to be used. Waits for the first worker."""
    try:
        connection.wait_for_workers(1)
        workers = connection.scheduler_info()["workers"].values()
    except OSError:
        raise BadInput("the cluster went away", mend=AGAIN) from None
    return os.environ.get("BOOK_DEVICE") != "cpu" and any(worker["resources"].get("GPU") for worker in workers)


def _check(future: Any) -> None:
    """Raise what a task has raised, once it is over."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError

    try:
        future.result()
    except KilledWorker as lost:
        raise BadInput(f"{lost.allowed_failures + 1} workers died while they computed {_name_of(str(lost.task))}",
                       mend="their log may say why; most often memory. Finished steps are kept") from None
    except FutureCancelledError:
        raise BadInput(f"the cluster went away while it computed {_name_of(future.key)}", mend=AGAIN) from None


def _name_of(task: str) -> str:
    """The step of a task."""
    return task.rpartition("_")[0]


def _seen(step: Any) -> Entry:
    """The entry that a worker has finished."""
    return wait(lambda: step.lookup()[0], f"a worker has computed {step.name}, but it is not in {paths.store()}")


def wait(look: Callable[[], Seen | None], otherwise: str) -> Seen:
    """What is found as soon as it is, for file systems by which machines see each other's files late; BadInput with `otherwise`,
    if it is not found in time."""
    until = time.monotonic() + LATE
    while (value := look()) is None:
        if time.monotonic() > until:
            raise BadInput(otherwise, mend="set BOOK_STORE to a folder that all workers and this machine share")
        time.sleep(0.2)
    return value
