"""The processes that this one has started: after Ctrl-C nobody else ends them."""

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any, NoReturn

import psutil


def end() -> None:
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
