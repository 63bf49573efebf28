"""Clusters: Dask workers that compute the steps in place of this process (https://distributed.dask.org).

| `--cluster` | what |
|---|---|
| `local` | workers on this machine: one a core, or `--workers`; they share its cores, and each GPU has a worker of its own |
| `slurm` | Slurm jobs, a worker each: two, or `--workers`; all else is set in dask-jobqueue's configuration, `jobqueue.slurm` |
| `tcp://host:8786` | a scheduler that runs already, with workers started by `dask worker tcp://host:8786 --nthreads 1` |

Notebooks find the cluster by its address in `BOOK_CLUSTER`. Workers and notebooks share the step store: `BOOK_STORE` on a
file system that all see. A worker with a GPU says so by Dask's resource `GPU=1`.
"""

import contextlib
import functools
import os
import re
import shutil
import sys
from collections.abc import Iterator
from typing import Any

from helpers.errors import BadInput
from helpers.steps import multi_gpu, numerics

VARIABLE = "BOOK_CLUSTER"
TOPIC = "book"  # under which notebooks tell the scheduler what is done
PATIENCE = 10  # seconds in which a scheduler answers, or is none
JOBS, MEMORY = 2, "8 GB"  # of Slurm, where nobody says how many, and how large


@contextlib.contextmanager
def started(spec: str, workers: int = 0) -> Iterator[None]:
    """Within, steps are computed on a cluster, and what is done there is told on standard error.

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
        connection.subscribe_topic(TOPIC, functools.partial(_show, connection.id))
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


def _show(own: str, event: tuple[float, dict[str, str]]) -> None:
    if event[1]["from"] != own:  # this process has told of its own steps already
        print(f"  {event[1]['text']}", file=sys.stderr, flush=True)


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

    from helpers.steps.worker_share import Share

    settings = {"distributed.deploy.lost-worker-timeout": "1h",  # a worker that died is started again, however long it takes
                "distributed.nanny.pre-spawn-environ": {}}  # which would change the environment of this process
    # no limit of memory: in this process, too, a step takes what it needs
    with dask.config.set(settings), LocalCluster(n_workers=workers, threads_per_worker=1, memory_limit=0,
                                                 dashboard_address="127.0.0.1:0") as cluster:
        client(cluster.scheduler_address).register_plugin(Share(workers, multi_gpu.visible()))
        yield cluster.scheduler_address


@contextlib.contextmanager
def _slurm(workers: int) -> Iterator[str]:
    if shutil.which("sbatch") is None:
        raise BadInput("there is no Slurm here: `sbatch` is not found",
                       mend="call it where jobs are submitted, or use --cluster local")
    import dask
    from dask_jobqueue import SLURMCluster

    from helpers.steps.worker_share import Threads

    own = dask.config.get("jobqueue.slurm")
    cores = own["cores"] or 1
    arguments = [*own["worker-extra-args"], "--nthreads", "1"]  # one step at a time, which uses all cores of the job
    if any("gpu" in directive for directive in own["job-extra-directives"]):
        arguments += ["--resources", "GPU=1"]
    with SLURMCluster(cores=cores, processes=1, memory=own["memory"] or MEMORY, worker_extra_args=arguments) as cluster:
        client(cluster.scheduler_address).register_plugin(Threads(cores))
        cluster.adapt(minimum_jobs=workers, maximum_jobs=workers)  # a job that ends is submitted again
        yield cluster.scheduler_address
