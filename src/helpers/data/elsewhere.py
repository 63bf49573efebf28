"""Collections and runs from outside: those that the book may not ship, known by their digests, and a reader's own files.

A recipe names a collection by its digests, so a page whose results are recorded needs no more of it. Whoever has the folder puts
it where the page looks for it, or gives it as the parameter: the same texts make the same keys, and what is missing is computed.
"""

import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import paths
from helpers.data.collection_base import Collection, Text
from helpers.data.lines import DAMAGE, damaged, open_bytes
from helpers.data.runs import cut, read_trec
from helpers.data.texts import Texts
from helpers.errors import BadInput
from helpers.steps import Step, digests, kind, ledger, recipe, step
from helpers.steps.store import fingerprint

LIST = paths.PUBLISHED / "elsewhere.yaml"


@functools.cache
def listed() -> dict[str, dict[str, Any]]:
    """What is known of each collection, by the folder where the book looks for it."""
    return paths.listed(LIST)


def known_file(file: Path) -> dict[str, Any] | None:
    """Size and SHA-256 of a file of such a folder; None for any other."""
    folders = {(paths.ROOT / folder).resolve(): own for folder, own in listed().items()}
    return folders.get(file.parent.resolve(), {"files": {}})["files"].get(file.name)


class Folder(Collection):
    """A folder that a reader brings: where its judgments are those of a listed collection, that one's rules hold."""

    folder: Path
    judged_by: str  # the files of queries and judgments, as an error names them

    def rule(self, unit: str, split: str) -> int:
        """As the list has it, else every grade above 0."""
        own = self._listed(unit, split)
        return own["relevant_from"].get(unit, 1) if own else super().rule(unit, split)

    def every_grade_gains(self, unit: str, split: str) -> bool | None:
        """As the list has it, else ir_measures' value."""
        return None if self._listed(unit, split) else super().every_grade_gains(unit, split)

    def lacks(self, what: str) -> BadInput:
        """The error where queries or judgments are wanted of a folder without them."""
        return BadInput(f"no {what} in this folder", file=self.folder, mend=f"add {self.judged_by}; without them it can be "
                        "searched, served and pre-trained on, and nothing be measured")

    def text_digest(self, unit: str) -> str:
        """SHA-256 of the file's content, unpacked, so that packing it changes nothing, and of the unit's name."""
        file = self.sources("texts", unit)[0]
        try:
            return recipe.sha256(digests.sha256(file, open_bytes) + unit)
        except DAMAGE as error:
            raise damaged(file, error) from None

    def _listed(self, unit: str, split: str) -> dict[str, Any] | None:
        digest = self.part("qrels", unit, split).digest
        return next((own for own in listed().values() if digest in own["digests"].values()), None)


class Elsewhere(Collection):
    """A collection that is not here. BadInput where its texts, queries or judgments are wanted."""

    is_here = False

    def __init__(self, spec: str):
        self._own = own = listed()[spec]
        self.spec, self.name, self.licence = spec, Path(spec).name, own["licence"]
        self.units, self.splits = tuple(own["relevant_from"]), tuple(own["splits"])

    @classmethod
    def opens(cls, spec: str) -> bool:
        """A folder of texts that is listed, and not there."""
        return bool(listed().get(spec, {}).get("digests")) and not Path(spec).is_dir()

    def texts(self, unit: str) -> Iterator[Text]:
        """They are not here."""
        raise self.lacks("texts")

    def rule(self, unit: str, split: str) -> int:
        """As the list has it."""
        return self._own["relevant_from"][unit]

    def every_grade_gains(self, unit: str, split: str) -> bool | None:
        """None: the recorded runs were measured so."""
        return None

    def text_digest(self, unit: str) -> str:
        """As the list has it."""
        return self._own["digests"][f"texts {unit}"]

    def frame_digest(self, kind: str, *names: str) -> str:
        """As the list has it."""
        return self._own["digests"][" ".join((kind, *names))]

    def lacks(self, what: str) -> BadInput:
        """The error where any of it is wanted."""
        return BadInput(f"the {what} of this collection are not part of the book", file=Path(self.spec), mend=self._own["mend"])


class File:
    """A file as a step's argument: known by its content, wherever it lies; BadInput if it is neither here nor known."""

    def __init__(self, path: str | Path, mend: str = "give the path of a TREC run, or `bm25`"):
        self.path = Path(os.path.abspath(Path(path).expanduser()))  # the project's own place, even if that is a link
        if not self.path.is_file() and known_file(self.path) is None:
            raise BadInput("no such file", file=self.path, mend=mend)

    def recipe(self) -> dict[str, Any]:
        """How it stands in a step's recipe."""
        place = self.path.relative_to(paths.ROOT) if self.path.is_relative_to(paths.ROOT) else self.path
        return {"data": ["file", str(place)], "digest": fingerprint(self.path) if self.path.is_file() else known_file(self.path)}

    @property
    def is_here(self) -> bool:
        """Whether it can be read."""
        return self.path.is_file()

    def sources(self) -> list[Path]:
        """The file itself."""
        return [self.path]


@step(version=1, form="run")
def without_same_id(run: pd.DataFrame) -> pd.DataFrame:
    """The run without documents that have their query's id: a query that is a text of the collection finds itself (BEIR)."""
    return run[run["doc_id"] != run["query_id"]].reset_index(drop=True)


@kind("file")
def _from_recipe(description: dict[str, Any]) -> File:
    return File(paths.ROOT / description["data"][1])


def external_run(path: str, queries: Step, depth: int, store: Step | None = None) -> Step:
    """The run in a TREC file, for the given queries, cut at `depth`; the documents of a file that the book does not know
    must be in the text store."""
    file = File(path)
    known = any(file.recipe()["digest"] in own["files"].values() for own in listed().values())
    return trec_run(file, queries, depth, None if known else store)


@step(version=1, form="run")
def trec_run(file: File, queries: pd.DataFrame, depth: int, store: Path | None = None) -> pd.DataFrame:
    """Read a TREC run and keep the given queries, in their order; BadInput if the file ranks none of them, or documents that the
    text store lacks."""
    run = read_trec(file.path)
    kept = run[run["query_id"].isin(set(queries["query_id"]))]
    if kept.empty:
        raise BadInput(f"the run {'ranks none of the queries' if len(run) else 'is empty'}", file=file.path,
                       mend="check that their ids agree" if len(run) else "write it again")
    if lacking := len(set(queries["query_id"])) - kept["query_id"].nunique():
        ledger.warn(f"{file.path}: {lacking} of {len(queries)} queries have no ranking in this run, and count as 0")
    kept = cut(kept.reset_index(drop=True), depth)
    if store is not None and (foreign := [name for name in kept["doc_id"].unique() if name not in Texts(store)]):
        raise BadInput(f"{len(foreign)} documents of the run are not in the collection, {foreign[0]!r} among them",
                       file=file.path, mend="check that the run is of these texts, and names them by their ids")
    return kept
