"""How a chapter goes, in one line: its cells, and what its steps say on standard error, such as step, loss and time left."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

CELLS = {"bar_format": "{l_bar}{bar:10}| {n_fmt}/{total_fmt}", "ascii": False, "position": 0}  # papermill's bar
PAUSES = (60.0, 0.5)  # seconds between two texts that are shown: in a file, at a terminal


class LastLine:
    """A file that passes on the last line of what is written to it."""

    def __init__(self, tell: Callable[[str], None]):
        self._tell = tell

    def write(self, text: str) -> None:
        """Pass it on; a carriage return ends a line, too."""
        if lines := re.findall(r"[^\r\n]*\S[^\r\n]*", text):
            self._tell(lines[-1].strip())

    def flush(self) -> None:
        """Nothing waits."""


def joined(tell: Callable[[str], None]) -> tuple[LastLine, LastLine]:
    """A file for the bar of cells and one for the kernel's standard error, whose last lines are told as one."""
    lines = ["", ""]

    def place(number: int) -> Callable[[str], None]:
        def told(text: str) -> None:
            lines[number] = text
            tell(", ".join(filter(None, lines)))
        return told

    return LastLine(place(0)), LastLine(place(1))


@contextmanager
def on_terminal() -> Iterator[Callable[[str], None]]:
    """What shows each text in the place of the one before; seldom where standard error is no terminal."""
    with tqdm(bar_format="{desc}", mininterval=PAUSES[sys.stderr.isatty()], miniters=0, dynamic_ncols=True) as bar:
        def show(text: str) -> None:
            bar.set_description_str(text, refresh=False)
            bar.update(0)
        yield show
