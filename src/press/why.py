"""`book why A B`: why two TREC runs of one system differ, from the most to the least telling cause; headers are compared, too."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data.runs import as_written, read_trec
from helpers.pages import carried

ROUNDING, TOP = 1e-2, 10  # relative: bfloat16 keeps eight bits, so scores of one network may differ by as much; first documents
SENTENCES = {"documents": "Documents: the first {top} of {n} of {all} queries hold others, {one!r} among them.",
             "ties": "Ties: {n} queries whose first {top} are the same in another order have equal scores there; tools that "
                     "break ties by place or by name rank these otherwise.",
             "order": "Order: {n} queries have the same first {top} in another order without ties: their scores differ.",
             "documents below": "Documents: the lists of {n} of {all} queries hold others below the first {top}.",
             "order below": "Order: {n} queries have the same documents in another order below the first {top}."}
PLACES = ("Ties: {n} queries, {one!r} among them, list documents of equal scores in another order; tools that break ties by "
          "place rank these otherwise, those that break them by name do not.")


def why(first: Path, second: Path) -> list[str]:
    """What differs between two runs, a sentence a cause; one sentence alone if they are equal."""
    a, b = read_trec(first), read_trec(second)
    ours, theirs = lists(a), lists(b)
    causes = [f"Queries: {len(more)} are in the {name} alone, such as {min(more)}; means are over other queries, or one run has "
              "no hit there." for name, more in (("first", ours.keys() - theirs), ("second", theirs.keys() - ours)) if more]
    causes += of_headers(carried.read(first), carried.read(second))
    shared = [query for query in ours if query in theirs]
    if other := [query for query in shared if len(ours[query]) != len(theirs[query])]:
        causes.append(f"Truncation: lists of {len(other)} of {len(shared)} queries have other lengths; recall and average "
                      "precision depend on them.")
    tied = {query for run in (a, b) for query, scores in run.groupby("query_id")["score"]
            if scores.head(TOP + 1).duplicated().any()}
    kinds = pd.Series({query: change(ours[query], theirs[query], query in tied) for query in shared}, dtype=str)
    for kind, sentence in SENTENCES.items():
        if len(moved := kinds.index[kinds == kind]):
            causes.append(sentence.format(n=len(moved), all=len(shared), top=TOP, one=moved[0]))
    causes += of_scores(a.merge(b, on=["query_id", "doc_id"], suffixes=("_a", "_b")))
    if not kinds.any():
        one, two = (lists(as_written(file).sort_values("score", ascending=False, kind="stable")) for file in (first, second))
        if swapped := [query for query in shared if one[query] != two[query] and set(one[query]) == set(two[query])]:
            causes.append(PLACES.format(n=len(swapped), one=swapped[0]))
    return causes or ["The runs are equal: queries, documents, order and scores."]


def lists(run: pd.DataFrame) -> dict[str, list[str]]:
    """The documents of each query, in their order."""
    return {str(query): list(documents) for query, documents in run.groupby("query_id", sort=False)["doc_id"]}


def change(one: list[str], two: list[str], tied: bool) -> str:
    """How two lists of a query differ, as a key of `SENTENCES`: in their heads, else below; empty if one begins the other."""
    for depth, place in ((TOP, ""), (min(len(one), len(two)), " below")):
        if one[:depth] != two[:depth]:
            same = set(one[:depth]) == set(two[:depth])
            return "ties" if same and tied and not place else f"{'order' if same else 'documents'}{place}"
    return ""


def of_headers(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[str]:
    """Fields of the headers that differ: versions, commit, numerics, parameters, collection."""
    if bool(a) != bool(b):
        yield "Metadata: one run has no header, so versions, parameters and numerics are not known."
    elif a != b:
        left, right = flat(a), flat(b)
        yield from (f"Metadata: {name} is {left.get(name, 'not said')} in the first, {right.get(name, 'not said')} in the second."
                    for name in sorted({*left, *right} - {"tag"}) if left.get(name) != right.get(name))


def flat(part: Any, name: str = "") -> dict[str, str]:
    """A nested header as texts by path; what stands as `package==version` lies under the package's name."""
    if isinstance(part, list):
        pairs: list[Any] = [str(item).split("==") if "==" in str(item) else (n, item) for n, item in enumerate(part, start=1)]
        part = dict(pairs)
    if not isinstance(part, Mapping):
        return {name: str(part)}
    return {path: text for key, value in part.items()
            for path, text in flat(value, f"{name}, {key}" if name else str(key)).items()}


def of_scores(both: pd.DataFrame) -> Iterator[str]:
    """Scores of the documents that both have: rounding, another scale, or another model."""
    change = float((both["score_a"] - both["score_b"]).abs().max())
    size = float(both[["score_a", "score_b"]].abs().to_numpy().max(initial=0.0))
    if both.empty or change == 0:
        return
    if change <= ROUNDING * size:
        yield (f"Numerics: scores differ by at most {change:.2g} of {size:.3g}, as another kind of arithmetic (bfloat16, a "
               "GPU, another version of a library) makes them.")
    elif len(both) > 2 and both["score_a"].corr(both["score_b"]) > 0.9999:
        yield "Scale: scores differ by a factor or a shift alone, which changes no order within a query."
    else:
        yield f"Scores: those of the same documents differ by up to {change:.3g}: another model or other parameters."
