"""Runs from outside: a published first stage, as a TREC file."""

import os
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import paths
from helpers.data.elsewhere import known_file, listed
from helpers.data.runs import cut, read_trec
from helpers.data.texts import Texts
from helpers.errors import BadInput
from helpers.steps import Step, kind, ledger, step
from helpers.steps.store import fingerprint


class File:
    """A file as a step's argument: known by its content, wherever it lies; BadInput if it is neither here nor known."""

    def __init__(self, path: str | Path):
        self.path = Path(os.path.abspath(Path(path).expanduser()))  # the project's own place, even if that is a link
        if not self.path.is_file() and known_file(self.path) is None:
            raise BadInput("no such file", file=self.path, mend="give the path of a TREC run, or `bm25`")

    def recipe(self) -> dict[str, Any]:
        """How it stands in a step's recipe."""
        place = self.path.relative_to(paths.ROOT) if self.path.is_relative_to(paths.ROOT) else self.path
        return {"data": ["file", str(place)], "digest": fingerprint(self.path) if self.path.is_file() else known_file(self.path)}

    @property
    def is_known(self) -> bool:
        """Whether its content is that of a file of a listed collection."""
        digest = self.recipe()["digest"]
        return any(digest in own["files"].values() for own in listed().values())

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
    return trec_run(file, queries, depth, None if file.is_known else store)


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
