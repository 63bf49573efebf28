"""The query explorer's data: several rankings of the same queries, ready to be shown side by side by a page without a server.

All that is judged or compared is computed here; `book/_static/explorer.js` only filters and shows. A system is compared with the
first one, unless another is named.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from helpers import paths
from helpers.data.runs import cut
from helpers.data.texts import Texts
from helpers.evaluation import measures
from helpers.retrieval.bm25 import K1, B
from helpers.steps import recipe
from helpers.systems.evaluated import Systems
from helpers.systems.testbed import Testbed

NEW, GONE = "new", "gone"
GRADES = {0: "irrelevant", 1: "related", 2: "answers in part", 3: "answers fully"}  # of the Almanac, and TREC DL's in brief
BINARY = {0: "irrelevant", 1: "relevant"}
FOLDER = "explorer"  # below the book's static files
PART = 250  # passages of one file: the first ones come with the page, others when somebody asks for a query that needs them
DIGITS = 4  # of a score


def collect(bed: Testbed, systems: Systems, labels: pd.DataFrame, depth: int, whole: int,
            before: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Everything that the page shows, as plain values.

    Args:
        systems: evaluations by name.
        labels: what queries are filtered by: a row a query in the order of the testbed's, a column a label.
        depth: passages shown of each ranking.
        whole: a collection of at most so many passages is taken along as a whole, to be searched by the page; of a larger one
            only the passages that are shown.
        before: what a system is compared with, where that is not the first one.
    """
    columns = list(systems)
    against = {name: (before or {}).get(name, columns[0]) for name in columns[1:]}
    moved_from = [columns.index(other) for other in against.values()]
    texts = Texts(bed.store.value())
    everything = len(texts) <= whole
    seat: dict[str, int] = {}
    runs = [system.run for system in systems.values()]
    shown = [dict(list(cut(run, depth).groupby("query_id"))) for run in runs]
    places = [{query: dict(zip(docs, range(1, len(docs) + 1), strict=True)) for query, docs in run.groupby("query_id")["doc_id"]}
              for run in runs]
    grades: dict[str, dict[str, int]] = {}  # of each query's passages, the highest first, then by id
    for query, doc, grade in bed.qrels.sort_values(["relevance", "doc_id"], ascending=[False, True]).itertuples(index=False):
        grades.setdefault(query, {})[doc] = int(grade)
    classes = outcomes(systems, bed, depth, against)
    listed = []
    for (query, text), own in zip(bed.query_frame[["query_id", "text"]].itertuples(index=False), labels.to_numpy(), strict=True):
        ranks, judged = [known.get(query, {}) for known in places], grades.get(query, {})
        rankings = [ranking(rows.get(query), ranks, judged, seat, moved_from) for rows in shown]
        answers = [[seat.setdefault(doc, len(seat)), grade, [known.get(doc) for known in ranks]]
                   for doc, grade in judged.items() if grade >= bed.min_relevance and doc in texts]
        listed.append({"id": query, "text": text, "labels": list(map(str, own)), "rankings": rankings, "relevant": answers,
                       "classes": [n for n, members in enumerate(classes.values()) if query in members]})
    for text in texts if everything else ():
        seat.setdefault(text.doc_id, len(seat))
    return {"depth": depth, "k1": K1, "b": B, "whole": everything, "collection": bed.collection, "unit": bed.unit,
            **extremes(listed),
            "systems": [[name, int(run.groupby("query_id").size().max()), place]
                        for name, run, place in zip(systems, runs, [None, *moved_from], strict=True)],
            "grades": scale([grade for judged in grades.values() for grade in judged.values()], bed.min_relevance),
            "min_relevance": bed.min_relevance, "labels": list(labels.columns),
            "classes": list(classes), "queries": listed, "passages": [list(texts[doc]) for doc in seat]}


