"""Expanded queries as text, for a model that reads: the query with its feedback terms behind it.

Alarfaj (2022, chapter 6) appends the terms as the index holds them, best first: stems in no order of grammar. He suspects that
a model of sentences cannot use them; the other forms put his explanation to the test.
"""

from collections import Counter
from pathlib import Path

import pandas as pd

from helpers.data.runs import cut
from helpers.data.texts import Texts
from helpers.retrieval import java
from helpers.retrieval.lucene import analysed
from helpers.steps import step

FORMS = ("terms", "words", "sentence")


@step(version=1, form="table")
def surface_words(index: Path, weights: pd.DataFrame, run: pd.DataFrame, store: Path, documents: int) -> pd.DataFrame:
    """For every added term the word that most often stands for it in the query's feedback documents: columns query_id, term,
    word.

    Args:
        index: whose terms they are; every index here has the same analyser.
        weights: columns query_id, term, added: the expanded queries.
        run: the run whose first `documents` were trusted; their texts are the store's.
    """
    reader, best = Texts(store), cut(run, documents).groupby("query_id")["doc_id"].agg(list)
    words = {query: Counter(word for doc in docs for word in words_of(f"{reader[doc].title} {reader[doc].body}"))
             for query, docs in best.items()}
    terms = java.call(analysed, sorted({word for counts in words.values() for word in counts}))
    rows = []
    for query, term in weights.loc[weights["added"].astype(bool), ["query_id", "term"]].itertuples(index=False):
        known = [word for word in words[query] if terms[word] == [term]]
        rows.append((query, term, max(known, key=lambda word: (words[query][word], word), default=term)))
    return pd.DataFrame(rows, columns=["query_id", "term", "word"])


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without the punctuation around them."""
    return [word for piece in text.lower().split() if (word := piece.strip(".,;:!?()[]\"'“”‘’—–-"))]


@step(version=1, form="table")
def expanded_texts(queries: pd.DataFrame, weights: pd.DataFrame, form: str, words: pd.DataFrame | None = None) -> pd.DataFrame:
    """The queries with their added terms behind them; ValueError for another form, or without the words that it needs.

    Args:
        weights: columns query_id, term, added, best first.
        form: `terms` as the index holds them (the study's), `words` as the documents write them, or `sentence`: the words in a
            sentence of their own.
        words: columns query_id, term, word, for the last two.
    """
    if form not in FORMS or (form != "terms" and words is None):
        raise ValueError(f"form {form!r}: one of {', '.join(FORMS)}; all but terms need the words")
    added = weights[weights["added"].astype(bool)]
    if words is not None and form != "terms":
        added = added.merge(words, on=["query_id", "term"], how="left").assign(term=lambda rows: rows["word"])
    by_query = added.groupby("query_id")["term"].agg(list)
    texts = [written(text, by_query.get(query, []), form)
             for query, text in zip(queries["query_id"], queries["text"], strict=True)]
    return queries[["query_id"]].assign(text=texts)


def written(query: str, terms: list[str], form: str) -> str:
    """One expanded query."""
    if not terms:
        return query
    if form != "sentence":
        return " ".join([query, *terms])
    listed = terms[0] if len(terms) == 1 else f"{', '.join(terms[:-1])} and {terms[-1]}"
    return f"{query.rstrip('?.! ')}? The answer speaks of {listed}."
