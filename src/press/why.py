"""`book why A B`: why two runs of one system differ, from the most to the least telling cause.

Both are TREC runs; those that `book export` writes carry a header, and then versions, parameters and numerics are compared, too.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data.runs import as_written, read_trec
from helpers.pages import ir_metadata

ROUNDING = 1e-2  # relative: bfloat16 keeps eight bits, so scores of one network may differ by as much
TOP = 10


def why(first: Path, second: Path) -> list[str]:
    """What differs between two runs, a sentence a cause; one sentence alone if they are equal."""
    a, b = read_trec(first), read_trec(second)
    causes = [*of_queries(a, b), *of_headers(ir_metadata.read(first), ir_metadata.read(second))]
    shared = set(a["query_id"]) & set(b["query_id"])
    a, b = (run[run["query_id"].isin(shared)] for run in (a, b))
    causes += [*of_depth(a, b), *of_documents(a, b), *of_scores(a, b)]
    if not any(cause.startswith(("Documents", "Ties", "Order")) for cause in causes):
        causes += of_lines(as_written(first), as_written(second))
    return causes or ["The runs are equal: queries, documents, order and scores."]


def of_queries(a: pd.DataFrame, b: pd.DataFrame) -> Iterator[str]:
    """Queries that one of them lacks: their means are over other queries."""
    for name, own, other in (("first", a, b), ("second", b, a)):
        if more := set(own["query_id"]) - set(other["query_id"]):
            yield (f"Queries: {len(more)} are in the {name} alone, such as {min(more)}; means are over other queries, or "
                   "one run has no hit there.")


def of_headers(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[str]:
    """Fields of the headers that differ: versions, commit, numerics, parameters, collection."""
    left, right = flat(a), flat(b)
    if bool(a) != bool(b):
        yield "Metadata: one run has no header, so versions, parameters and numerics are not known."
    for name in sorted({*left, *right} - {"tag"}) if a and b else ():
        if left.get(name) != right.get(name):
            yield f"Metadata: {name} is {left.get(name, 'not said')} in the first, {right.get(name, 'not said')} in the second."


def flat(part: Any, name: str = "") -> dict[str, str]:
    """A nested header as texts by path; what stands as `package==version` lies under the package's name."""
    if isinstance(part, Mapping):
        return {path: text for key, value in part.items()
                for path, text in flat(value, f"{name}, {key}" if name else str(key)).items()}
    if isinstance(part, list):
        pairs = [str(item).partition("==") for item in part]
        if all(sign for _, sign, _ in pairs):
            return {f"{name}, {package}": version for package, _, version in pairs}
        return {path: text for n, item in enumerate(part) for path, text in flat(item, f"{name} {n + 1}").items()}
    return {name: str(part)}


def of_depth(a: pd.DataFrame, b: pd.DataFrame) -> Iterator[str]:
    """Lists of other lengths: truncation."""
    ours, theirs = a.groupby("query_id").size(), b.groupby("query_id").size()
    if other := int((ours != theirs).sum()):
        yield (f"Truncation: lists of {other} of {len(ours)} queries have other lengths (at most {ours.max()} "
               f"and {theirs.max()} documents); recall and average precision depend on them.")


def of_documents(a: pd.DataFrame, b: pd.DataFrame) -> Iterator[str]:
    """Other documents, or the same in another order, at ties or elsewhere."""
    ours, theirs = ({str(query): list(own["doc_id"].head(TOP)) for query, own in run.groupby("query_id")} for run in (a, b))
    shared = {query: len(set(own) & set(theirs[query])) / max(1, len(own)) for query, own in ours.items()}
    apart = [query for query in ours if set(ours[query]) != set(theirs[query])]
    moved = [query for query in ours if query not in apart and ours[query] != theirs[query]]
    tied = [query for query in moved if has_ties(a, query) or has_ties(b, query)]
    if apart:
        yield (f"Documents: the first {TOP} of {len(apart)} of {len(ours)} queries hold others; on average "
               f"{sum(shared.values()) / len(shared):.0%} are the same.")
    if tied:
        yield (f"Ties: of {len(moved)} queries whose first {TOP} are the same in another order, {len(tied)} have equal scores; "
               "tools that break ties by place or by name rank these otherwise.")
    if rest := len(moved) - len(tied):
        yield f"Order: {rest} queries have the same first {TOP} in another order without ties: their scores differ."


def has_ties(run: pd.DataFrame, query: str) -> bool:
    """Whether two of a query's first documents have one score."""
    return bool(run.loc[run["query_id"] == query, "score"].head(TOP + 1).duplicated().any())


def of_lines(a: pd.DataFrame, b: pd.DataFrame) -> Iterator[str]:
    """Lines of equal documents in another order: among equal scores, or against them."""
    ours, theirs = ({str(query): list(own["doc_id"]) for query, own in run.groupby("query_id")} for run in (a, b))
    shared = [query for query in ours if query in theirs and set(ours[query]) == set(theirs[query])]
    if moved := [query for query in shared if ours[query] != theirs[query]]:
        yield (f"Ties: {len(moved)} queries, {moved[0]!r} among them, list documents of equal scores in another order; tools "
               "that break ties by place rank these otherwise, those that break them by name do not.")


def of_scores(a: pd.DataFrame, b: pd.DataFrame) -> Iterator[str]:
    """Scores of the same documents: rounding, another scale, or another model."""
    both = a.merge(b, on=["query_id", "doc_id"], suffixes=("_a", "_b"))
    change = (both["score_a"] - both["score_b"]).abs()
    if both.empty or change.max() == 0:
        return
    size = max(float(both["score_a"].abs().max()), float(both["score_b"].abs().max()))
    if change.max() <= ROUNDING * size:
        yield (f"Numerics: scores differ by at most {change.max():.2g} of {size:.3g}, as another kind of arithmetic (bfloat16, a "
               "GPU, another version of a library) makes them.")
    elif len(both) > 2 and both["score_a"].corr(both["score_b"]) > 0.9999:
        yield "Scale: scores differ by a factor or a shift alone, which changes no order within a query."
    else:
        yield f"Scores: those of the same documents differ by up to {change.max():.3g}: another model or other parameters."