def extremes(queries: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The query whose first answer the second ranking raises most to the top, which the page shows first, and the one whose first
    answer it moves down most from there."""
    def moved(first: int) -> str:
        """The query with an answer at the top of one of the two rankings that stands furthest down in the other."""
        def furthest(query: Mapping[str, Any]) -> int:
            own = [places for _, _, places in query["relevant"] if len(places) > 1 and places[first] == 1 and places[1 - first]]
            return max((places[1 - first] for places in own), default=0)
        return str(max(queries, key=furthest)["id"])
    return {"helped_most": moved(1), "hurt_most": moved(0)} if queries else {}


def ranking(rows: pd.DataFrame | None, ranks: Sequence[Mapping[str, int]], grades: Mapping[str, int],
            seat: dict[str, int], moved_from: Sequence[int]) -> list[list[Any]]:
    """One ranking of one query: place in the list of passages, score, grade or None, movement in each other system.

    Args:
        rows: the passages shown, best first; None if there are none.
        ranks: of the query's passages in each system; `grades` are theirs.
        seat: the place of each passage in the list of passages; new ones are added.
        moved_from: the place of the system that each but the first is compared with.
    """
    return [] if rows is None else [
        [seat.setdefault(doc, len(seat)), float(f"{score:.{DIGITS}g}"), grades.get(doc),
         [movement(ranks[place].get(doc), other.get(doc)) for place, other in zip(moved_from, ranks[1:], strict=True)]]
        for doc, score in rows[["doc_id", "score"]].itertuples(index=False)]


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


def outcomes(systems: Systems, bed: Testbed, depth: int, against: Mapping[str, str]) -> dict[str, set[str]]:
    """The judged queries by what each system did to them `against` another, by the reciprocal rank within the passages shown.

    A query may be in several classes, or in none.
    """
    reciprocal = pd.DataFrame({name: bed.per_query(system.run, [f"RR@{depth}"]).iloc[:, 0] for name, system in systems.items()})
    first, classes = next(iter(systems)), dict[str, pd.Series]()
    for name, other in against.items():
        change = reciprocal[name] - reciprocal[other]
        classes |= {f"{name} helped": change > 0, f"{name} hurt": change < 0}
    rank = measures.first_relevant_rank(systems[first].run, bed.qrels, bed.min_relevance, bed.judged)
    classes |= {f"{first} missed it": rank.isna(), "no ranking shows it": reciprocal.max(axis=1) == 0}
    return {name: set(chosen.index[chosen]) for name, chosen in classes.items()}


def as_scripts(data: Mapping[str, Any]) -> list[str]:
    """The data as scripts that assign it to a global: a page opened from the file system may load scripts, but nothing else. The
    first holds all but the passages beyond `PART`, of which each other has as many.

    Everything beyond ASCII, and the characters that mean something to HTML, are escaped: no part of it can close an element, end
    a line of JavaScript or change the encoding.
    """
    passages = data.get("passages", [])
    later = [dict(enumerate(passages[start:start + PART], start)) for start in range(PART, len(passages), PART)]
    first = {**data, "passages": passages[:PART], "part": PART, "size": len(passages)}
    return [f"window.nrExplorer={escaped(first)};\nnrExplorer.from=document.currentScript.src;\n",
            *(f"Object.assign(nrExplorer.passages,{escaped(part)});\n" for part in later)]


def escaped(data: Mapping[Any, Any]) -> str:
    """JSON without a character that HTML or JavaScript would take for its own."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def write(data: Mapping[str, Any], name: str) -> tuple[str, int]:
    """Write the data of `collect` beside the book's static files, over what had the same name.

    The first file's address as a chapter's page writes it, with a digest so that no browser keeps an older one, and its size.
    """
    scripts = as_scripts(data)
    folder = paths.BOOK / "_static" / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for number, script in enumerate(scripts):
        (folder / f"{name}{f'-{number}' if number else ''}.js").write_text(script, encoding="ascii")
    return f"../_static/{FOLDER}/{name}.js?v={recipe.sha256(''.join(scripts))[:8]}", len(scripts[0])
