"""How a chapter goes, in one line: its cells, and what its steps say on standard error, such as step, loss and time left."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

CELLS = {"bar_format": "{l_bar}{bar:10}| {n_fmt}/{total_fmt}", "ascii": False, "position": 0}  # papermill's bar
PAUSES = (60.0, 0.5)  # seconds between two texts that are shown: in a file, at a terminal


class LastLine:
    """A file whose last line, at a place among those of other files, is told with them."""

    def __init__(self, tell: Callable[[str], None], lines: list[str], place: int):
        self._tell, self._lines, self._place = tell, lines, place

    def write(self, text: str) -> None:
        """Tell it; a carriage return ends a line, too."""
        if found := re.findall(r"[^\r\n]*\S[^\r\n]*", text):
            self._lines[self._place] = found[-1].strip()
            self._tell(", ".join(filter(None, self._lines)))

    def flush(self) -> None:
        """Nothing waits."""


def joined(tell: Callable[[str], None]) -> tuple[LastLine, LastLine]:
    """A file for the bar of cells and one for the kernel's standard error, whose last lines are told as one."""
    lines = ["", ""]
    return LastLine(tell, lines, 0), LastLine(tell, lines, 1)


@contextmanager
def on_terminal() -> Iterator[Callable[[str], None]]:
    """What shows each text in the place of the one before; seldom where standard error is no terminal."""
    with tqdm(bar_format="{desc}", mininterval=PAUSES[sys.stderr.isatty()], miniters=0, dynamic_ncols=True) as bar:
        def show(text: str) -> None:
            bar.set_description_str(text, refresh=False)
            bar.update(0)
        yield show
