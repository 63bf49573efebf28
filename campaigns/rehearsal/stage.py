"""The stage of a rehearsal: a copy of the project, servers of its data and models, and commands that know no other."""

import contextlib
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import yaml

import mini_book
from helpers import paths
from helpers.retrieval import indexes
from local_server import Served, serving
from press import fetching
from rehearsal import hub, miniature, tiny_models

PROFILE, REDUCED = "msmarco", "rehearsal"  # the profile, and the pinned one with reduced counts
COUNTS = Path(__file__).with_name("counts.yaml")
FOREIGN = ("HF_", "HUGGINGFACE_", "TRANSFORMERS_", "IR_DATASETS_", "BOOK_")  # the reader's own settings
DATASETS = {"hub:sentence-transformers/stsb@main": hub.sentence_pairs}


@dataclass
class Stage:
    """A copy of the project in a folder, with the servers that its commands reach."""

    root: Path
    files: Served  # data and indexes
    hub: hub.Hub
    environment: dict[str, str]

    def start(self, *arguments: str, **settings: str) -> subprocess.Popen[str]:
        """Start a command of the book, with more settings of its environment."""
        return subprocess.Popen([sys.executable, "-m", "press.cli", *arguments], env=self.environment | settings, cwd=self.root,
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def book(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the book to its end."""
        process = self.start(*arguments, **settings)
        out, err = process.communicate()
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def steps(self) -> dict[Path, int]:
        """What the store holds: the manifest of each step, and when it was written."""
        return {file: file.stat().st_mtime_ns for file in (self.root / "store").glob("*/*/*/manifest.json")}

    def page(self, chapter: str) -> Path:
        """The page of a chapter."""
        return self.root / "book" / "chapters" / f"{chapter}.ipynb"

    def refused(self) -> list[str]:
        """The hosts outside that a process asked for, in vain."""
        notes = self.root / "refused.txt"
        return sorted({line.split()[0] for line in notes.read_text(encoding="utf-8").splitlines()}) if notes.exists() else []

    def reduce(self) -> None:
        """Write the profile with reduced counts: as it is pinned, with other numbers; ValueError for anything else."""
        content = yaml.safe_load((self.root / "profiles" / f"{PROFILE}.yaml").read_text(encoding="utf-8"))
        for chapter, counts in paths.listed(COUNTS).items():
            for name, value in counts.items():
                if not _is_count(value):
                    raise ValueError(f"{chapter}: {name} = {value!r} is no count")
                content["chapters"][chapter][name] = value
        (self.root / "profiles" / f"{REDUCED}.yaml").write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")


@contextlib.contextmanager
def stage(root: Path, models: list[str] | None = None) -> Iterator[Stage]:
    """A stage in a new folder: its hub has the models of the profile, or the given ones."""
    mini_book.copy(root)
    offered = hub.Hub()
    for spec in models or [*(spec for spec in fetching.specs(PROFILE) if spec.startswith("hub:")), *DATASETS]:
        name, _, revision = spec.removeprefix("hub:").partition("@")
        offered.put(name, revision, DATASETS[spec]() if spec in DATASETS else tiny_models.model(name))
    made = miniature.files()
    content = {miniature.path(*place): file for place, file in made.items()}
    descriptions, archives = _indexes(root)
    with serving(served=Served(content | archives)) as files, serving(served=offered):
        listed = {"downloads": miniature.catalogue(made, files.url), "refused": str(root / "refused.txt"),
                  "indexes": {one.name: asdict(replace(one, url=files.url + one.url)) for one in descriptions}}
        (root / "stage.json").write_text(json.dumps(listed), encoding="utf-8")
        own = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        python = os.pathsep.join(map(str, (Path(__file__).with_name("site"), paths.PACKAGE.parent)))
        yield Stage(root, files, offered, own | {
            "PYTHONPATH": python, "REHEARSAL": str(root / "stage.json"), "HOME": str(root), "BOOK_ROOT": str(root),
            "BOOK_STORE": str(root / "store"), "HF_HOME": str(root / "hf"), "HF_ENDPOINT": offered.url, "no_proxy": "*",
            "IR_DATASETS_HOME": str(root / "irds"), "IR_DATASETS_TMP": str(root / "irds-tmp"),
            "IR_DATASETS_SMALL_FILE_SIZE": "50000"})  # bytes from which a file goes the way of large ones


def _indexes(root: Path) -> tuple[list[indexes.Description], dict[str, bytes]]:
    """Lucene indexes of the miniature as Anserini's archives: their descriptions, and each archive by its path."""
    texts = {"passage": miniature.passages(), "document": [(doc_id, " ".join(rest)) for doc_id, *rest in miniature.documents()]}
    descriptions, archives = [], {}
    for unit, contents in texts.items():
        name, _ = indexes.index_names(f"irds:msmarco-{unit}", unit) or ("", "")
        known, folder, out = indexes.describe(name), root / "indexes" / unit, io.BytesIO()
        folder.mkdir(parents=True)
        indexes.build(contents, folder)
        with tarfile.open(fileobj=out, mode="w:gz") as tar:
            tar.add(folder, known.filename.removesuffix(".tar.gz"))
        archives[f"/{known.filename}"] = archive = out.getvalue()
        descriptions.append(replace(known, url=f"/{known.filename}", md5=hashlib.md5(archive).hexdigest(),
                                    compressed_size=len(archive)))
    return descriptions, archives


def _is_count(value: object) -> bool:
    return all(map(_is_count, value)) if isinstance(value, list) else isinstance(value, int)
