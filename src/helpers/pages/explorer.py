"""The query explorer's data: several rankings of the same queries, ready to be shown side by side by a page without a server;
and what its chapter shows: the page's place and data, and some of the queries as plain tables.

All that is judged or compared is computed here; `book/_static/explorer.js` only filters and shows.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from helpers import paths
from helpers.data.answer_types import LABEL, typed
from helpers.data.texts import Texts
from helpers.evaluation import measures
from helpers.pages import page
from helpers.pages.fragments import Fragment, Html, cell, count, table
from helpers.retrieval.bm25 import K1, B
from helpers.steps import recipe
from helpers.systems.evaluated import Systems
from helpers.systems.testbed import Testbed

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
    lists = [{query: list(zip(own["doc_id"], own["score"], strict=True)) for query, own in run.groupby("query_id")}
             for run in runs]
    places = [{query: {doc: place for place, (doc, _) in enumerate(own, start=1)} for query, own in known.items()}
              for known in lists]
    judgments = bed.qrels.sort_values(["relevance", "doc_id"], ascending=[False, True]).groupby("query_id")  # the highest first
    grades = {query: dict(zip(own["doc_id"], own["relevance"].tolist(), strict=True)) for query, own in judgments}
    classes = outcomes(systems, bed, depth, against)
    listed = []
    for (query, text), own in zip(bed.query_frame[["query_id", "text"]].itertuples(index=False), labels.to_numpy(), strict=True):
        ranks, judged = [known.get(query, {}) for known in places], grades.get(query, {})
        rankings = [ranking(known.get(query, [])[:depth], ranks, judged, seat, moved_from) for known in lists]
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
    def furthest(query: Mapping[str, Any], first: int) -> int:
        """How far down an answer at the top of one of the two rankings stands in the other."""
        own = [places for _, _, places in query["relevant"] if len(places) > 1 and places[first] == 1 and places[1 - first]]
        return max((places[1 - first] for places in own), default=0)
    return {name: str(max(queries, key=lambda query: furthest(query, first))["id"])
            for name, first in (("helped_most", 1), ("hurt_most", 0)) if queries}


def ranking(shown: Sequence[tuple[str, float]], ranks: Sequence[Mapping[str, int]], grades: Mapping[str, int],
            seat: dict[str, int], moved_from: Sequence[int]) -> list[list[Any]]:
    """One ranking of one query: place in the list of passages, score, grade or None, movement in each other system.

    `shown` are passages with their scores, best first; `ranks` those of the query's passages in each system; `seat` has
    the place of each passage in the list of passages, and gets new ones; each system but the first `moved_from` another's place.
    """
    return [[seat.setdefault(doc, len(seat)), float(f"{score:.{DIGITS}g}"), grades.get(doc),
             ["gone" if after is None else "new" if before is None else before - after
              for place, other in zip(moved_from, ranks[1:], strict=True)
              for before, after in [(ranks[place].get(doc), other.get(doc))]]] for doc, score in shown]


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


FIRST, SECOND, THIRD, DENSE = "BM25", "re-ranking", "pairs", "dense search"  # names of the rankings
OUTCOME = "outcome"  # how the page's address names a class of queries
WORDS_SHOWN, SHOWN = 14, 2  # of a passage in a table; passages of a ranking on the front page
ASSETS = "../_static"  # as seen from a chapter's page


def labels(bed: Testbed) -> pd.DataFrame:
    """What queries are filtered by: the collection's answer types, or those by the rules, and its styles if it has any."""
    frame = bed.query_frame
    columns = {"answer type": frame[LABEL] if LABEL in frame else typed(frame).to_numpy()}
    if "style" in frame:
        columns["style"] = frame["style"]
    return pd.DataFrame(columns, index=frame.index)


def show(content: Mapping[str, Any], systems: Systems) -> Fragment:
    """The explorer: its data written beside the book's static files, and the place where the page builds it.

    What the systems were computed from names the file, so that a variant has its own.
    """
    sources = [system.source.key for system in systems.values()]
    address, size = write(content, recipe.sha256(recipe.canonical([sources, content["depth"], content["whole"]]))[:10])
    scripts = "".join(f'<script defer src="{escape(script)}"></script>' for script in (
        address, f"{ASSETS}/explorer_bm25.js", f"{ASSETS}/explorer.js"))
    notice = "The explorer needs JavaScript. Some of its queries stand further below as plain tables."
    return Fragment(f'<link rel="stylesheet" href="{ASSETS}/explorer.css"><div id="nr-explorer" data-bytes="{size}">'
                    f"<noscript><p>{notice}</p></noscript></div>{scripts}", data={"explored": hero(content)})


