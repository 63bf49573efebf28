"""One query carried through several systems: the texts that they rank first, with place and score in each ranking."""

from collections.abc import Sequence
from zlib import crc32

import pandas as pd

from helpers.data.runs import ranks
from helpers.data.texts import Texts
from helpers.evaluation.measures import first_relevant_rank
from helpers.pages.fragments import Fragment, Html, badge, cell, explored, table
from helpers.pages.numbers import plain
from helpers.systems.evaluated import Systems
from helpers.systems.testbed import Testbed

SHOWN, WORDS = 3, 25  # first texts of each system; words of a text


def one_query(systems: Systems, bed: Testbed, names: Sequence[str]) -> Fragment:
    """The texts that these systems rank first for one query, in the last one's order; a system over seeds shows its first.

    The query is not chosen for its outcome: `chosen` says how.
    """
    query = chosen(systems, bed, names)
    runs = {name: ranked[ranked["query_id"] == query].assign(rank=ranks).set_index("doc_id")
            for name in names for ranked in [systems[name].run]}
    order = sorted(dict.fromkeys(doc for run in runs.values() for doc in run.index[:SHOWN]),
                   key=lambda doc: runs[names[-1]]["rank"].get(doc, len(bed.qrels)))
    relevant = set(bed.qrels.loc[(bed.qrels["query_id"] == query) & (bed.qrels["relevance"] >= bed.min_relevance), "doc_id"])
    texts = Texts(bed.store.value())
    rows = [[Html(f"{cell(beginning(texts, doc))} {badge('relevant', 'yes').text}") if doc in relevant else beginning(texts, doc),
             *(placed(runs[name], doc) for name in names)] for doc in order]
    text = bed.query_frame.set_index("query_id")["text"][query]
    shown = table(f"“{text}”: place and score in each ranking", ("text", *names), rows)
    return Fragment(f"{shown.text}<p>{explored(query, 'This query in the explorer').text}</p>")


def chosen(systems: Systems, bed: Testbed, names: Sequence[str]) -> str:
    """A query for which the first and the last system have a relevant text among their first ten, at different places, drawn by
    the systems' names, so that pages show different ones; the first of all if there is none."""
    first, last = (first_relevant_rank(systems[name].run, bed.qrels, bed.min_relevance, bed.judged)
                   for name in (names[0], names[-1]))
    differs = first.index[(first != last) & (first <= 10) & (last <= 10)]
    return str(differs[crc32("\n".join(names).encode()) % len(differs)] if len(differs) else first.index[0])


def placed(run: pd.DataFrame, doc: str) -> str:
    """The place and the score; a dash for a text that the system does not have."""
    return f"{run['rank'][doc]}. ({plain(run['score'][doc], 2)})".replace("-", "−") if doc in run.index else "–"


def beginning(texts: Texts, doc: str) -> str:
    """A text's title, if it has one, and its first words."""
    words, title = texts[doc].body.split(), texts[doc].title
    return f"{title}: " * bool(title) + " ".join(words[:WORDS]) + " …" * (len(words) > WORDS)
