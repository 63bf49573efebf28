"""Where a value comes from: machine, versions, commit, date."""

import functools
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from helpers import paths

PACKAGES = ("torch", "transformers", "tokenizers", "pyserini", "faiss-cpu", "ir_measures", "numpy", "scipy", "pandas")


@functools.cache
def machine() -> dict[str, Any]:
    """CPU model, number of cores, threads if the reader limits them, memory in GiB, operating system."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return {"cpu": _cpu(), "cores": os.cpu_count(), "threads": int(limit) if limit.isdigit() else None,
            "memory_gib": _memory(), "system": platform.system(), "python": platform.python_version()}


@functools.cache
def versions() -> dict[str, str]:
    """Versions of the libraries that decide a number."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@functools.cache
def commit() -> str:
    """The commit of the working tree, with `+` if there are changes on top; `unknown` outside a checkout."""
    try:
        head = _git("rev-parse", "--short=12", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(paths.ROOT), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _memory() -> int | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    except (ValueError, OSError, AttributeError):
        return None
