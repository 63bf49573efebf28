"""Create the book's environment: a virtual environment with the locked versions. Standard library only.

    python3 install.py --venv .venv --torch cpu

PyTorch comes first: its plain Linux wheel brings gigabytes of CUDA libraries, which a machine without a GPU has no use
for. `--torch cpu` takes the CPU build, from pip's own configuration if that knows one, else from PyTorch's index of CPU
builds; `--torch cuda` takes the build that the package index has. All others must have the SHA-256 of requirements.hashes.
"""

import argparse
import platform
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
LOCK, HASHES = ROOT / "requirements.lock", ROOT / "requirements.hashes"
CPU_BUILDS = "https://download.pytorch.org/whl/cpu"
NEEDED = (3, 11)


def main() -> int:
    """Create or complete the environment; 2 with a message if something is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv")
    parser.add_argument("--torch", choices=("cpu", "cuda"), default="cpu")
    options = parser.parse_args()
    if sys.version_info[:2] < NEEDED:
        return say(f"Python {'.'.join(map(str, NEEDED))} or later is needed, this is {platform.python_version()}. "
                   "Mend: make book PYTHON=python3.11")
    if shutil.disk_usage(ROOT).free < 5 * 2**30:
        return say("less than 5 GiB of disk are free; the environment takes about 3. Mend: free some space")
    if not (options.venv / "bin" / "python").exists():
        try:
            venv.create(options.venv, with_pip=True)
        except (OSError, subprocess.CalledProcessError) as error:
            return say(f"no virtual environment could be created ({error}). Mend: install python3-venv")
    pip = [str(options.venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--progress-bar", "on"]
    print("installing PyTorch ...", flush=True)
    if not any(run(pip + attempt) for attempt in torch_attempts(options.torch)):
        return say("PyTorch could not be installed. Mend: see pip's message above; the package index must be reachable")
    print("installing the locked versions (about two minutes) ...", flush=True)
    alone = [*pip, "--no-deps"]  # the lock names all that is needed, extras too
    if not run([*alone, "--require-hashes", "-r", str(HASHES)]) or not run([*alone, "--no-build-isolation", "-e", str(ROOT)]):
        return say("the locked versions could not be installed. Mend: see pip's message above, then run make again")
    return 0


def torch_attempts(kind: str) -> list[list[str]]:
    """pip's arguments for PyTorch, in the order they are tried."""
    wanted = next(line.strip() for line in LOCK.read_text().splitlines() if line.startswith("torch=="))
    if kind == "cuda" or platform.system() != "Linux":
        return [[wanted]]  # elsewhere the index's own wheel is the CPU build
    return [[f"{wanted}+cpu"], [f"{wanted}+cpu", "--index-url", CPU_BUILDS]]


def run(command: list[str]) -> bool:
    """Run a command, its output shown; whether it succeeded."""
    return subprocess.run(command, check=False).returncode == 0


def say(problem: str) -> int:
    """Print a problem to standard error."""
    print(f"\n{problem}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
