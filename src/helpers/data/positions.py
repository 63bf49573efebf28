"""Where in its document an answer begins: is it early, as Alarfaj (2022, chapter 6) suspects?"""

from pathlib import Path

import pandas as pd

from helpers.data.answers import find, relevant_pairs
from helpers.data.texts import Texts
from helpers.steps import step


@step(version=1, form="table")
def answer_positions(documents: Path, passages: Path, document_qrels: pd.DataFrame, passage_qrels: pd.DataFrame,
                     min_relevance: int) -> pd.DataFrame:
    """The place of the first relevant passage in each relevant document; arguments as of `answers.answer_windows`.

    Returns:
        Columns query_id, doc_id, begins (words of title and body before it), length (its words), words (the document's, title
        included). A passage that stands in no relevant document of its query gives no row.
    """
    texts, parts = Texts(documents), Texts(passages)
    rows: list[tuple[str, str, int, int, int]] = []
    for query, doc_id, passage in relevant_pairs(document_qrels, passage_qrels, min_relevance):
        title, body, piece = texts[doc_id].title.split(), texts[doc_id].body.split(), parts[passage].body.split()
        start = find(body, piece)
        if start is not None:
            rows.append((query, doc_id, len(title) + start, len(piece), len(title) + len(body)))
    places = pd.DataFrame(rows, columns=["query_id", "doc_id", "begins", "length", "words"])
    return places.sort_values("begins", kind="stable").drop_duplicates(["query_id", "doc_id"]).sort_index(ignore_index=True)
