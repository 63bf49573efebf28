"""Runs: the relation (query_id, doc_id, score) that every ranker takes and gives; queries and judgments as steps.

A run is a DataFrame with ir_measures' columns, best first within a query. Ties are broken once, when a run is made
(`ranked`): by score, then by doc_id, both descending, as trec_eval does, so that every tool that reads it ranks alike.
"""

import lzma
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.lines import check_ids, number, text_lines
from helpers.errors import BadInput
from helpers.steps import ledger, registry, step

START, END = "# ir_metadata.start", "# ir_metadata.end"  # of the header that a run may have
COLUMNS = ["query_id", "doc_id", "score"]
FILE, LINES = "run.columns.xz", "run.trec.xz"  # in which a step of form `run` keeps one, and in which stores of 2026 still do:
# a column after the other takes a third less of what ships with the book, and is read in two thirds of the time


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
    rows = zip(run["query_id"], run["doc_id"], ranks(run), _score_texts(run), strict=True)
    return "".join(f"{query} Q0 {doc} {rank} {score} {tag}\n" for query, doc, rank, score in rows)


def _score_texts(run: pd.DataFrame) -> Any:
    scores = run["score"].to_numpy(float)
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    texts, wider = single.astype(str).astype(object), single != scores
    texts[wider] = scores[wider].astype(str)
    return texts


def read_trec(file: Path | str) -> pd.DataFrame:
    """Read a TREC run, plain or gzip, below a header of ir_metadata if it has one. What is odd, and no error, is told: lines that
    stand twice, and ranks that contradict the scores, which count. BadInput, naming the line, for a wrong number of columns, an
    odd id, a score that is no number, or a document with two scores."""
    run = as_written(file)
    placed = run.assign(rank=pd.to_numeric(run["rank"], errors="coerce")).sort_values(["rank", "score"], ascending=[True, False])
    groups = placed.groupby("query_id", sort=False)  # does a document stand at a better rank than one with a higher score?
    worse = (groups["score"].diff() > 0) & (groups["rank"].diff() > 0)
    if len(other := placed.loc[worse, "query_id"].unique()):
        ledger.warn(f"{file}: the ranks of {len(other)} queries, {other[0]!r} among them, contradict their scores, which count")
    return ranked(run[COLUMNS])


def as_written(file: Path | str) -> pd.DataFrame:
    """The lines of a TREC run in their own order: the columns of a run, and `rank` as a text; see `read_trec`."""
    file = Path(file)
    rows: dict[tuple[str, str], tuple[float, str]] = {}
    twice: list[str] = []
    for place, line in below_header(file):
        parts = line.split()
        if len(parts) != 6:
            raise BadInput(f"{len(parts)} columns where a TREC run has 6", file=file, line=place,
                           mend="write `query_id Q0 doc_id rank score tag`, separated by blanks")
        score = number(parts[4])
        if not math.isfinite(score):
            raise BadInput(f"score {parts[4]!r} is not a number", file=file, line=place,
                           mend="put a number into the fifth column")
        check_ids(file, place, parts[0], parts[2])
        names, values = (parts[0], parts[2]), (score, parts[3])
        if rows.setdefault(names, values) != values:
            raise BadInput(f"document {parts[2]!r} stands twice for query {parts[0]!r}, with two scores or ranks", file=file,
                           line=place, mend="keep one line for each query and document")
        if rows[names] is not values:
            twice.append(parts[2])
    if twice:
        ledger.warn(f"{file}: {len(twice)} lines stand twice, that of {twice[0]!r} among them; each counts once")
    lines = [(*names, *values) for names, values in rows.items()]
    return pd.DataFrame(lines, columns=[*COLUMNS, "rank"]).astype({"score": float})


def below_header(file: Path) -> Iterator[tuple[int, str]]:
    """The lines of a run, but for the block of ir_metadata at its top: what begins with `#` elsewhere is an id. BadInput for a
    block without end."""
    inside = False
    for place, line in text_lines(file):
        text = line.strip()
        inside = inside or (place == 1 and text == START)
        if not inside:
            yield place, line
        inside = inside and text != END
    if inside:
        raise BadInput("the header has no end", file=file, line=1, mend=f"write the line `{END}` below it")


