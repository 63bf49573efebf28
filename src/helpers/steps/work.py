"""Compute the steps of a pack on a machine that has PyTorch and transformers, and nothing of the book.

    tar xf code.tar
    PYTHONPATH=src python -m helpers.steps.work part-*.tar --minutes 12 --out done

Steps are taken in the pack's order, each as soon as those below it are there. Several processes share the GPU: one more is added
as long as that raises what they get done together. Every finished value that was asked for is written at once into `done`, in tar
files of at most 16 MiB, for `unpack`. What will not end in time is not begun; what runs at the end is ended, within seconds.
"""

import argparse
import hashlib
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from helpers.errors import BadInput
from helpers.steps import rebuild, recipe
from helpers.steps.pack import PART, PLAN, Parts, members
from helpers.steps.store import MANIFEST

GRACE = 8.0  # seconds kept for the last entries
LOOK, WINDOW = 0.2, 20.0  # seconds between looks, and over which a gain is measured
PAYS = 1.1  # how much more one process more has to get done
MARGIN = 1.2  # times the expected seconds that must be left when a step is begun


@dataclass
class Worker:
    """A process that computes one step after the other, keeping PyTorch and the GPU warm."""

    process: subprocess.Popen
    log: Path
    ready: bool = False  # whether it has loaded its libraries
    step: dict[str, Any] | None = None
    begun: float = 0.0
    said: list[str] = field(default_factory=list)  # lines that it wrote and nobody read yet

    def share(self) -> float:
        """How much of its step is done, as its progress line has it."""
        found = re.findall(rb"(\d+) of (\d+)", self.log.read_bytes()[-400:]) if self.step else []
        return int(found[-1][0]) / max(1, int(found[-1][1])) if found else 0.0


