"""How much of a query its relevant passage repeats: what exact match has to go by."""

from pathlib import Path

import pandas as pd

from helpers.data.texts import Texts, relevant_places
from helpers.retrieval import java
from helpers.steps import step


@step(version=1, form="table")
def term_overlap(store: Path, queries: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int) -> pd.DataFrame:
    """For each query the share of its terms, stop words left out and stemmed, that its most similar relevant passage holds.

    Args:
        store: the text store.
        queries: columns query_id, text.
        qrels: their judgments.
        min_relevance: the lowest grade that counts as relevant.

    Returns:
        Columns query_id, share (0 to 1), terms. A query of stop words alone, or without relevant passage, is left out.
    """
    known, texts = relevant_places(store, queries, qrels, min_relevance), Texts(store)
    relevant = qrels[(qrels["relevance"] >= min_relevance) & qrels["query_id"].isin(known)]
    passages = {doc_id: f"{texts[doc_id].title} {texts[doc_id].body}" for doc_id in relevant["doc_id"].unique()
                if doc_id in texts}
    asked = queries[queries["query_id"].isin(known)]
    terms = java.call(analysed, [*asked["text"], *passages.values()])
    of_query = dict(zip(asked["query_id"], terms, strict=False))
    of_passage = dict(zip(passages, terms[len(asked):], strict=True))
    rows = []
    for query, group in relevant.groupby("query_id", sort=False)["doc_id"]:
        if mine := of_query[query]:
            best = max(len(mine & of_passage[doc_id]) for doc_id in group if doc_id in of_passage)
            rows.append((query, best / len(mine), len(mine)))
    return pd.DataFrame(rows, columns=["query_id", "share", "terms"])


def analysed(texts: list[str]) -> list[set[str]]:
    """The distinct terms of each text as the index has them; in the process that has the JVM."""
    from pyserini.analysis import Analyzer, get_lucene_analyzer

    analyzer = Analyzer(get_lucene_analyzer())
    return [set(analyzer.analyze(text)) for text in texts]