def in_single_precision(run: pd.DataFrame) -> pd.DataFrame:
    """A ranked run with scores that keep its order for tools that read them as float32, such as trec_eval; see `told_apart`."""
    scores = run.groupby("query_id", sort=False)["score"]
    return run.assign(score=scores.transform(lambda own: told_apart(own.to_numpy()).astype(float)))


def told_apart(scores: np.ndarray) -> np.ndarray:
    """A query's scores, best first, as float32 of which each is below the one before: what is equal there goes down by the
    smallest step. Where float32 cannot hold them, minus the rank stands for each."""
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    if not (np.abs(single) < np.finfo(np.float32).max).all():
        single = -np.arange(1, len(single) + 1, dtype=np.float32)
    while len(again := np.flatnonzero(np.diff(single) >= 0)):
        for place in again:  # what a step down has made equal to the next is found in the next round
            single[place + 1] = min(single[place + 1], np.nextafter(single[place], np.float32(-np.inf)))
    return single


def cut(run: pd.DataFrame, depth: int) -> pd.DataFrame:
    """The first `depth` documents of each query of a ranked run."""
    return run[run.groupby("query_id", sort=False).cumcount() < depth].reset_index(drop=True)


def _load(folder: Any) -> pd.DataFrame:
    """What `_save` wrote and the store has verified: nothing of a line is checked again."""
    old = (folder / LINES).exists()
    words = lzma.decompress((folder / (LINES if old else FILE)).read_bytes()).decode().split("\n")[:-1]
    columns = zip(*(word.split(" ")[:5:2] for word in words), strict=True) if old else np.reshape(words, (3, -1)).tolist()
    return ranked(pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)), columns=COLUMNS))


def _save(run: pd.DataFrame, folder: Path) -> None:
    lines = (f"{word}\n" for column in (run["query_id"], run["doc_id"], _score_texts(run)) for word in column)
    (folder / FILE).write_bytes(lzma.compress("".join(lines).encode()))


registry.FORMS["run"] = registry.Form(_save, _load)


@step(version=1, form="table")
def queries(parts: list, sample: int, seed: int, answer_types: list | None = None) -> pd.DataFrame:
    """The queries of one or more splits; `sample` of each split drawn with the seed, 0 for all of them.

    The order is the collection's, so that a larger sample of the same seed adds queries without reordering. Asking for more
    queries than there are gives all. With `answer_types`, only queries that carry one of these labels; BadInput if none does.
    """
    frames = [take(typed(part.load(), answer_types), sample, seed) for part in parts]
    return pd.concat(frames, ignore_index=True)


@step(version=1, form="table")
def qrels(parts: list) -> pd.DataFrame:
    """The judgments of one or more splits."""
    return pd.concat([part.load() for part in parts], ignore_index=True)


def typed(frame: pd.DataFrame, answer_types: list | None) -> pd.DataFrame:
    """The queries with one of the answer types; all of them for None."""
    if answer_types is None:
        return frame
    labelled = frame["answer_type"] if "answer_type" in frame else pd.Series("", index=frame.index)
    kept = frame[labelled.isin(answer_types)].reset_index(drop=True)
    if kept.empty:
        raise BadInput(f"no query has an answer type of {', '.join(answer_types)}",
                       mend="use a collection whose queries are labelled, or give no types")
    return kept


def take(frame: pd.DataFrame, sample: int, seed: int) -> pd.DataFrame:
    """The first `sample` rows of the seed's shuffle, in the frame's own order; all rows for 0."""
    if sample == 0 or sample >= len(frame):
        return frame
    chosen = frame.sample(frac=1, random_state=seed).index[:sample]
    return frame.loc[sorted(chosen)].reset_index(drop=True)


@step(version=1, form="table")
def adhoc_queries(texts: list) -> pd.DataFrame:
    """Queries as they were typed; their ids are their numbers, from 1."""
    return pd.DataFrame({"query_id": [str(number) for number in range(1, len(texts) + 1)], "text": texts})
