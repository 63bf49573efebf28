"""Complete a Python that runs already, such as Colab's, so that it can run the book's chapters. Standard library only.

    python book/colab.py

The first cell of every notebook calls it where the book is not installed. What is there stays if its major version is the one
that the book uses, or a later one; PyTorch stays whatever it is, since a runtime's own build fits its GPU.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import install

ROOT = Path(__file__).resolve().parent
WANTED = ROOT / "binder" / "requirements.txt"
ALONE = ("pyserini",)  # searching needs few of the packages that it asks for


def main() -> int:
    """Install what is missing; 2 with a message if that fails."""
    if sys.version_info[:2] < install.NEEDED:
        return install.say(f"Python {'.'.join(map(str, install.NEEDED))} or later is needed. Mend: choose a newer runtime")
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    if installed("torch") is None and not any(install.run(pip + attempt) for attempt in install.torch_attempts(kind())):
        return install.say("PyTorch could not be installed. Mend: see pip's message above")
    lacking = missing(wanted(), installed)
    print(f"installing {len(lacking)} packages ..." if lacking else "all packages are there", flush=True)
    older = [name for name in lacking if installed(name) is not None]
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "kept.txt"  # pip must not touch the runtime's PyTorch
        kept.write_text(f"torch=={installed('torch')}\n")
        pins = [f"{name}=={number}" for name, number in lacking.items()]
        if pins and not install.run([*pip, "-c", str(kept), *pins]):
            return install.say("a package could not be installed. Mend: see pip's message above, then run the cell again")
    alone = [f"{name}=={locked(name)}" for name in ALONE if installed(name) is None]
    if not install.run([*pip, "--no-deps", *alone, "-e", str(ROOT)]):
        return install.say("the book could not be installed. Mend: see pip's message above, then run the cell again")
    if older:
        print(f"replaced: {', '.join(older)}. If an import fails, choose Runtime > Restart session and run all cells again.")
    return 0


def wanted() -> dict[str, str]:
    """The packages that a chapter needs, with the book's versions; PyTorch is not among them."""
    lines = (line.split("#")[0].strip() for line in WANTED.read_text().splitlines())
    pins = dict(line.split("==") for line in lines if "==" in line)
    return {name: number for name, number in pins.items() if name != "torch"}


def missing(pins: dict[str, str], present: Callable[[str], str | None]) -> dict[str, str]:
    """Those of some packages that are not there, or are there in an older major version."""
    return {name: number for name, number in pins.items()
            if (there := present(name)) is None or major(there) < major(number)}


def major(number: str) -> tuple[int, ...]:
    """The part of a version that changes when programs must: `(2,)` of 2.4.6, `(0, 23)` of 0.23.3."""
    parts = number.split("+")[0].split(".")
    return tuple(map(int, parts[:2] if parts[0] == "0" else parts[:1]))


def installed(name: str) -> str | None:
    """The version of a package that is there; None if it is not."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def locked(name: str) -> str:
    """The version of a package in requirements.lock."""
    lines = install.LOCK.read_text().splitlines()
    return next(line.split("==")[1].strip() for line in lines if line.startswith(f"{name}=="))


def kind() -> str:
    """Which build of PyTorch this machine needs: `cuda` where there is an NVIDIA driver."""
    return "cuda" if shutil.which("nvidia-smi") else "cpu"


if __name__ == "__main__":
    sys.exit(main())
