"""The processes that this one has started: after Ctrl-C nobody else ends them."""

import contextlib

import psutil


def end() -> None:
    """End them all, and those that they have started."""
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
