"""What the chapter *Query explorer* shows: its page's place and data, and some of its queries as plain tables."""

from collections.abc import Mapping
from html import escape
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from helpers.data.answer_types import LABEL, typed
from helpers.pages import explorer as collected
from helpers.pages import page
from helpers.pages.fragments import Fragment, Html, cell, table
from helpers.pages.numbers import count, plain
from helpers.steps import recipe
from helpers.systems.evaluated import Systems
from helpers.systems.testbed import Testbed

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
    address, size = collected.write(content, recipe.sha256(recipe.canonical([sources, content["depth"], content["whole"]]))[:10])
    scripts = "".join(f'<script defer src="{escape(script)}"></script>' for script in (
        address, f"{ASSETS}/explorer_bm25.js", f"{ASSETS}/explorer.js"))
    notice = "The explorer needs JavaScript. Some of its queries stand further below as plain tables."
    return Fragment(f'<link rel="stylesheet" href="{ASSETS}/explorer.css"><div id="nr-explorer" data-bytes="{size}">'
                    f"<noscript><p>{notice}</p></noscript></div>{scripts}", data={"explored": hero(content)})


def hero(content: Mapping[str, Any]) -> dict[str, Any]:
    """What the front page shows: the first query's first passages in two rankings, and the ranks of its answer in all."""
    query = next(query for query in content["queries"] if query["id"] == content["helped_most"])
    signs = {grade: f"{sign} {name}" for grade, name, sign in content["grades"]}
    columns = [[name, [[*content["passages"][seat][1:], signs.get(grade, "")] for seat, _, grade, _ in ranking[:SHOWN]]]
               for name, ranking in list(zip(names_of(content), query["rankings"], strict=True))[:2]]
    ranks = next(([place for place in places if place] for _, _, places in query["relevant"] if any(places)), [])
    return {"id": query["id"], "text": query["text"], "ranks": ranks, "columns": columns, "hurt_most": content["hurt_most"],
            "whole": content["whole"], "queries": len(content["queries"]), "systems": names_of(content)}


def scope(content: Mapping[str, Any]) -> Fragment:
    """How much there is to explore, and whether it holds the third stage."""
    summary = (f"{count(len(content['queries']))} test queries, the first {count(content['depth'])} passages of each ranking, "
               f"{count(len(content['passages']))} passages.")
    own = ("That is the whole collection: a query of your own is ranked by BM25 in the browser." if content["whole"] else
           "Those are the passages that some ranking shows; the collection is too large to search it in the browser.")
    now, *later = map(len, collected.as_scripts(content))
    third = "" if THIRD in names_of(content) else "This run has no third stage: its parameter `first` is zero."
    return page.prose(summary, third, own, f"The page loads {plain(now / 2**20, 1)} MiB at once, and "
                      f"{plain(sum(later) / 2**20, 1)} MiB of passages as they are asked for.")


def examples(content: Mapping[str, Any], shown: int) -> Fragment:
    """Some queries as plain tables: where each later stage gains and loses most, and what only dense search finds."""
    queries = {name: [query for query in content["queries"] if number in query["classes"]]
               for number, name in enumerate(content["classes"])}
    chosen: dict[str, Mapping[str, Any] | None] = {}
    for name, before in ((SECOND, FIRST), (THIRD, SECOND)):
        gain = lambda query, name=name, before=before: reciprocal(content, query, name) - reciprocal(content, query, before)
        chosen[f"The largest gain by {name}"] = max(queries.get(f"{name} helped", []), key=gain, default=None)
        chosen[f"The largest loss by {name}"] = min(queries.get(f"{name} hurt", []), key=gain, default=None)
    missed = [query for query in queries[f"{FIRST} missed it"] if reciprocal(content, query, DENSE) == 1]
    chosen[f"{FIRST} misses it, {DENSE} puts it first"] = next(iter(missed), None)
    parts = [example(content, query, title, shown) for title, query in chosen.items() if query is not None]
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


def example(content: Mapping[str, Any], query: Mapping[str, Any], title: str, shown: int) -> str:
    """The first passages of one query in every ranking, as a table with a link into the explorer."""
    names = names_of(content)
    rows = [[rank + 1, *(passage_cell(content, ranking[rank], number) if rank < len(ranking) else ""
                         for number, ranking in enumerate(query["rankings"]))] for rank in range(shown)]
    caption = f"{title}: {query['text']}"
    leading = link("show it in the explorer", {"q": query["id"]})
    return f"{table(caption, ('rank', *names), rows, numeric_from=9).text}<p>{leading}</p>"


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
