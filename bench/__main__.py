"""`make bench`: measure some sections, each in a process of its own on one core, or two, and keep what they measure.

A section that fails leaves the file as it was, and the others are measured all the same.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from types import ModuleType

from helpers.errors import BadInput, NetworkNeeded, printable

ON_TWO = " on two cores"  # ends the names of sections that are measured on two
SHARED = {"rerank", "encode", "search", "sizes", "lengths"}  # whose work rests on the same steps
SECTIONS = ("rerank", f"rerank{ON_TWO}", "encode", f"encode{ON_TWO}",
            "lengths", "search", "sizes", "train", "growth", "stream", "serve", "verdicts")
NO_MACHINE = {"verdicts"}  # a simulation: the same everywhere, and kept in a file of its own
ALL_CORES = {"stream"}  # memory is what counts there
SECTION = "--section"  # asks a process for one section alone
ROUNDS = 6  # the fewest of which the slowest and the fastest enclose the median in 95 % of cases


def module(name: str) -> ModuleType:
    """The module of a section: `measure(scale, rounds)`, and `prepare(scale)` if it rests on steps of its own."""
    return importlib.import_module(f"bench.{name.removesuffix(ON_TWO)}")


def run(only: Sequence[str], rounds: int, out: str, small: bool) -> int:
    """Measure sections, all by default; 1 if any of them failed. BadInput for less than one round, or another machine's file."""
    from bench import machine, work
    from helpers.costs import timing
    from helpers.steps import numerics

    if rounds < 1:
        raise BadInput(f"{rounds} rounds", mend=f"give at least one, better {ROUNDS}")
    file, failed = machine.file_of(out), False
    for name in only or SECTIONS:
        print(f"{name}: getting ready ...", flush=True)
        if hasattr(section := work if name.removesuffix(ON_TWO) in SHARED else module(name), "prepare"):
            section.prepare(work.scale(small))
        print(f"{name}: measuring (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores) ...", flush=True)
        cores = 0 if numerics.device() != "cpu" or name in ALL_CORES else 2 if name.endswith(ON_TWO) else 1
        arguments = [name, rounds, small, cores]
        done = subprocess.run([sys.executable, "-m", "bench", SECTION, json.dumps(arguments)], stdout=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode != 0:
            failed = True
            print(f"{name}: FAILED, nothing kept", flush=True)
            continue
        target = timing.no_machines(name) if name in NO_MACHINE and not out else file
        machine.add(target, name, json.loads(done.stdout.splitlines()[-1]))
        print(f"{name} -> {target}", flush=True)
    return int(failed)


def measured(name: str, rounds: int, small: bool, cores: int) -> None:
    """Measure one section in this process, on so many cores, 0 for all, and print the section as the last line."""
    from bench import machine

    load = os.getloadavg()[0]
    if cores:
        machine.keep_to(cores)  # before PyTorch is loaded
    import torch

    from bench import work

    if cores:
        torch.set_num_threads(cores)

    section = module(name).measure(work.scale(small), rounds)
    print(json.dumps({"rounds": rounds, "small": small, "threads": torch.get_num_threads(),
                      "load": [load, os.getloadavg()[0]], **section}))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 2 for what its user can mend, which is printed."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="time this book's code against others'")
    parser.add_argument("--only", action="append", default=[], choices=SECTIONS, metavar="NAME",
                        help=f"{', '.join(SECTIONS)}; may be given again (all by default)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of each contender, after one that does not count")
    parser.add_argument("--out", default="", help="the file (bench/<machine>.json)")
    parser.add_argument("--small", action="store_true", help="a trial of seconds: whether everything runs")
    parser.add_argument(SECTION, type=json.loads, help=argparse.SUPPRESS)
    options = vars(parser.parse_args(arguments))
    try:
        if (one := options.pop("section")) is not None:
            measured(*one)
            return 0
        return run(**options)
    except (BadInput, NetworkNeeded) as error:
        print(f"\n{printable(str(error))}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
