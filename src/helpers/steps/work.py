"""Compute the steps of a pack on a machine that has PyTorch and transformers, and nothing of the book.

    tar xf code.tar
    PYTHONPATH=src python -m helpers.steps.work part-*.tar --minutes 12 --out done

Steps are taken in the pack's order, each as soon as those below it are there, by some processes that share the GPU. What was
asked for is written into `done` as soon as it is finished, in tar files of at most 16 MiB, for `unpack`. What will not end in
time is not begun; what runs at the end is ended, within seconds.
"""

import argparse
import functools
import importlib
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

from helpers.errors import BadInput
from helpers.steps import numerics, rebuild, recipe
from helpers.steps.pack import PART, PLAN, members, write_parts
from helpers.steps.store import MANIFEST

GRACE = 8.0  # seconds kept for the last entries
LOOK = 1.0  # seconds between looks at the time
MARGIN = 1.2  # times the expected seconds that must be left when a step is begun
FASTER = 0.1  # of the pack's seconds: what a step is expected to take on a machine that has not finished any
MOST = 4  # processes side by side, where nobody says how many


def work(plan: dict[str, Any], home: Path, out: Path, until: float, jobs: int) -> bool:
    """Compute the steps of a plan until a time of `time.monotonic`; whether all were."""
    waiting, done, ratios = list(plan["steps"]), set[str](), list[float]()
    running: dict[Future[tuple[Path, float]], dict[str, Any]] = {}

    def expected(step: dict[str, Any]) -> float:
        """Seconds that a step should take here: the pack's, times how this machine did so far."""
        return step["seconds"] * (statistics.median(ratios) if ratios else FASTER)

    def can_begin(step: dict[str, Any]) -> bool:
        return done.issuperset(step["inputs"]) and time.monotonic() + MARGIN * expected(step) < until

    # a fork would share what PyTorch knows of the GPU
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), begin, (home,))
    try:
        while time.monotonic() < until:
            for step in list(filter(can_begin, waiting))[:jobs - len(running)]:
                waiting.remove(step)
                running[pool.submit(compute, home, step["key"])] = step
            if not running:
                break
            for future in wait(running, LOOK, FIRST_COMPLETED).done:
                step = running.pop(future)
                name = f"{step['step']} {step['key'][:10]}"
                if error := future.exception():
                    print(f"failed: {name}: {error}", flush=True)
                    continue
                folder, seconds = future.result()
                done.add(step["key"])
                ratios.append(seconds / max(step["seconds"], 0.1))
                if step["wanted"]:
                    send(folder, step["key"], out)
                print(f"{name}, {seconds:.0f} s; {len(done)} of {len(plan['steps'])} done, {until - time.monotonic():.0f} s left",
                      flush=True)
    except BrokenExecutor as error:  # a process that the system ended, most often for memory
        print(f"{error}; call again with --home {home}", flush=True)
    finally:
        for process in multiprocessing.active_children():
            process.kill()
        pool.shutdown(wait=False, cancel_futures=True)
    for step in waiting:
        print(f"not begun: {step['step']} {step['key'][:10]}, about {expected(step):.0f} s")
    print(f"{len(done)} of {len(plan['steps'])} steps done")
    return len(done) == len(plan["steps"])


def begin(home: Path) -> None:
    """In a process of its own: write to a log file, and end with the process that began it."""
    log = (home / f"worker-{os.getpid()}.log").open("w")
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    parent = multiprocessing.parent_process()
    threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()  # type: ignore[union-attr]


def compute(home: Path, key: str) -> tuple[Path, float]:
    """In a process of its own: the folder of a step's entry, and the seconds that it took; RuntimeError with what it raised."""
    try:
        entry = rebuild(recipe.unfolded(recipes(home)[key]), lazily=True).entry()
    except Exception as error:
        traceback.print_exc()
        raise RuntimeError(f"{type(error).__name__}: {error}") from None  # whose class the other process may not know
    return entry.folder, entry.manifest["seconds"]


@functools.cache
def recipes(home: Path) -> dict[str, Any]:
    """The recipes of a plan by key; what defines their steps is imported."""
    plan = json.loads((home / PLAN).read_text())
    for module in plan["modules"]:
        importlib.import_module(module)
    return {line["key"]: line["recipe"] for line in plan["steps"]}


def send(folder: Path, key: str, out: Path) -> None:
    """Write an entry of the store into parts of its own; the manifest comes last, by which it is whole."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != MANIFEST)
    write_parts(out, f"done-{key[:20]}", ((file.relative_to(folder.parents[2]).as_posix(), file.read_bytes())
                                          for file in (*files, folder / MANIFEST)), PART)


def load(files: Sequence[Path], home: Path) -> dict[str, Any]:
    """Lay a pack's files into a folder; the plan. BadInput for what is damaged or missing."""
    plan: dict[str, Any] = {}
    found: dict[str, str] = {}
    for name, content in members(files):
        if name == PLAN:
            plan = json.loads(content)
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(content)
        found[name] = recipe.sha256(content)
    if wrong := [name for name, digest in plan.get("files", {"a plan": ""}).items() if found.get(name) != digest]:
        raise BadInput(f"{wrong[0]} is missing or damaged, and {len(wrong) - 1} more",
                       mend="give all parts of one pack, fetched again")
    return plan


def main(arguments: list[str] | None = None) -> int:
    """Compute a pack; 0 if all is done, 1 if something failed or was not begun, 2 for a pack that cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m helpers.steps.work", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", type=Path, help="part-000.tar, part-001.tar, ...")
    parser.add_argument("--minutes", type=float, default=12.0, help="until the end, loading included")
    parser.add_argument("--out", type=Path, default=Path("done"), help="the folder of what is finished")
    parser.add_argument("--jobs", type=int, default=min(MOST, numerics.cores()), help="processes side by side")
    parser.add_argument("--home", type=Path, help="the folder to work in, which may hold an earlier run's values; else a new one")
    options = parser.parse_args(arguments)
    until = time.monotonic() + 60 * options.minutes - GRACE
    home = (options.home or Path(tempfile.mkdtemp(prefix="book-work-"))).resolve()
    home.mkdir(parents=True, exist_ok=True)
    try:
        plan = load(sorted(options.parts), home)
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    os.environ |= {"BOOK_STORE": str(home / "store"), "BOOK_ROOT": str(home), "TOKENIZERS_PARALLELISM": "false"}
    sys.path.insert(0, str(home / "site"))  # the processes have it, too
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    return 0 if work(plan, home, options.out, until, options.jobs) else 1


if __name__ == "__main__":
    sys.exit(main())
