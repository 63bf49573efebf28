"""`book vespa FOLDER`: package, model and feed of a collection, ready to be deployed."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from helpers.data.queries import adhoc_queries
from helpers.errors import BadInput
from helpers.systems.listwise_reranker import WarmUp
from helpers.systems.testbed import Testbed
from press.vespa import feed, onnx, package

NEEDED = ("vespa", "onnx", "onnxscript", "onnxruntime")
FEED = "feed.jsonl"


def write(folder: Path, collection: str, unit: str, model: str) -> Iterator[str]:
    """Write everything into a folder, the package in `application`; a line for each part. BadInput for a folder with files in it,
    or without the packages of the extra `vespa`."""
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise BadInput(f"not installed: {', '.join(missing)}", mend=".venv/bin/pip install pyvespa onnx onnxscript onnxruntime")
    if folder.exists() and any(folder.iterdir()):
        raise BadInput("the folder is not empty", file=folder, mend="name another one")
    bed = Testbed(collection, unit, adhoc_queries=adhoc_queries([]))
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / package.FILE
    onnx.export(Path(model) if model else WarmUp().model.value(), file)
    package.write(folder / "application", file)
    yield from (f"{one.relative_to(folder)}: {one.stat().st_size:,} bytes"
                for one in sorted((folder / "application").rglob("*")) if one.is_file())
    yield f"{FEED}: {feed.write(bed, folder / FEED):,} lines"
    yield f"deploy: `vespa deploy {folder / 'application'}`, then `vespa feed {folder / FEED}`; see the book's page"
