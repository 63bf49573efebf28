"""Runs: the relation (query_id, doc_id, score) that every ranker takes and gives.

A run is a DataFrame with ir_measures' columns, best first within a query. Ties are broken once, when a run is made
(`ranked`): by score, then by doc_id, both descending, as trec_eval does, so that every tool that reads it ranks alike.
"""

import csv
import lzma
import math
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.data.lines import check_ids, number, text_lines
from helpers.errors import BadInput
from helpers.steps import values

COLUMNS = ["query_id", "doc_id", "score"]
FILE = "run.trec.xz"  # in which a step of form `run` keeps one; gzip would take two fifths more of what ships with the book


def ranked(frame: pd.DataFrame, depth: int | None = None) -> pd.DataFrame:
    """Sort a run (query order kept, score descending, then doc_id descending), cut at `depth` documents a query."""
    order = pd.factorize(frame["query_id"])[0]
    frame = frame.astype({"score": float}).assign(_query=order)
    frame = frame.sort_values(["_query", "score", "doc_id"], ascending=[True, False, False])
    if depth is not None:
        frame = frame.groupby("_query").head(depth)
    return frame[COLUMNS].reset_index(drop=True)


def ranks(run: pd.DataFrame) -> pd.Series:
    """The 1-based rank of each row of a ranked run."""
    return run.groupby("query_id", sort=False).cumcount() + 1


def to_trec(run: pd.DataFrame, tag: str = "book") -> str:
    """The run as TREC text: `query_id Q0 doc_id rank score tag`, with the digits that tell a score from every other.

    Of a float32, which networks and Lucene give, these are half as many as of the float64 that holds it.
    """
    scores = run["score"].to_numpy(float)
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    texts, wider = single.astype(str).astype(object), single != scores
    texts[wider] = scores[wider].astype(str)
    rows = zip(run["query_id"], run["doc_id"], ranks(run), texts, strict=True)
    return "".join(f"{query} Q0 {doc} {rank} {score} {tag}\n" for query, doc, rank, score in rows)


def read_trec(file: Path | str) -> pd.DataFrame:
    """Read a TREC run, plain or gzip.

    Raises:
        BadInput: naming the line, for a wrong number of columns, an odd id, a score that is no number, or a repeated document.
    """
    file = Path(file)
    rows: list[tuple[str, str, float]] = []
    seen: set[tuple[str, str]] = set()
    for place, line in text_lines(file):
        if line.startswith("#"):  # a header, such as ir_metadata's
            continue
        parts = line.split()
        if len(parts) != 6:
            raise BadInput(f"{len(parts)} columns where a TREC run has 6", file=file, line=place,
                           mend="write `query_id Q0 doc_id rank score tag`, separated by blanks")
        score = number(parts[4])
        if not math.isfinite(score):
            raise BadInput(f"score {parts[4]!r} is not a number", file=file, line=place,
                           mend="put a number into the fifth column")
        check_ids(file, place, parts[0], parts[2])
        if (parts[0], parts[2]) in seen:
            raise BadInput(f"document {parts[2]!r} stands twice for query {parts[0]!r}", file=file, line=place,
                           mend="keep one line for each query and document")
        seen.add((parts[0], parts[2]))
        rows.append((parts[0], parts[2], score))
    return ranked(pd.DataFrame(rows, columns=COLUMNS).astype({"score": float}))


def cut(run: pd.DataFrame, depth: int) -> pd.DataFrame:
    """The first `depth` documents of each query of a ranked run."""
    return run[run.groupby("query_id", sort=False).cumcount() < depth].reset_index(drop=True)


def _load(folder: Path) -> pd.DataFrame:
    """What `to_trec` wrote and the store has verified: nothing of a line is checked again, which takes four times as long."""
    return ranked(pd.read_csv(folder / FILE, sep=" ", header=None, usecols=[0, 2, 4], names=COLUMNS, quoting=csv.QUOTE_NONE,
                              dtype=dict(zip(COLUMNS, (str, str, float), strict=True)), keep_default_na=False,
                              float_precision="round_trip"))


def _save(run: pd.DataFrame, folder: Path) -> None:
    (folder / FILE).write_bytes(lzma.compress(to_trec(run).encode()))


values.FORMS["run"] = values.Form(_save, _load)
