"""Chapters that run side by side: whoever measures time has the machine alone.

A process is *present* while it computes, and absent while it waits for another one's value. A measurement begins when nobody
else is present, and until it ends nobody comes in. Both are locks of the operating system on files in the folder that
`BOOK_TURNS` names, so that a process which dies is absent; without that variable a process asks nobody.
"""

import contextlib
import fcntl
import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

VARIABLE = "BOOK_TURNS"


class _Locks(NamedTuple):
    """Shared by those who are present; the gate is shut by whoever wants to be alone, so that nobody new comes in."""

    room: IO[str]
    gate: IO[str]


@functools.cache
def _locks(folder: str) -> _Locks:
    return _Locks(*(open(Path(folder) / name, "a") for name in _Locks._fields))  # noqa: SIM115 - open as long as the process


def come_in() -> None:
    """Be present from now on; first whoever waits for the machine has it."""
    if folder := os.environ.get(VARIABLE):
        room, gate = _locks(folder)
        fcntl.flock(room, fcntl.LOCK_UN)
        fcntl.flock(gate, fcntl.LOCK_SH)
        fcntl.flock(room, fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)


def go_out() -> None:
    """Be absent: before waiting for another process, which may want to be alone."""
    if folder := os.environ.get(VARIABLE):
        fcntl.flock(_locks(folder).room, fcntl.LOCK_UN)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Within, nobody else is present; afterwards this process is."""
    folder = os.environ.pop(VARIABLE, "")  # what is measured, and processes that it starts, ask nobody
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
        os.environ[VARIABLE] = folder
        fcntl.flock(room, fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)
