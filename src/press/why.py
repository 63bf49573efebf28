"""`book why A B`: why two TREC runs of one system differ, from the most to the least telling cause; headers are compared, too."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data.runs import as_written, read_trec
from helpers.pages import carried

ROUNDING, TOP = 1e-2, 10  # relative: bfloat16 keeps eight bits, so scores of one network may differ by as much; first documents
SENTENCES = {"Documents": "{n} of {all} queries have others, {one!r} among them; the first {top} of {head} are alike.",
             "Ties": "{n} queries, {one!r} among them, list documents of equal scores in another order; tools that break ties by "
                     "place or by name rank these otherwise.",
             "Order": "{n} queries have the same documents in another order without ties, in {head} below the first {top} alone."}


def why(first: Path, second: Path) -> list[str]:
    """What differs between two runs, a sentence a cause; one sentence alone if they are equal."""
    a, b = read_trec(first), read_trec(second)
    ours, theirs = lists(a), lists(b)
    causes = [f"Queries: {len(more)} are in the {name} alone, such as {min(more)}; means are over other queries, or one run has "
              "no hit there." for name, more in (("first", ours.keys() - theirs), ("second", theirs.keys() - ours)) if more]
    left, right = ({name: text for name, text in flat(carried.read(file)).items()
                    if name.partition(",")[0] not in ("tag", "resources")} for file in (first, second))
    if bool(left) != bool(right):
        causes.append("Metadata: one run has no header, so versions, parameters and numerics are not known.")
        left = right
    causes += [f"Metadata: {name} is {left.get(name, 'not known')} in the first, {right.get(name, 'not known')} in the second."
               for name in sorted({*left, *right}) if left.get(name) != right.get(name)]
    shared = [query for query in ours if query in theirs]
    if other := [query for query in shared if len(ours[query]) != len(theirs[query])]:
        causes.append(f"Truncation: lists of {len(other)} of {len(shared)} queries have other lengths; recall and average "
                      "precision depend on them.")
    tied = {query for run in (a, b) for query, scores in run.groupby("query_id")["score"] if scores.duplicated().any()}
    written = [lists(as_written(file).sort_values("score", ascending=False, kind="stable")) for file in (first, second)]
    moved: dict[str, list[str]] = {kind: [] for kind in SENTENCES}
    for query in shared:  # as far as both lists go; where the tie rule makes them one, as their files have them
        depth = min(len(ours[query]), len(theirs[query]))
        one, two = ours[query][:depth], theirs[query][:depth]
        if one != two or depth == len(ours[query]) == len(theirs[query]) and written[0][query] != written[1][query]:
            moved["Documents" if set(one) != set(two) else "Ties" if query in tied else "Order"].append(query)
    causes += [f"{kind}: " + SENTENCES[kind].format(n=len(queries), all=len(shared), one=queries[0], top=TOP, head=sum(
        ours[query][:TOP] == theirs[query][:TOP] for query in queries)) for kind, queries in moved.items() if queries]
    causes += of_scores(a.merge(b, on=["query_id", "doc_id"], suffixes=("_a", "_b")))
    return causes or ["The runs are equal: queries, documents, order and scores."]


def lists(run: pd.DataFrame) -> dict[str, list[str]]:
    """The documents of each query, in their order."""
    return {str(query): list(documents) for query, documents in run.groupby("query_id", sort=False)["doc_id"]}


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
