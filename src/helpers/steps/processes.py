"""Turns: of chapters that run side by side, whoever measures time computes alone.

A measurement begins when no other process is in the function of a step, and until it ends none begins one; what the cells of a
notebook do besides goes on. Both are locks of the operating system on files in the folder that `BOOK_TURNS` names, so that a
process which dies holds none; without that variable a process asks nobody.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

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