class Crew:
    """The processes, what waits for them, and what they got done."""

    def __init__(self, steps: list[dict[str, Any]], home: Path, out: Path, until: float, jobs: int):
        self.waiting, self.home, self.until, self.jobs = list(steps), home, until, jobs
        self.workers: list[Worker] = []
        self.done, self.failed = dict[str, float](), dict[str, str]()
        self.parts, self.ratio, self.work_done = Parts(out, "done", PART, always=True), dict[str, list[float]](), 0.0
        for step in [step for step in self.waiting if self._sent(step).exists()]:
            self.waiting.remove(step)
            self.done[step["key"]] = 0.0

    def _sent(self, step: dict[str, Any]) -> Path:
        """The mark of a value that an earlier run in this home has written out."""
        return self.home / "sent" / step["key"]

    def expected(self, step: dict[str, Any]) -> float:
        """Seconds that a step should take here: the pack's, times how this machine did with steps of that name so far."""
        known = self.ratio.get(step["step"]) or [one for all_of in self.ratio.values() for one in all_of]
        return step["seconds"] * (sorted(known)[len(known) // 2] if known else 0.1)

    def next(self) -> dict[str, Any] | None:
        """The first step in the pack's order whose inputs are there and that will end in time."""
        return next((step for step in self.waiting if all(key in self.done for key in step["inputs"])
                     and time.monotonic() + MARGIN * self.expected(step) < self.until), None)

    def hire(self) -> None:
        """Start one process more."""
        log = self.home / f"worker-{len(list(self.home.glob('worker-*')))}.log"
        process = subprocess.Popen([sys.executable, "-m", "helpers.steps.work", "--serve", str(self.home)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=log.open("wb"), text=True, start_new_session=True)
        worker = Worker(process, log)
        threading.Thread(target=lambda: worker.said.extend(iter(process.stdout.readline, "")), daemon=True).start()  # type: ignore
        self.workers.append(worker)

    def look(self) -> None:
        """Take what is finished, and give out what can begin."""
        for worker in self.workers:
            if not worker.ready:
                if worker.process.poll() is not None:
                    raise BadInput("a process could not load the steps: " + worker.log.read_text().strip().splitlines()[-1],
                                   file=worker.log, mend="install what it names")
                if not worker.said:
                    continue
                worker.ready = bool(worker.said.pop(0))
            if worker.step is not None and (worker.said or worker.process.poll() is not None):
                self._finished(worker, worker.said.pop(0) if worker.said else "failed the process ended")
            if worker.step is None and worker.process.poll() is None and (step := self.next()) is not None:
                self.waiting.remove(step)
                worker.step, worker.begun = step, time.monotonic()
                worker.process.stdin.write(step["key"] + "\n")  # type: ignore[union-attr]
                worker.process.stdin.flush()  # type: ignore[union-attr]
        self.workers = [worker for worker in self.workers if worker.process.poll() is None]

    def _finished(self, worker: Worker, line: str) -> None:
        step, worker.step = worker.step, None
        assert step is not None
        how, _, rest = line.strip().partition(" ")
        seconds = time.monotonic() - worker.begun
        if how != "done":
            self.failed[step["key"]] = rest
            print(f"failed: {step['step']} {step['key'][:10]}: {rest}", flush=True)
            return
        self.done[step["key"]] = seconds
        self.work_done += step["seconds"]
        self.ratio.setdefault(step["step"], []).append(seconds / max(step["seconds"], 0.1))
        if step["wanted"]:
            folder = Path(rest)
            files = sorted(one for one in folder.rglob("*") if one.is_file() and one.name != MANIFEST)
            for file in (*files, folder / MANIFEST):  # by which an entry is whole
                with file.open("rb") as stream:
                    self.parts.add(file.relative_to(folder.parents[2]).as_posix(), stream, file.stat().st_size)
            self._sent(step).parent.mkdir(exist_ok=True)
            self._sent(step).touch()

    def progress(self) -> float:
        """What was got done so far, in the pack's expected seconds."""
        return self.work_done + sum(one.step["seconds"] * one.share() for one in self.workers if one.step)

    def run(self) -> None:
        """Work until all is done, or the time is over."""
        most = self.jobs or max(1, (os.cpu_count() or 2) - 1)
        hired, since, before, rate, grows = self.jobs or 1, time.monotonic(), 0.0, 0.0, not self.jobs
        for _ in range(hired):
            self.hire()
        told = 0.0
        while time.monotonic() < self.until:
            self.look()
            busy = sum(one.step is not None for one in self.workers)
            if not busy and self.next() is None:
                break
            if not self.workers:
                self.hire()
            now = time.monotonic()
            if not self.progress():
                since = now  # the first process still loads its libraries
            if grows and now - since >= WINDOW:
                own = (self.progress() - before) / (now - since)
                grows = own > PAYS * rate and hired < most
                if grows:
                    self.hire()
                    hired += 1
                print(f"{hired} processes: {own:.1f} expected seconds a second", flush=True)
                rate, since, before = max(rate, own), now, self.progress()
            if now - told >= 10:
                told = now
                print(f"{len(self.done)} done, {len(self.failed)} failed, {busy} running, {len(self.waiting)} waiting, "
                      f"{self.until - now:.0f} s left", flush=True)
            time.sleep(LOOK)
        for worker in self.workers:
            worker.process.kill()


def load(files: Sequence[Path], home: Path) -> dict[str, Any]:
    """Lay a pack's files into a folder; the plan. BadInput for what is damaged or missing."""
    plan: dict[str, Any] = {}
    found: dict[str, str] = {}
    for name, content in members(files):
        if name == PLAN:
            plan = json.loads(content)
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(content)
        found[name] = hashlib.sha256(content).hexdigest()
    if wrong := [name for name, digest in plan.get("files", {"a plan": ""}).items() if found.get(name) != digest]:
        raise BadInput(f"{wrong[0]} is missing or damaged, and {len(wrong) - 1} more",
                       mend="give all parts of one pack, fetched again")
    return plan


def serve(home: Path) -> None:
    """Compute the steps whose keys come in, one a line, and say for each what became of it."""
    out: IO[str] = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not an answer
    plan = json.loads((home / "plan.json").read_text())
    for module in plan["modules"]:
        importlib.import_module(module)
    steps = {line["key"]: line for line in plan["steps"]}
    print("ready", file=out, flush=True)
    for key in map(str.strip, sys.stdin):
        try:
            step = rebuild(recipe.unfolded(steps[key]["recipe"]), lazily=True)
            answer = f"done {step.entry().folder}"
        except Exception as error:  # noqa: BLE001 - whatever a step raises is told, and the next one has its turn
            traceback.print_exc()
            answer = f"failed {type(error).__name__}: {error}".replace("\n", " ")
        print(answer, file=out, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Compute a pack; 0 if all is done, 1 if something failed or was not begun, 2 for a pack that cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m helpers.steps.work", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", type=Path, help="part-000.tar, part-001.tar, ...")
    parser.add_argument("--minutes", type=float, default=12.0, help="until the end, loading included")
    parser.add_argument("--out", type=Path, default=Path("done"), help="the folder of what is finished")
    parser.add_argument("--jobs", type=int, default=0, help="processes side by side; by default as many as pay")
    parser.add_argument("--home", type=Path, help="the folder to work in, which may hold an earlier run's values; else a new one")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        serve(options.serve)
        return 0
    until = time.monotonic() + 60 * options.minutes - GRACE
    home = (options.home or Path(tempfile.mkdtemp(prefix="book-work-"))).resolve()
    home.mkdir(parents=True, exist_ok=True)
    try:
        plan = load(sorted(options.parts), home)
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    source = Path(__file__).resolve().parents[2]
    os.environ |= {"BOOK_STORE": str(home / "store"), "BOOK_ROOT": str(home), "TOKENIZERS_PARALLELISM": "false",
                   "PYTHONPATH": os.pathsep.join([str(source), str(home / "site"), os.environ.get("PYTHONPATH", "")])}
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    crew = Crew(plan["steps"], home, options.out, until, options.jobs)
    try:
        crew.run()
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    for step in crew.waiting:
        print(f"not begun: {step['step']} {step['key'][:10]}, about {crew.expected(step):.0f} s")
    print(f"{len(crew.done)} of {len(plan['steps'])} steps done, {len(crew.failed)} failed")
    return 0 if len(crew.done) == len(plan["steps"]) else 1


if __name__ == "__main__":
    sys.exit(main())
