"""An environment of Python with what a machine elsewhere has, and nothing else of what is installed here."""

import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

THERE = ("torch", "transformers", "tokenizers", "safetensors", "numpy", "pandas", "scipy", "pyyaml")
REFUSED = ("accelerate", "datasets", "faiss", "ir_measures", "pyserini", "jnius", "psutil", "sentence_transformers", "papermill")


def packages() -> dict[str, Distribution]:
    """These with all that they rest on, by name."""
    found: dict[str, Distribution] = {}
    names = list(THERE)
    while names:
        name = names.pop().lower().replace("_", "-")
        try:
            found[name] = known = found.get(name) or distribution(name)
        except PackageNotFoundError:
            continue
        wanted = map(Requirement, known.requires or ())
        names += [one.name for one in wanted if one.name.lower().replace("_", "-") not in found
                  and (one.marker is None or one.marker.evaluate({"extra": ""}))]
    return found


def bare_python(folder: Path) -> Path:
    """Make the environment in a folder; its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", folder], check=True)
    [site] = folder.glob("lib/python*/site-packages")
    for known in packages().values():
        for name in {file.parts[0] for file in known.files or () if file.parts[0] != ".."} - {"__pycache__"}:
            if not (site / name).exists():
                (site / name).symlink_to(known.locate_file(name))
    return folder / "bin" / "python"
