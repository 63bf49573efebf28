"""The whole book in the mini profile, in a copy of the project, as a newcomer would run it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from helpers import paths

COPIED = ("notebooks", "profiles", "published", "book", "results", "tests", "bench", "requirements.lock", "CITATION.cff")

# Together they use every room of the package; the cells of all are type-checked (test_notebooks.py), and `make book` runs all.
TESTED = ("collection", "does_it_work", "recipe", "seeds", "candidates", "distillation", "feedback", "encoders", "condenser",
          "explorer")


def copy(root: Path) -> Path:
    """Copy the project's own files to a folder."""
    for name in COPIED:
        source = paths.ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("_build", "chapters", "generated"))
        else:
            shutil.copy(source, root / name)
    return root


def make(root: Path) -> Path:
    """Build the mini book in a copy, every step of `TESTED` anew."""
    first = book(copy(root), "build", "--profile", "mini", "--fresh", "--only", ",".join(TESTED))
    assert first.returncode == 0, first.stderr[-3000:]
    return root


def book(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the book in the copy."""
    env = {**os.environ, "BOOK_ROOT": str(root), "BOOK_STORE": str(root / "store"), "HOME": str(root)}
    env.pop("BOOK_FRESH", None)
    return subprocess.run([sys.executable, "-m", "press.cli", *arguments], env=env, cwd=root, capture_output=True, text=True,
                          check=False)
