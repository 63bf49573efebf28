"""What the engine knows of those that use it: steps, the kinds of data that they take, the forms in which their values are kept.

They register themselves, a step by `@step` and a kind of data by `@kind`, so a process knows them once it has imported their
modules: a task of a cluster names the `modules` of its recipe, and `book verify` imports the whole package.

Data has a `recipe()`, whose `digest` follows its content, and `sources()`, the files that it is read from, if there are any.

A step's value is kept in a plain form, without pickle; `helpers.data.runs` adds the form `run`:

| form | Python value | file |
|---|---|---|
| `table` | DataFrame of text and number columns | `table.csv.gz` with a `dtypes.json` beside it |
| `json` | dictionaries, lists, numbers, text | `value.json` |
| `folder` | Path of a folder that the step fills | the folder's own files |
"""

import csv
import gzip
import io
import json
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from helpers.registry import Registry
from helpers.steps import recipe

Maker = TypeVar("Maker", bound=Callable[[dict[str, Any]], Any])


@dataclass(frozen=True)
class Shards:
    """How a step is computed in parts that are steps themselves, with the very result that it has as a whole."""

    split: Callable[[Any, dict[str, Any]], list[Any]]  # from the step and the values of its inputs, by argument, to its parts
    # from the values of the parts, in order, to the step's value; `folder` as the step's function has it
    join: Callable[..., Any]


@dataclass(frozen=True)
class Definition:
    """What `@step` knows of a function; its arguments are explained there."""

    name: str
    version: int
    form: str
    network: bool
    function: Callable[..., Any]
    hints: dict[str, Any] = field(repr=False, default_factory=dict)
    timing: bool = False
    resumable: bool = False
    shards: Shards | None = None

    @property
    def in_words(self) -> str:
        """What it computes, for a line of progress: how its function's documentation begins; its name without any."""
        clause = re.split(r"[.:;](?: |$)| \(", " ".join((self.function.__doc__ or self.name).split()))[0]
        return textwrap.shorten(clause.replace("`", ""), 64, placeholder=" …")


STEPS: dict[str, Definition] = {}
KINDS: Registry[Callable[[dict[str, Any]], Any]] = Registry("unknown kind of data", {})  # unless its module is imported


def kind(*names: str) -> Callable[[Maker], Maker]:
    """Register the function that makes data of these kinds again from its part of a recipe, `{"data": [kind, ...], ...}`."""
    def register(function: Maker) -> Maker:
        KINDS.update(dict.fromkeys(names, function))
        return function
    return register


def defined(description: dict[str, Any]) -> Definition:
    """The step that a recipe names; KeyError if there is none of that name and version."""
    if description["step"] not in STEPS:
        raise KeyError(f"there is no step {description['step']}")
    definition = STEPS[description["step"]]
    if definition.version != description["version"]:
        raise KeyError(f"{definition.name} is at version {definition.version}, not {description['version']}")
    return definition


def modules(description: dict[str, Any]) -> set[str]:
    """The modules that register the steps and the kinds of data in a recipe, at any depth."""
    found = recipe.parts(description)
    return {(defined(part).function if "step" in part else KINDS[part["data"][0]]).__module__ for part in found}


class Form(NamedTuple):
    """How values of one form are written into an empty folder, and read back from it or from one of a zip file (`zipfile.Path`);
    the same value always gives the same bytes."""

    save: Callable[[Any, Path], None]
    load: Callable[[Any], Any]


def _save_table(value: pd.DataFrame, folder: Path) -> None:
    frame = value.reset_index(drop=True)
    text = frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    (folder / "table.csv.gz").write_bytes(gzip.compress(text.encode(), compresslevel=6, mtime=0))  # the same bytes at any time
    kinds = {"i": "int64", "f": "float64", "b": "bool"}
    types = {column: kinds.get(frame[column].dtype.kind, "str") for column in frame.columns}
    (folder / "dtypes.json").write_text(json.dumps(types))


def _load_table(folder: Any) -> pd.DataFrame:
    types = json.loads((folder / "dtypes.json").read_text(encoding="utf-8"))
    table = io.BytesIO((folder / "table.csv.gz").read_bytes())
    return pd.read_csv(table, compression="gzip", dtype=types, keep_default_na=False, na_values={
        column: [""] for column, kind in types.items() if kind == "float64"}, float_precision="round_trip")


def _save_json(value: Any, folder: Path) -> None:
    (folder / "value.json").write_text(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False), encoding="utf-8")


FORMS = Registry("unknown form", {
    "table": Form(_save_table, _load_table),
    "json": Form(_save_json, lambda folder: json.loads((folder / "value.json").read_text(encoding="utf-8"))),
    "folder": Form(lambda value, folder: None, lambda folder: folder)})  # a folder's files are there already
