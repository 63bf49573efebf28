"""What a command shows at the terminal and how it ends: columns, the progress of a chapter, the trace of a fault, Ctrl-C."""

import _thread
import contextlib
import re
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import psutil
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


@contextlib.contextmanager
def on_terminal() -> Iterator[Callable[[str], None]]:
    """What shows each text in the place of the one before; seldom where standard error is no terminal."""
    with tqdm(bar_format="{desc}", mininterval=PAUSES[sys.stderr.isatty()], miniters=0, dynamic_ncols=True) as bar:
        def show(text: str) -> None:
            bar.set_description_str(text, refresh=False)
            bar.update(0)
        yield show


def columns(rows: Sequence[Sequence[Any]], right: Sequence[int] = ()) -> str:
    """Rows as text in columns, those named set to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[place]) for row in cells) for place in range(len(cells[0]))]
    lines = [[cell.rjust(width) if place in right else cell.ljust(width)
              for place, (cell, width) in enumerate(zip(row, widths, strict=True))] for row in cells]
    return "\n".join("  ".join(line).rstrip() for line in lines)


def shortened(text: str, longest: int = 200) -> str:
    """A text, cut after so many characters."""
    return text if len(text) <= longest else f"{text[:longest]} …"


def trace_kept(error: BaseException) -> str:
    """Keep an error's trace in a file, and say where; or why it could not be kept."""
    try:
        with tempfile.NamedTemporaryFile("w", prefix="book-", suffix=".txt", encoding="utf-8", errors="backslashreplace",
                                         delete=False) as file:
            file.writelines(traceback.format_exception(error))
        return f"its trace is in {file.name}, for a report"
    except OSError as full:
        return f"its trace could not be kept ({full})"


def end_children() -> None:
    """End them all, and those that they have started."""
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()


@contextlib.contextmanager
def ctrl_c() -> Iterator[None]:
    """Within, Ctrl-C ends as KeyboardInterrupt, whatever is made of it on its way: pandas' parser raises an error of its own, and
    Python drops what is raised in a finaliser or after a fork."""
    pressed: list[int] = []

    def note(number: int, frame: Any) -> NoReturn:
        pressed.append(number)
        raise KeyboardInterrupt

    def again(dropped: Any) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            threading.Timer(0.05, _thread.interrupt_main).start()
        else:
            sys.__unraisablehook__(dropped)

    usual = signal.getsignal(signal.SIGINT)  # in the background it is ignored, and only the main thread has signals
    heard = usual is signal.default_int_handler and threading.current_thread() is threading.main_thread()
    if heard:
        signal.signal(signal.SIGINT, note)
        sys.unraisablehook = again
    try:
        yield
    except Exception as error:
        if pressed:
            raise KeyboardInterrupt from error
        raise
    finally:
        if heard:
            signal.signal(signal.SIGINT, usual)
            sys.unraisablehook = sys.__unraisablehook__
