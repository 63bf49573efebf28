"""Processes beside each other: several that train one step together, and chapters side by side of which one measures time.

**Several GPUs inside one step.** The function of a step that is declared `parallel` is run by one process a GPU: it reads its
`share` of each batch, and takes the `average` of loss and gradients over the processes. The batch of a step stays the batch of a
step, so the recipe, its key and, but for rounding, its result are those of one process. The first process alone writes. The loss
must be a mean over the examples of a batch: one that compares them with each other would see fewer of them in each process.

**Turns.** Whoever measures time has the machine alone. A process is *present* while it computes, and absent while it waits for
another one's value. A measurement begins when nobody else is present, and until it ends nobody comes in. Both are locks of the
operating system on files in the folder that `BOOK_TURNS` names, so that a process which dies is absent; without that variable a
process asks nobody.
"""

import contextlib
import fcntl
import functools
import importlib
import os
import pickle
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from helpers.steps import numerics, registry
from helpers.steps.registry import Definition

MOST = "BOOK_PROCESSES"  # at most how many; on a CPU, where there would be one, just as many
TURNS = "BOOK_TURNS"


def visible() -> list[str]:
    """The GPUs that PyTorch may use, by their names in CUDA_VISIBLE_DEVICES."""
    import torch

    count = torch.cuda.device_count()
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    return given.split(",")[:count] if given else [str(number) for number in range(count)]


def count_of(definition: Definition, arguments: dict[str, Any]) -> int:
    """How many processes run a step: one, or the largest power of two that GPUs and batch size allow."""
    if not definition.parallel:
        return 1
    limit = os.environ.get(MOST, "")
    several = len(visible()) if numerics.device() == "cuda" else 1
    if limit:
        several = min(several, int(limit)) if numerics.device() == "cuda" else int(limit)
    count = 1
    while 2 * count <= several and arguments["batch_size"] % (2 * count) == 0:
        count *= 2
    return count


def call(definition: Definition, arguments: dict[str, Any]) -> Any:
    """The value of a step's function; a parallel one fills its folder and has none."""
    count = count_of(definition, arguments)
    if count == 1:
        return definition.function(**arguments)
    with tempfile.TemporaryDirectory() as scratch:
        task = Path(scratch) / "task.pickle"
        task.write_bytes(pickle.dumps((definition.function.__module__, definition.name, arguments)))
        done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={count}",
                               "-m", "helpers.steps.processes", str(task)],
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}, check=False)
        problems = sorted(Path(scratch).glob("problem-*"), key=lambda file: file.stat().st_mtime_ns)
        if done.returncode or problems or not any(arguments["folder"].iterdir()):
            problem = problems[0].read_text() if problems else f"torch.distributed.run ended with {done.returncode}"
            raise RuntimeError(f"{definition.name} failed in one of {count} processes:\n{problem}")
    return None


def is_first() -> bool:
    """Whether this is the process that writes: the first of several, or the only one."""
    return _place()[0] == 0


def share(batch: np.ndarray) -> np.ndarray:
    """What of a batch this process reads: all of it, if it is the only one."""
    place, count = _place()
    return batch[place::count]


def average(*tensors: Any) -> None:
    """Replace each process's tensors by their means over the processes."""
    import torch

    count = _place()[1]
    for tensor in tensors if count > 1 else ():
        torch.distributed.all_reduce(tensor.detach())
        tensor.detach().div_(count)


def _place() -> tuple[int, int]:
    """The number of this process, and of how many."""
    import torch

    known = torch.distributed.is_available() and torch.distributed.is_initialized()
    return (torch.distributed.get_rank(), torch.distributed.get_world_size()) if known else (0, 1)


def main(task: Path) -> None:
    """What each of the processes does: call the step's function; all but the first one write to a folder that is thrown away."""
    rank = int(os.environ["RANK"])
    if rank:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - one bar of progress is enough
    try:
        module, name, arguments = pickle.loads(task.read_bytes())  # noqa: S301 - written by `call`
        importlib.import_module(module)
        import torch

        on_gpus = numerics.device() == "cuda"
        if on_gpus:
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        torch.distributed.init_process_group("nccl" if on_gpus else "gloo")
        with tempfile.TemporaryDirectory() as scratch:
            folder = arguments["folder"] if rank == 0 else Path(scratch)
            registry.STEPS[name].function(**{**arguments, "folder": folder})
    except BaseException:
        (task.parent / f"problem-{rank}").write_text(traceback.format_exc())
        raise


class _Locks(NamedTuple):
    """Shared by those who are present; the gate is shut by whoever wants to be alone, so that nobody new comes in."""

    room: IO[str]
    gate: IO[str]


@functools.cache
def _locks(folder: str) -> _Locks:
    return _Locks(*(open(Path(folder) / name, "a") for name in _Locks._fields))  # noqa: SIM115 - open as long as the process


def come_in() -> None:
    """Be present from now on; first whoever waits for the machine has it."""
    if folder := os.environ.get(TURNS):
        room, gate = _locks(folder)
        fcntl.flock(room, fcntl.LOCK_UN)
        fcntl.flock(gate, fcntl.LOCK_SH)
        fcntl.flock(room, fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)


def go_out() -> None:
    """Be absent: before waiting for another process, which may want to be alone."""
    if folder := os.environ.get(TURNS):
        fcntl.flock(_locks(folder).room, fcntl.LOCK_UN)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Within, nobody else is present; afterwards this process is."""
    folder = os.environ.pop(TURNS, "")  # what is measured, and processes that it starts, ask nobody
    if not folder:
        yield
        return
    room, gate = _locks(folder)
    fcntl.flock(room, fcntl.LOCK_UN)
    fcntl.flock(gate, fcntl.LOCK_EX)
    try:
        fcntl.flock(room, fcntl.LOCK_EX)
        yield
    finally:
        os.environ[TURNS] = folder
        fcntl.flock(room, fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
