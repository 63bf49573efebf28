"""Where values come from: the ledger of those that this process used, machine, versions, commit and date of a computation.

A page's provenance table, `make explain` and the tests read the ledger.
"""

import contextlib
import functools
import os
import platform
import subprocess
import sys
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tqdm import tqdm

from helpers import paths
from helpers.errors import printable
from helpers.steps import numerics

WARNED: set[str] = set()
USED: dict[str, dict[str, Any]] = {}  # by key, in order of first use


def note(manifest: dict[str, Any], source: str) -> None:
    """Remember the use of a value; `source` is `computed` (now), `stored` (an earlier run here) or `recorded`."""
    key = manifest["key"]
    USED.setdefault(key, {"key": key, "source": source, **{name: manifest.get(name) for name in (
        "step", "version", "numerics", "seconds", "started", "finished", "machine", "versions", "commit", "recipe", "inputs")}})


def progress(text: str) -> None:
    """Tell a person at a terminal what is being computed."""
    print(f"  {printable(text)}", file=sys.stderr, flush=True)


def warn(text: str) -> None:
    """Tell them what is odd in what they gave, and no error, once."""
    if text not in WARNED:
        WARNED.add(text)
        progress(f"warning: {text}")


def bar(what: str, total: int, done: int = 0) -> Any:
    """Tell them how far it is, in one line of plain text, which a chapter passes on: a bar of tqdm, none for nothing."""
    return tqdm(total=total, initial=done, desc=what, disable=not what, mininterval=5,
                bar_format="{desc} {n_fmt} of {total_fmt}{postfix}, {remaining} left")


def cost(line: dict[str, Any]) -> float:
    """Seconds that a value costs from nothing: its own and those of all steps below it, each counted once."""
    seen: dict[str, float] = {}

    def visit(item: dict[str, Any]) -> None:
        if item["key"] not in seen:
            seen[item["key"]] = item.get("seconds") or 0.0
            for below in item.get("inputs") or []:
                visit(below)

    visit(line)
    return sum(seen.values())


PACKAGES = ("torch", "transformers", "tokenizers", "pyserini", "faiss-cpu", "ir_measures", "numpy", "scipy", "pandas")


@functools.cache
def machine() -> dict[str, Any]:
    """CPU model, its instructions for matrices, number of cores, threads if the reader limits them, memory in GiB, system."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cpu": numerics.cpu("model name") or platform.processor() or platform.machine(), "cores": os.cpu_count(),
            "flags": sorted(numerics.cpu_flags() & {*numerics.FLAGS}), "threads": int(limit) if limit.isdigit() else None,
            "memory_gib": round(memory / 2**30), "system": platform.system(), "python": platform.python_version()}


@functools.cache
def versions() -> dict[str, str]:
    """Versions of the libraries that decide a number."""
    versions = {}
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


@functools.cache
def commit() -> str:
    """The commit of the working tree, with `+` if there are changes on top; `unknown` outside a checkout."""
    git = ["git", "-C", str(paths.ROOT), "describe", "--always", "--exclude=*", "--abbrev=12", "--dirty=+"]
    try:
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")  # noqa: UP017 - elsewhere Python may be 3.10


def told_once(lines: list[dict[str, Any]], seen: set[str], direct: bool = True) -> list[dict[str, Any]]:
    """Inputs with what is below a step at its first place alone, elsewhere it is named, or told without that if it is a direct
    input: a chain of rankings would tell of its index dozens of times."""
    told = []
    for line in lines:
        known = line["key"] in seen
        seen.add(line["key"])
        told.append({name: line[name] for name in ("step", "key")} if known and not direct else
                    {**line, "inputs": [] if known else told_once(line.get("inputs", []), seen, direct=False)})
    return told
