"""Digests of files: the SHA-256 of what is in them, taken once in a process for each state of a file.

A state is what the file system says without reading: where the file is, its size, and when it was changed. A file that was
changed in the last second is read every time: a second change within a tick of the clock would leave its state as it is.
"""

import hashlib
import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SETTLED = 10**9  # nanoseconds
BLOCK = 2**20  # bytes read at once
KNOWN: dict[Any, str] = {}
State = tuple[int, int, int, int, int]  # device, inode, size, when it was modified, and when changed


def state_of(file: Path) -> State | None:
    """The state of a file, None if there is none: a change moves its last time even if size and the other time are put back."""
    try:
        found = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def sha256(file: Path, opened: Callable[[Path], Any] = io.FileIO) -> str:
    """The SHA-256 of a file's content, as `opened` gives it (unpacked, for instance)."""
    def read() -> str:
        digest = hashlib.sha256()  # not `file_digest`: elsewhere Python may be 3.10
        with opened(file) as stream:
            while block := stream.read(BLOCK):
                digest.update(block)
        return digest.hexdigest()

    return once(opened.__name__, [file], read)


def once(name: Any, files: list[Path], compute: Callable[[], str]) -> str:
    """A digest of a name that is computed from these files, once for each of their states; without files, every time."""
    found = tuple((file, state_of(file)) for file in dict.fromkeys(files))
    if not found or any(state is None or time.time_ns() - state[-1] < SETTLED for _, state in found):
        return compute()
    if (name, found) not in KNOWN:
        KNOWN[name, found] = compute()
    return KNOWN[name, found]
