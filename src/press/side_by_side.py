"""All chapters of a book, as many at once as the machine has room for, with one thread each; see `helpers.steps.computation`.

Kernels that begin with the libraries in memory: each is a copy of one process that has imported them.

Importing PyTorch, transformers, SciPy and Matplotlib takes a kernel as long as all else that a chapter of recorded runs does.
Python's fork server imports them once; a chapter's kernel is forked from it, with an environment and a process group of its own.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from importlib.metadata import EntryPoint
from multiprocessing.context import ForkServerProcess
from typing import Any
from unittest.mock import patch

import psutil
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner
from tqdm import tqdm

from helpers.errors import BadInput
from helpers.steps import cluster, computation, numerics
from press import execute, terminal
from press.variants import PageRequest

NAME = "forked"
BACKEND = "module://matplotlib_inline.backend_inline"  # a kernel's, which Matplotlib asks for when it is imported
PRELOADED = ["tqdm.auto", "ipykernel.kernelapp", "transformers.models.bert.modeling_bert", "scipy.stats", "seaborn", "tokenizers",
             "press.cli", __name__]  # the last two since a fork imports again what its parent is


@contextmanager
def available() -> Iterator[None]:
    """Within, every kernel of this process is a forked one; the libraries are imported once, when the first begins."""
    factory = KernelProvisionerFactory.instance()
    before, factory.default_provisioner_name = factory.default_provisioner_name, NAME
    factory.provisioners[NAME] = EntryPoint(NAME, f"{__name__}:ForkedKernel", factory.GROUP_NAME)
    multiprocessing.set_forkserver_preload(PRELOADED)
    try:
        with patch.dict(os.environ, MPLBACKEND=BACKEND):
            yield
    finally:
        factory.default_provisioner_name = before


class ForkedKernel(LocalProvisioner):
    """Launches a kernel by forking; all else as for a kernel that is a process of its own."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Fork a kernel that takes the command's own arguments, from the connection file on."""
        arguments = (cmd[cmd.index("-f"):], kwargs.get("cwd") or os.getcwd(), dict(kwargs["env"]))
        process = Forked(target=_serve, args=arguments)
        process.start()
        self.process, self.pid, self.pgid = process, process.pid, process.pid  # type: ignore[assignment]
        return self.connection_info


class Forked(ForkServerProcess):
    """A forked process with those methods of `subprocess.Popen` that a provisioner calls and multiprocessing's lacks."""

    stdin = stdout = stderr = None

    def poll(self) -> int | None:
        """The exit code; None while it runs."""
        return self.exitcode

    def wait(self) -> int | None:
        """The exit code, once it has ended."""
        self.join()
        return self.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid or 0, number)


def _serve(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    from ipykernel.kernelapp import IPKernelApp

    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the fork server has turned it off
    # by the fork server's own method, which its children take over, a kernel that is killed would leave its locks, as tqdm's,
    # for the resource tracker to find, which warns of them
    multiprocessing.set_start_method("fork", force=True)
    parent: Any = multiprocessing.parent_process()  # that asked for this kernel: the fork server, the system's parent, lives on
    threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    IPKernelApp.launch_instance([*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"])  # else it talks to a terminal


MEMORY_OF_A_CHAPTER = 5e9  # bytes: a kernel with a model, and the Java heap beside it
THREADS = ("OMP_NUM_THREADS", numerics.CORES)


def kernels(chapters: int) -> int:
    """How many chapters run at once: one a core that has memory for it; one alone where a GPU or a cluster computes."""
    if cluster.VARIABLE in os.environ or chapters < 2 or numerics.device() == "cuda":
        return 1
    return max(1, min(chapters, numerics.cores(), int(psutil.virtual_memory().available / MEMORY_OF_A_CHAPTER)))


def run_all(names: Sequence[str], profile: str) -> Iterator[tuple[str, float | None]]:
    """Execute those chapters that are out of date: the name of each when its page is there, and the seconds that it ran; None if
    it was up to date. BadInput is that of the first one that could not be executed: no other one is begun then, and those that
    run are finished."""
    pages = {name: execute.request(name, profile, {}) for name in names}
    stale = {name: page for name, page in pages.items() if not execute.is_current(page)}
    yield from ((name, None) for name in names if name not in stale)
    at_once = kernels(len(stale))
    if at_once > 1:
        with (tempfile.TemporaryDirectory(prefix="turns-") as folder, available(),
              patch.dict(os.environ, {computation.TURNS: folder, **dict.fromkeys(THREADS, "1")})):
            yield from _together(stale, at_once)
    else:
        yield from ((name, _seconds(page)) for name, page in stale.items())


def _seconds(page: PageRequest, tell: Callable[[str], None] | None = None) -> float:
    clock = time.perf_counter()
    execute.run(page, tell)
    return time.perf_counter() - clock


def _together(pages: dict[str, PageRequest], at_once: int) -> Iterator[tuple[str, float]]:
    waiting, running, stopped = list(pages), dict[Future[float], str](), list[BadInput]()
    lines: dict[str, str] = {}  # of those that run: how each goes

    def tell(name: str, line: str) -> None:
        lines[name] = line
        bar.set_postfix_str("; ".join(lines[one] for one in list(running.values()) if one in lines), refresh=False)
        bar.update(0)  # seen every few seconds

    with ThreadPoolExecutor(at_once) as pool, tqdm(total=len(pages), file=sys.stderr, mininterval=5, miniters=0,
                                                   bar_format="{n_fmt} of {total_fmt} chapters, {elapsed}{postfix}") as bar:
        try:
            while running or waiting:
                while waiting and len(running) < at_once:
                    name = waiting.pop(0)
                    running[pool.submit(_seconds, pages[name], partial(tell, name))] = name
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    name = running.pop(future)
                    bar.update()
                    try:
                        yield name, future.result()
                    except BadInput as error:
                        waiting.clear()
                        stopped.append(error)
                        bar.write(f"\n{name}: {error}", file=sys.stderr)
        except BaseException:
            terminal.end_children()
            raise
    if stopped:
        raise stopped[0]
