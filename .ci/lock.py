"""Write requirements.hashes: the versions of requirements.lock, with the SHA-256 of every file that an installation may take.

    pip install uv && python .ci/lock.py

A wheel counts if it is for CPython 3.11 to 3.13 on Linux, macOS or Windows; a source archive where there is no such wheel.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WHEEL = re.compile(r"-(py3\d*|py2\.py3|cp31[1-3]|cp3\d+-abi3)-(?!cp31\dt-).*"
                   r"(-any|manylinux\w*_(x86_64|aarch64)|macosx|win_amd64)")


def main() -> int:
    """Ask the package index that uv's settings name."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "pylock.toml"
        subprocess.run(["uv", "pip", "compile", ROOT / "requirements.lock", "--no-deps", "--universal", "--quiet",
                        "--python-version", "3.11.9", "--format", "pylock.toml", "-o", found], check=True)
        packages = tomllib.loads(found.read_text())["packages"]
    (ROOT / "requirements.hashes").write_text(text(packages))
    return 0


def text(packages: list[dict[str, Any]]) -> str:
    """The file, of the packages of a pylock.toml (PEP 751)."""
    lines = ["# Written by .ci/lock.py from requirements.lock: what `pip install --require-hashes` takes."]
    for one in packages:
        wheels = [file for file in one.get("wheels", ()) if WHEEL.search(file["url"].rpartition("/")[2])]
        digests = sorted({file["hashes"]["sha256"] for file in wheels or [one["sdist"]]})
        lines.append(" \\\n    ".join([f"{one['name']}=={one['version']}", *(f"--hash=sha256:{digest}" for digest in digests)]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
