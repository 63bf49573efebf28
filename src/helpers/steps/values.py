"""How a step's value is kept on disk: four plain forms, no pickle.

| form | Python value | file |
|---|---|---|
| `run` | DataFrame query_id, doc_id, score | `run.trec.gz` |
| `table` | DataFrame of text and number columns | `table.csv.gz` with a `dtypes.json` beside it |
| `json` | dictionaries, lists, numbers, text | `value.json` |
| `folder` | Path of a folder that the step fills | the folder's own files |
"""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data import runs

FORMS = ("run", "table", "json", "folder")


def save(form: str, value: Any, folder: Path) -> None:
    """Write a value of the given form into an empty folder; the same value always gives the same bytes."""
    if form == "run":
        _gzip(folder / "run.trec.gz", runs.to_trec(value))
    elif form == "table":
        frame = value.reset_index(drop=True)
        _gzip(folder / "table.csv.gz", frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC))
        types = {column: _dtype(frame[column]) for column in frame.columns}
        (folder / "dtypes.json").write_text(json.dumps(types))
    elif form == "json":
        (folder / "value.json").write_text(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))
    elif form != "folder":  # a folder's files are there already
        raise ValueError(f"unknown form {form!r}: one of {', '.join(FORMS)}")


def load(form: str, folder: Path) -> Any:
    """Read back what `save` wrote."""
    if form == "run":
        return runs.read_trec(folder / "run.trec.gz")
    if form == "table":
        types = json.loads((folder / "dtypes.json").read_text())
        return pd.read_csv(folder / "table.csv.gz", dtype=types, keep_default_na=False, na_values={
            column: [""] for column, kind in types.items() if kind == "float64"}, float_precision="round_trip")
    if form == "json":
        return json.loads((folder / "value.json").read_text())
    if form == "folder":
        return folder
    raise ValueError(f"unknown form {form!r}: one of {', '.join(FORMS)}")


def _dtype(column: pd.Series) -> str:
    kind = column.dtype.kind
    return {"i": "int64", "f": "float64", "b": "bool"}.get(kind, "str")


def _gzip(file: Path, text: str) -> None:
    # mtime=0 and no file name: the bytes depend on the value alone
    file.write_bytes(gzip.compress(text.encode(), compresslevel=6, mtime=0))
