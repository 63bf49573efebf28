"""The query explorer's data: several rankings of the same queries, ready to be shown side by side by a page without a server.

All that is judged or compared is computed here; `book/_static/explorer.js` only filters and shows. The first system is the one
that the others are compared with.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from helpers import paths
from helpers.data.runs import COLUMNS, cut, ranks
from helpers.data.texts import Texts
from helpers.evaluation import measures
from helpers.retrieval.bm25 import K1, B
from helpers.steps import recipe
from helpers.systems.evaluated import Evaluation
from helpers.systems.testbed import Testbed

NEW, GONE = "new", "gone"
GRADES = {0: "irrelevant", 1: "related", 2: "answers in part", 3: "answers fully"}  # of the Almanac, and TREC DL's in brief
BINARY = {0: "irrelevant", 1: "relevant"}
FOLDER = "explorer"  # below the book's static files
DIGITS = 4  # of a score


def collect(bed: Testbed, systems: Mapping[str, Evaluation], labels: pd.DataFrame, depth: int, whole: int) -> dict[str, Any]:
    """Everything that the page shows, as plain values.

    Args:
        bed: texts, queries and judgments.
        systems: evaluations by name; the first is what the others are compared with.
        labels: what queries are filtered by: a row a query in the order of the testbed's, a column a label.
        depth: passages shown of each ranking.
        whole: a collection of at most so many passages is taken along as a whole, to be searched by the page; of a larger one
            only the passages that are shown.
    """
    texts = Texts(bed.store.value())
    places = {name: ranks_of(system.run) for name, system in systems.items()}
    relevant = dict(list(bed.qrels[bed.qrels["relevance"] >= bed.min_relevance].groupby("query_id")))
    grades = {(query, doc): int(grade) for query, doc, grade in bed.qrels.itertuples(index=False)}
    everything = len(texts) <= whole
    seat: dict[str, int] = {text.doc_id: number for number, text in enumerate(texts)} if everything else {}
    classes = outcomes(systems, bed, depth)
    members = [set(found) for found in classes.values()]
    shown = [dict(list(cut(system.run, depth).groupby("query_id"))) for system in systems.values()]
    listed = []
    for (query, text), own in zip(bed.query_frame[["query_id", "text"]].itertuples(index=False), labels.to_numpy(), strict=True):
        found = [places[name].get(query, {}) for name in systems]
        rankings = [ranking(rows.get(query), found, grades, seat) for rows in shown]
        answers = [[seat.setdefault(doc, len(seat)), int(grade), [mine.get(doc) for mine in found]]
                   for doc, grade in best_first(relevant.get(query)) if doc in texts]
        listed.append({"id": query, "text": text, "labels": [str(label) for label in own],
                       "classes": [n for n, found in enumerate(members) if query in found],
                       "rankings": rankings, "relevant": answers})
    return {"depth": depth, "k1": K1, "b": B, "whole": everything, "collection": bed.collection, "unit": bed.unit,
            "systems": [[name, int(system.run.groupby("query_id").size().max())] for name, system in systems.items()],
            "grades": scale(grades.values(),
                            bed.min_relevance), "min_relevance": bed.min_relevance, "labels": list(labels.columns),
            "classes": list(classes), "queries": listed, "passages": [list(texts[doc]) for doc in seat]}


def ranks_of(run: pd.DataFrame) -> dict[str, dict[str, int]]:
    """For each query the 1-based rank of each of its passages."""
    found: dict[str, dict[str, int]] = {}
    for query, doc, rank in zip(run["query_id"], run["doc_id"], ranks(run), strict=True):
        found.setdefault(query, {})[doc] = int(rank)
    return found


def ranking(rows: pd.DataFrame | None, places: list[dict[str, int]], grades: Mapping[tuple[str, str], int],
            seat: dict[str, int]) -> list[list[Any]]:
    """One ranking of one query: place in the list of passages, score, grade or None, movement in each other system.

    Args:
        rows: the passages shown, best first; None if nothing was found.
        places: the ranks of the query's passages in each system, the first one being compared with.
        grades: by query and passage.
        seat: the place of each passage in the list of passages; new ones are added.
    """
    return [] if rows is None else [
        [seat.setdefault(doc, len(seat)), float(f"{score:.{DIGITS}g}"), grades.get((query, doc)),
         [movement(places[0].get(doc), other.get(doc)) for other in places[1:]]]
        for query, doc, score in rows[COLUMNS].itertuples(index=False)]


def movement(before: int | None, after: int | None) -> int | str:
    """The places that a passage gained (negative: lost); `new` if it was nowhere before, `gone` if it is nowhere now."""
    if after is None:
        return GONE
    return NEW if before is None else before - after


def scale(grades: Collection[int], min_relevance: int) -> list[tuple[int, str, str]]:
    """Every grade up to the highest that occurs: with its name, and a sign, so that colour is not all that tells them apart."""
    highest = max(grades, default=0)
    names = BINARY if highest <= 1 else GRADES
    return [(grade, names.get(grade, f"grade {grade}"),
             "✕" if grade <= 0 else "●" if grade == highest else "◐" if grade >= min_relevance else "○")
            for grade in range(min([0, *grades]), highest + 1)]


def best_first(judged: pd.DataFrame | None) -> list[tuple[str, int]]:
    """Judged passages with their grades, the highest first, then by id."""
    if judged is None:
        return []
    ordered = judged.sort_values(["relevance", "doc_id"], ascending=[False, True])
    return list(zip(ordered["doc_id"], ordered["relevance"], strict=True))


def outcomes(systems: Mapping[str, Evaluation], bed: Testbed, depth: int) -> dict[str, list[str]]:
    """The judged queries by what each system did to them, by the reciprocal rank within the passages shown.

    A query may be in several classes, or in none.
    """
    (first, base), *others = systems.items()
    reciprocal = {name: bed.per_query(system.run, [f"RR@{depth}"]).iloc[:, 0] for name, system in systems.items()}
    found: dict[str, pd.Series] = {}
    for name, _ in others:
        change = reciprocal[name] - reciprocal[first]
        found |= {f"{name} helped": change > 0, f"{name} hurt": change < 0}
    rank = measures.first_relevant_rank(base.run, bed.qrels, bed.min_relevance, bed.judged)
    found[f"{first} missed it"] = rank.isna()
    found["no ranking shows it"] = pd.DataFrame(reciprocal).max(axis=1) == 0
    return {name: list(chosen.index[chosen]) for name, chosen in found.items()}


def as_script(data: Mapping[str, Any]) -> str:
    """The data as a script that assigns it to a global: a page opened from the file system may load scripts, but nothing else.

    Everything beyond ASCII, and the characters that mean something to HTML, are escaped: wherever the text ends up, no part of it
    can close an element, end a line of JavaScript or change the encoding.
    """
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return f"window.nrExplorer={text};\n"


def write(data: Mapping[str, Any], name: str) -> tuple[str, int]:
    """Write the data beside the book's static files.

    Args:
        data: of `collect`.
        name: of the file; the same name is written over.

    Returns:
        The file's address as a chapter's page writes it, with a digest so that no browser keeps an older one, and its size.
    """
    script = as_script(data)
    folder = paths.BOOK / "_static" / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"{name}.part"
    draft.write_text(script, encoding="ascii")
    draft.replace(folder / f"{name}.js")
    return f"../_static/{FOLDER}/{name}.js?v={recipe.sha256(script)[:8]}", len(script)
