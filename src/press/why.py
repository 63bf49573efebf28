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
    ours, theirs = lists(a), lists(b)
    causes = [f"Queries: {len(more)} are in the {name} alone, such as {min(more)}; means are over other queries, or one run has "
              "no hit there." for name, more in (("first", ours.keys() - theirs), ("second", theirs.keys() - ours)) if more]
    causes += of_headers(ir_metadata.read(first), ir_metadata.read(second))
    shared = [query for query in ours if query in theirs]
    if other := [query for query in shared if len(ours[query]) != len(theirs[query])]:
        causes.append(f"Truncation: lists of {len(other)} of {len(shared)} queries have other lengths; recall and average "
                      "precision depend on them.")
    tops = {query: (ours[query][:TOP], theirs[query][:TOP]) for query in shared}
    if apart := [query for query, (one, two) in tops.items() if set(one) != set(two)]:
        causes.append(f"Documents: the first {TOP} of {len(apart)} of {len(shared)} queries hold others, {apart[0]!r} among "
                      "them.")
    moved = [query for query, (one, two) in tops.items() if query not in apart and one != two]
    tied = [query for query in moved if has_ties(a, query) or has_ties(b, query)]
    if tied:
        causes.append(f"Ties: of {len(moved)} queries whose first {TOP} are the same in another order, {len(tied)} have equal "
                      "scores; tools that break ties by place or by name rank these otherwise.")
    if rest := len(moved) - len(tied):
        causes.append(f"Order: {rest} queries have the same first {TOP} in another order without ties: their scores differ.")
    deep = {query: (ours[query][:len(theirs[query])], theirs[query][:len(ours[query])]) for query, (one, two) in tops.items()
            if one == two}
    others = [query for query, (one, two) in deep.items() if set(one) != set(two)]
    if others:
        causes.append(f"Documents: the lists of {len(others)} of {len(shared)} queries hold others below the first {TOP}.")
    if below := sum(one != two for one, two in deep.values()) - len(others):
        causes.append(f"Order: {below} queries have the same documents in another order below the first {TOP}.")
    causes += of_scores(a.merge(b, on=["query_id", "doc_id"], suffixes=("_a", "_b")))
    if not (apart or moved or others or below):
        one, two = (lists(as_written(file).sort_values("score", ascending=False, kind="stable")) for file in (first, second))
        if swapped := [query for query in shared if one[query] != two[query] and set(one[query]) == set(two[query])]:
            causes.append(f"Ties: {len(swapped)} queries, {swapped[0]!r} among them, list documents of equal scores in another "
                          "order; tools that break ties by place rank these otherwise, those that break them by name do not.")
    return causes or ["The runs are equal: queries, documents, order and scores."]


def lists(run: pd.DataFrame) -> dict[str, list[str]]:
    """The documents of each query, in their order."""
    return {str(query): list(documents) for query, documents in run.groupby("query_id", sort=False)["doc_id"]}


def has_ties(run: pd.DataFrame, query: str) -> bool:
    """Whether two of a query's first documents have one score."""
    return bool(run.loc[run["query_id"] == query, "score"].head(TOP + 1).duplicated().any())


def of_headers(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[str]:
    """Fields of the headers that differ: versions, commit, numerics, parameters, collection."""
    if bool(a) != bool(b):
        yield "Metadata: one run has no header, so versions, parameters and numerics are not known."
    left, right = flat(a), flat(b)
    for name in sorted({*left, *right} - {"tag"}) if a and b else ():
        if left.get(name) != right.get(name):
            yield f"Metadata: {name} is {left.get(name, 'not said')} in the first, {right.get(name, 'not said')} in the second."


def flat(part: Any, name: str = "") -> dict[str, str]:
    """A nested header as texts by path; what stands as `package==version` lies under the package's name."""
    if isinstance(part, list):
        pairs = [str(item).partition("==") for item in part]
        named = all(sign for _, sign, _ in pairs)
        part = {package: version for package, _, version in pairs} if named else dict(enumerate(part, start=1))
    if isinstance(part, Mapping):
        return {path: text for key, value in part.items()
                for path, text in flat(value, f"{name}, {key}" if name else str(key)).items()}
    return {name: str(part)}


def of_scores(both: pd.DataFrame) -> Iterator[str]:
    """Scores of the documents that both have: rounding, another scale, or another model."""
    change = (both["score_a"] - both["score_b"]).abs()
    if both.empty or change.max() == 0:
        return
    size = float(both[["score_a", "score_b"]].abs().to_numpy().max())
    if change.max() <= ROUNDING * size:
        yield (f"Numerics: scores differ by at most {change.max():.2g} of {size:.3g}, as another kind of arithmetic (bfloat16, a "
               "GPU, another version of a library) makes them.")
    elif len(both) > 2 and both["score_a"].corr(both["score_b"]) > 0.9999:
        yield "Scale: scores differ by a factor or a shift alone, which changes no order within a query."
    else:
        yield f"Scores: those of the same documents differ by up to {change.max():.3g}: another model or other parameters."
