"""How a step's value is kept on disk: plain forms, no pickle.

| form | Python value | file |
|---|---|---|
| `table` | DataFrame of text and number columns | `table.csv.gz` with a `dtypes.json` beside it |
| `json` | dictionaries, lists, numbers, text | `value.json` |
| `folder` | Path of a folder that the step fills | the folder's own files |

Others register here what they add: `helpers.data.runs` the form `run`. A module with steps of such a form imports the one that
registers it.
"""

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from helpers.registry import Registry


class Form(NamedTuple):
    """How values of one form are written into an empty folder, and read back; the same value always gives the same bytes."""

    save: Callable[[Any, Path], None]
    load: Callable[[Any], Any]


def save(form: str, value: Any, folder: Path) -> None:
    """Write a value of the given form into an empty folder."""
    FORMS[form].save(value, folder)


def load(form: str, folder: Any) -> Any:
    """Read back what `save` wrote, from a folder or from one of a zip file (`zipfile.Path`)."""
    return FORMS[form].load(folder)


def write_gzip(file: Path, text: str) -> None:
    """Compress a text; without time and file name, so that the bytes depend on it alone."""
    file.write_bytes(gzip.compress(text.encode(), compresslevel=6, mtime=0))


def _save_table(value: pd.DataFrame, folder: Path) -> None:
    frame = value.reset_index(drop=True)
    write_gzip(folder / "table.csv.gz", frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC))
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
