"""What a worker of a cluster has of its machine: told to it before its first step, also when it was started anew."""

import os
from typing import Any

from distributed import WorkerPlugin

LIBRARIES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")  # Dask sets them to 1


class Threads(WorkerPlugin):
    """A number of threads for the numeric libraries, which a worker has not loaded yet."""

    def __init__(self, count: int):
        self._threads = count

    def setup(self, worker: Any) -> None:
        """Tell the libraries."""
        os.environ.update(dict.fromkeys(LIBRARIES, str(self._threads)))


class Share(WorkerPlugin):
    """The cores of this machine dealt out to its workers, and its GPUs, one a worker as far as they go.

    Args:
        workers: how many share the machine; they are named 0, 1, ...
        gpus: the visible ones, by their names in CUDA_VISIBLE_DEVICES.
    """

    def __init__(self, workers: int, gpus: list[str]):
        self._workers, self._gpus = workers, gpus

    async def setup(self, worker: Any) -> None:
        """Keep the worker, and the threads that it will start, to its share."""
        number, threads = int(worker.name), 1
        if hasattr(os, "sched_setaffinity"):  # elsewhere than on Linux the workers share all cores
            cores = sorted(os.sched_getaffinity(0))
            share = cores[number % len(cores)::self._workers]
            os.sched_setaffinity(0, share)
            threads = len(share)
        os.environ.update(dict.fromkeys(LIBRARIES, str(threads)))
        if self._gpus:
            own = self._gpus[number:number + 1]
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(own)
            await worker.set_resources(**{"GPU": 1.0} if own else {})
