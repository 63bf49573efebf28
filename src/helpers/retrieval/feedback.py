"""Pseudo-relevance feedback: the best documents of a run lend their terms to the query (Alarfaj 2022, sections 2.6 and 5.7)."""

import functools
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data.runs import COLUMNS, cut, ranked
from helpers.retrieval import java
from helpers.retrieval.bm25 import search, searcher_of
from helpers.retrieval.expansion_terms import Sizes, expanded, expansion
from helpers.steps import step


@step(version=1, form="table")
def weighted_queries(index: Path, run: pd.DataFrame, queries: pd.DataFrame, documents: int, terms: int, weighting: str,
                     within: Path | None = None) -> pd.DataFrame:
    """Expand every query with the terms that are most informative in its best documents.

    Args:
        index: whose document vectors and counts are used; it holds the run's documents, whole or cut.
        run: a run of documents, best first; usually one that was re-ranked.
        documents: how many documents are trusted (K = 5 in the study).
        terms: how many terms are taken from them (k = 10).
        weighting: of terms, one of `expansion_terms.WEIGHTINGS` (Bo1 in the study).
        within: another index of the same documents, cut: only terms that their cut versions hold are taken.

    Returns:
        Columns query_id, term (as the index analyses it), weight, added (whether the query lacked it), best weight first. A
        query without documents keeps its own terms; one of stop words alone gives no row.
    """
    return java.call(expand, index, cut(run, documents), queries, terms, weighting, within)


def expand(index: Path, best: pd.DataFrame, queries: pd.DataFrame, terms: int, weighting: str,
           within: Path | None = None) -> pd.DataFrame:
    """Expand all queries, in the process that has the JVM."""
    from jnius import autoclass
    from pyserini.index.lucene import LuceneIndexReader

    reader = LuceneIndexReader(str(index))
    shown = None if within is None else LuceneIndexReader(str(within))
    whole, trusted = reader.stats(), best.groupby("query_id")["doc_id"].agg(list)
    counts = functools.cache(lambda doc_id: vector(reader, doc_id, shown))
    term_of = autoclass("org.apache.lucene.index.Term")
    frequency = functools.cache(lambda term: int(reader.reader.totalTermFreq(term_of("contents", term))))
    rows: list[tuple[str, str, float, bool]] = []
    for query, text in queries[["query_id", "text"]].itertuples(index=False):
        feedback: Counter[str] = sum(map(counts, trusted.get(query, [])), Counter())
        own, sizes = reader.analyze(text), Sizes(whole["documents"], whole["total_terms"], feedback.total())
        weights = expanded(own, expansion(feedback, {term: frequency(term) for term in feedback}, sizes, terms, weighting))
        rows.extend((query, term, weight, term not in own)
                    for term, weight in sorted(weights.items(), key=lambda item: (-item[1], item[0])))
    return pd.DataFrame(rows, columns=["query_id", "term", "weight", "added"])


def vector(reader: Any, doc_id: str, shown: Any) -> Counter[str]:
    """A document's analysed terms with their counts; only those that its other version holds too, if there is one."""
    counts = Counter(reader.get_document_vector(doc_id) or {})
    if shown is None:
        return counts
    kept = (shown.get_document_vector(doc_id) or {}).keys()
    return Counter({term: count for term, count in counts.items() if term in kept})


@step(version=1, form="run")
def weighted_run(index: Path, weights: pd.DataFrame, queries: pd.DataFrame, k1: float, b: float, depth: int) -> pd.DataFrame:
    """BM25 with a weight on every (analysed) term of a query: `weights` has columns query_id, term, weight.

    The queries say which, and in which order; one without terms or hits keeps none.
    """
    return java.call(search_weighted, index, weights, list(queries["query_id"]), k1, b, depth)


def search_weighted(index: Path, weights: pd.DataFrame, queries: list[str], k1: float, b: float, depth: int) -> pd.DataFrame:
    """Search all weighted queries, in the process that has the JVM."""
    searcher = searcher_of(index, k1, b)
    rows, by_query = [], dict(tuple(weights.groupby("query_id")))
    for query in filter(by_query.__contains__, queries):
        asked = any_of(dict(by_query[query][["term", "weight"]].itertuples(index=False)))
        rows += [(query, hit.docid, float(hit.score)) for hit in searcher.search(asked, k=depth)]
    return ranked(pd.DataFrame(rows, columns=COLUMNS), depth)


def any_of(weights: Mapping[str, float]) -> Any:
    """Lucene's query for documents with any of the terms, which count by their weights; without a term, for none."""
    from jnius import autoclass
    from pyserini.search.lucene import querybuilder

    term_of, query_of = (autoclass(f"org.apache.lucene.{name}") for name in ("index.Term", "search.TermQuery"))
    builder, should = querybuilder.get_boolean_query_builder(), querybuilder.JBooleanClauseOccur["should"].value
    for term, weight in weights.items():
        builder.add(querybuilder.get_boost_query(query_of(term_of("contents", term)), float(weight)), should)
    return builder.build()


@step(version=1, form="run")
def rm3_run(index: Path, queries: pd.DataFrame, k1: float, b: float, depth: int, documents: int, terms: int,
            original: float) -> pd.DataFrame:
    """BM25 with Lucene's RM3 feedback (Abdul-Jaleel et al. 2004), the reference beside Bo1; the original query weighs 0 to 1."""
    rm3 = {"fb_terms": terms, "fb_docs": documents, "original_query_weight": original}
    return java.call(search, index, queries, k1, b, depth, rm3)
