"""The campaign of a machine elsewhere: its values are those computed here, kills at random moments lose nothing that was written,
and deadlines are kept.

    python campaigns/elsewhere.py --kills 20 --deadlines 10 --seed 1

Pages: those of a re-ranker's three seeds, a bi-encoder and pre-trainings, in the mini profile, are made here, and once more in an
empty store from what an environment with `bare_environment.THERE` alone has computed: both must have the same values bit for bit.

Kills: a pack of forty steps with values of 1.5 MiB is worked, its process is killed (SIGKILL), and what is written by then is
unpacked into a store of its own: every value that the worker had marked as written must be there, and right. The next run goes on
in the same folder; the last one, which nobody kills, ends the pack. Deadlines: a step of five minutes runs when the time is over.
"""

import argparse
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from bare_environment import bare_python
from helpers import paths
from helpers.errors import BadInput
from helpers.steps import numerics, pack
from helpers.steps.store import Store
from packed_steps import packed_sleep, packed_slow
from press import commands, execute

PAGES: dict[str, dict[str, str]] = {"seeds": {"seeds": "[1, 2, 3]"}, "encoders": {}, "condenser": {}}
ROUNDS = 6  # of pack, work and unpack, in which a page gets all that it needs
STEPS, ALLOWED = 40, 15.0  # seconds after the deadline


def started(packed: Path, out: Path, home: Path, minutes: float, python: str | Path = sys.executable) -> subprocess.Popen:
    """A worker on a pack, in a session of its own, so that it is killed with its processes."""
    with tarfile.open(packed / "code.tar") as code:
        code.extractall(packed, filter="data")
    env = {name: value for name, value in os.environ.items() if not name.startswith("BOOK_")}
    env |= {"PYTHONPATH": os.pathsep.join([str(packed / "src"), sys.path[0]]), "BOOK_DEVICE": "cpu", "BOOK_DTYPE": "fp32"}
    command = [python, "-m", "helpers.steps.work", *map(str, pack.parts_of(packed, "part")), "--jobs", "1"]
    return subprocess.Popen([*command, "--minutes", str(minutes), "--out", str(out), "--home", str(home)], env=env, cwd=packed,
                            stdout=subprocess.DEVNULL, stderr=(packed / "stderr").open("a"), start_new_session=True)


def unpacked(out: Path, store: Path) -> tuple[int, int, int]:
    """Of the steps: values that entered, those of them that are wrong, those that the worker had written and that did not."""
    here = Path(os.environ["BOOK_STORE"])
    shutil.rmtree(store, ignore_errors=True)
    shutil.copytree(here / pack.ASKED, store / pack.ASKED)
    os.environ["BOOK_STORE"] = str(store)
    try:
        if list(out.glob("done-*")):
            list(pack.unpack(out))
        steps = {number: packed_slow(number) for number in range(STEPS)}
        there = {number for number, step in steps.items() if step.lookup()[0] is not None}
        wrong = [number for number in there if steps[number].value() != list(range(number, number + 200_000))]
        lost = [number for number, step in steps.items() if number not in there and list(out.glob(f"done-{step.key[:20]}-*"))]
        return len(there), len(wrong), len(lost)
    finally:
        os.environ["BOOK_STORE"] = str(here)


def kills(count: int, rng: random.Random, place: Path) -> int:
    """Kill so often; the number of values that were lost or wrong."""
    pack.pack([packed_slow(number) for number in range(STEPS)], place / "pack")
    failures, at = 0, []
    for number in range(count + 1):
        sent = len(list((place / "done").glob("done-*")))
        worker = started(place / "pack", place / "done", place / "home", 10)
        if number < count:
            while worker.poll() is None and len(list((place / "done").glob("done-*"))) < min(sent + 1, STEPS - 1):
                time.sleep(0.05)  # until it has loaded its libraries
            time.sleep(rng.uniform(0, 3))
            with contextlib.suppress(ProcessLookupError):
                os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
        there, wrong, lost = unpacked(place / "done", place / "other")
        failures += wrong + lost + (number == count) * (STEPS - there)
        at.append(there)
    print(f"{count} kills, with so many of {STEPS} values unpacked after each, and at the end: {at}; lost or wrong: {failures}")
    return failures


def pages(place: Path) -> int:
    """Make the pages here and from what comes back from the bare environment; how many values and pages differ."""
    python, made, came = bare_python(place / "bare"), dict[tuple[str, str], list[dict[str, Any]]](), 0
    for side in ("here", "there"):
        os.environ["BOOK_STORE"], paths.CHAPTERS = str(place / side), place / f"pages-{side}"
        for chapter, given in PAGES.items():
            for number in range(ROUNDS if side == "there" else 0):
                own = place / f"{chapter}{number}"
                try:
                    print(chapter, *commands.pack(chapter, own / "pack", "mini", given, 16), flush=True)
                except BadInput as nothing_left:
                    print(chapter, nothing_left)
                    break
                assert started(own / "pack", own / "done", own / "home", 30, python).wait() == 0, own / "home"
                came += len(list(commands.unpack(own / "done")))
            page, _ = execute.run(execute.request(chapter, "mini", given))
            made[side, chapter] = [{name: value for name, value in data.items() if name not in ("ledger", "run")}
                                   for data in execute.data_of(page)]
    here, there = ({(one["step"], one["key"]): one for one in Store(place / side).manifests()
                    if one["numerics"] != numerics.MEASURED} for side in ("here", "there"))
    lacking = [key for key, one in here.items() if one["form"] != "folder" and key not in there]
    differing = [key for key in here.keys() & there.keys() if here[key]["files"] != there[key]["files"]
                 and "index" not in key[0]]  # Lucene gives each segment a random name; what is found in it is compared
    other = [chapter for chapter in PAGES if made["here", chapter] != made["there", chapter]]
    print(f"{came} values came back; of {len(here.keys() & there.keys())} in both stores {len(differing)} differ, "
          f"{len(lacking)} are lacking; pages that differ: {other or 'none'}; {differing + lacking}")
    return len(differing) + len(lacking) + len(other)


def deadlines(count: int, rng: random.Random, place: Path) -> int:
    """Work until so many deadlines; the number of those that were missed."""
    pack.UNKNOWN_SECONDS = 5.0  # what the pack expects, so that each step is begun
    late = []
    for number in range(count):
        own = place / f"deadline{number}"
        pack.pack([packed_sleep(300 + number)], own / "pack")
        minutes = rng.uniform(0.3, 0.6)
        begun = time.monotonic()
        worker = started(own / "pack", own / "done", own / "home", minutes)
        worker.wait()
        late.append(time.monotonic() - begun - 60 * minutes)
    print(f"{count} deadlines, ended so many seconds after them: {', '.join(f'{one:.1f}' for one in late)}")
    return sum(one > ALLOWED for one in late)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--deadlines", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pages", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "BOOK_DEVICE": "cpu", "BOOK_DTYPE": "fp32"}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BOOK_STORE"] = f"{folder}/store"
        paths.RESULTS = Path(folder) / "results"
        rng = random.Random(options.seed)
        failures = kills(options.kills, rng, Path(folder)) + deadlines(options.deadlines, rng, Path(folder))
        sys.exit(1 if failures + (pages(Path(folder)) if options.pages else 0) else 0)
