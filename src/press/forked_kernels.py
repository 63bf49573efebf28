"""Kernels that begin with the libraries in memory: each is a copy of one process that has imported them.

Importing PyTorch, transformers, SciPy and Matplotlib takes a kernel as long as all else that a chapter of recorded runs does.
Python's fork server imports them once; a chapter's kernel is forked from it, with an environment and a process group of its own.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from multiprocessing.context import ForkServerProcess
from typing import Any
from unittest.mock import patch

from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

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