def hero(content: Mapping[str, Any]) -> dict[str, Any]:
    """What the front page shows, the first query's first passages in two rankings and the ranks of its answer in all; and by name
    the grades of the first passages in these rankings, a text of digits for each query, zero for what nobody judged."""
    query = next(query for query in content["queries"] if query["id"] == content["helped_most"])
    signs = {grade: f"{sign} {name}" for grade, name, sign in content["grades"]}
    columns = [[name, [[*content["passages"][seat][1:], signs.get(grade, "")] for seat, _, grade, _ in ranking[:SHOWN]]]
               for name, ranking in list(zip(names_of(content), query["rankings"], strict=True))[:2]]
    ranks = next(([place for place in places if place] for _, _, places in query["relevant"] if any(places)), [])
    return {"id": query["id"], "text": query["text"], "ranks": ranks, "columns": columns, "hurt_most": content["hurt_most"],
            "whole": content["whole"], "queries": len(content["queries"]), "systems": names_of(content),
            "min_relevance": content["min_relevance"],
            "grades": {name: ["".join(str(max(0, grade or 0)) for _, _, grade, _ in query["rankings"][number])
                              for query in content["queries"]] for number, name in enumerate(names_of(content)[:2])}}


def examples(content: Mapping[str, Any], shown: int) -> Fragment:
    """Some queries as plain tables, the first passages of every ranking, with links into the explorer: where each later stage
    gains and loses most, and what only dense search finds."""
    queries = {name: [query for query in content["queries"] if number in query["classes"]]
               for number, name in enumerate(content["classes"])}
    chosen: dict[str, Mapping[str, Any] | None] = {}
    for name, before in ((SECOND, FIRST), (THIRD, SECOND)):
        gain = lambda query, name=name, before=before: reciprocal(content, query, name) - reciprocal(content, query, before)
        chosen[f"The largest gain by {name}"] = max(queries.get(f"{name} helped", []), key=gain, default=None)
        chosen[f"The largest loss by {name}"] = min(queries.get(f"{name} hurt", []), key=gain, default=None)
    missed = [query for query in queries[f"{FIRST} missed it"] if reciprocal(content, query, DENSE) == 1]
    chosen[f"{FIRST} misses it, {DENSE} puts it first"] = next(iter(missed), None)
    parts = []
    for title, query in ((title, query) for title, query in chosen.items() if query is not None):
        rows = [[rank + 1, *(passage_cell(content, ranking[rank], number) if rank < len(ranking) else ""
                             for number, ranking in enumerate(query["rankings"]))] for rank in range(shown)]
        told = table(f"{title}: {query['text']}", ("rank", *names_of(content)), rows, numeric_from=9).text
        parts.append(f"{told}<p>{link('show it in the explorer', {'q': query['id']})}</p>")
    return Fragment("\n".join(parts))


def reciprocal(content: Mapping[str, Any], query: Mapping[str, Any], system: str) -> float:
    """The reciprocal rank of a query within the passages that the page shows."""
    names = names_of(content)
    answers = (rank for rank, (_, _, grade, _) in enumerate(query["rankings"][names.index(system)], start=1)
               if grade is not None and grade >= content["min_relevance"])
    return 1 / next(answers, float("inf"))


def names_of(content: Mapping[str, Any]) -> list[str]:
    """The systems, in the order of their columns."""
    return [name for name, *_ in content["systems"]]


def passage_cell(content: Mapping[str, Any], row: list[Any], system: int) -> Html:
    """A passage in a table: its title, its beginning, its grade, and how far it moved in that system."""
    seat, _, grade, moves = row
    _, title, body = content["passages"][seat]
    names = {grade: f"{sign} {name}" for grade, name, sign in content["grades"]}
    notes = [names.get(grade, ""), moved(moves[system - 1]) if system else ""]
    beginning = " ".join(body.split()[:WORDS_SHOWN]) + " …"
    return Html(f"<b>{cell(title)}</b> {cell(beginning)}<br><small>{cell(', '.join(filter(None, notes)))}</small>")


def moved(places: int | str) -> str:
    """A movement as the page writes it."""
    if isinstance(places, str):
        return places
    return f"▲{places}" if places > 0 else f"▼{-places}" if places < 0 else "="


def by_label(content: Mapping[str, Any]) -> Fragment:
    """How many queries of each answer type and style each outcome has; every number leads to these queries."""
    rows = []
    for place, label in enumerate(content["labels"]):
        for value in sorted({query["labels"][place] for query in content["queries"]}):
            own = [query for query in content["queries"] if query["labels"][place] == value]
            cells = [(len(own), {label: value})]
            cells += [(sum(number in query["classes"] for query in own), {label: value, OUTCOME: name})
                      for number, name in enumerate(content["classes"])]
            rows.append([value, *(Html(link(count(size), filters)) if size else count(size) for size, filters in cells)])
    return page.show_table(f"Queries by {' and '.join(content['labels'])}, and what became of them",
                           ("kind", "queries", *content["classes"]), rows)


def link(text: str, shown: Mapping[str, str]) -> str:
    """A link to the explorer, which then shows what the names and values of its address say."""
    return f'<a href="#nr-explorer" data-explore="{escape(urlencode(shown))}">{escape(text)}</a>'
