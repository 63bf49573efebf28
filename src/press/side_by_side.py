"""All chapters of a book, as many at once as the machine has room for, with one thread each; see `helpers.steps.computation`."""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from unittest.mock import patch

import psutil
from tqdm import tqdm

from helpers.errors import BadInput
from helpers.steps import cluster, computation, numerics
from press import execute, forked_kernels, terminal
from press.variants import PageRequest

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
        with (tempfile.TemporaryDirectory(prefix="turns-") as folder, forked_kernels.available(),
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
