"""Run inside a Slurm: steps in two jobs, one of which is cancelled, against the same steps in this process.

    campaigns/slurm/one_machine.sh .venv/bin/python campaigns/slurm/check.py
"""

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import cluster_toys as toys
from helpers.steps import cluster


def main(folder: Path) -> None:
    os.environ["PYTHONPATH"] = os.pathsep.join([sys.path[0], os.environ.get("PYTHONPATH", "")])  # for the jobs
    here = str(folder)
    numbers = toys.toy_numbers(here, 4)
    os.environ["BOOK_STORE"] = str(folder / "far")
    with cluster.started("slurm"):
        met = toys.toy_both(here, [toys.toy_meeting(here, "a", "b"), toys.toy_meeting(here, "b", "a")])
        assert met.value() == ["a", "b"]  # in two jobs at the same time
        toys.toy_whole(here).value()
        caller = threading.Thread(target=lambda: toys.toy_slow(here, numbers).value(), daemon=True)
        caller.start()
        toys.wait_until(lambda: called(folder, "slow") == 1)
        worker = next(int(line.split()[1]) for line in lines(folder) if line.startswith("slow "))
        variables = Path(f"/proc/{worker}/environ").read_text().split("\0")
        job = next(part.removeprefix("SLURM_JOB_ID=") for part in variables if part.startswith("SLURM_JOB_ID="))
        subprocess.run(["scancel", job], check=True)
        toys.wait_until(lambda: called(folder, "slow") == 2)
        (folder / "go").touch()
        caller.join(60)
        assert toys.toy_slow(here, numbers).lookup()[1] == "stored"
        assert called(folder, "numbers") == 2  # of 5 and of 4: nothing but the cancelled step was computed twice
        toys.wait_until(lambda: jobs() == 2)  # another one was submitted in place of the cancelled
    toys.wait_until(lambda: jobs() == 0)
    os.environ["BOOK_STORE"] = str(folder / "near")
    met.value(), toys.toy_whole(here).value(), toys.toy_slow(here, numbers).value()
    assert content(folder / "far") == content(folder / "near")
    print("the same in two jobs and in one process")


def jobs() -> int:
    command = ["squeue", "--noheader", "--states", "PENDING,RUNNING"]
    return len(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())


def lines(folder: Path) -> list[str]:
    file = folder / "calls"
    return file.read_text().splitlines() if file.exists() else []


def called(folder: Path, name: str) -> int:
    return sum(line.startswith(f"{name} ") for line in lines(folder))


def content(store: Path) -> dict[str, bytes]:
    return {str(file.relative_to(store)): file.read_bytes() for file in sorted(store.rglob("*"))
            if file.is_file() and file.name != "manifest.json"}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch))
