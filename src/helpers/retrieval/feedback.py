"""Feedback: which terms the first documents add to a query, weighted queries, and expanded queries as text."""

import functools
import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data.runs import COLUMNS, cut, ranked
from helpers.data.texts import Texts
from helpers.registry import Registry
from helpers.retrieval import java
from helpers.retrieval.bm25 import search, searcher_of
from helpers.retrieval.indexes import analysed
from helpers.steps import step

RM3_WEIGHT = 0.5  # of the original query, Anserini's default

# How informative a term of the feedback documents is, and the query that its best terms expand.
#
#     Bo1 (Amati 2003, section 7.1.2):  inf(t) = log2(1 + λ) + tf log2((1 + λ) / λ),    λ = F / N
#     KL (Carpineto et al. 2001):       inf(t) = p log2(p / q),    p = tf / |feedback|,  q = F / |collection|
#
# tf counts the term in the feedback documents, F in the collection of N documents. Alarfaj (2022, equation 2) prints Bo1 with tf
# for F and without the second logarithm. Neither can be meant, since the first would not tell a rare term from a common one, and
# the second would let a term weigh the less, the more often it occurs; `printed` shows what it would do.

@dataclass(frozen=True)
class Sizes:
    """What a term's counts are compared with."""

    documents: int  # of the collection (N)
    words: int  # of the collection
    trusted: int  # words of the feedback documents


def bo1(feedback: int, collection: int, sizes: Sizes) -> float:
    """Bo1's weight in bits, which grows as the term occurs more often than chance would have it."""
    density = collection / sizes.documents
    return math.log2(1 + density) + feedback * math.log2((1 + density) / density)


def printed(feedback: int, collection: int, sizes: Sizes) -> float:
    """Alarfaj's equation 2, as it stands."""
    density = feedback / sizes.documents
    return math.log2(1 + density) - feedback * density / (1 + density)


def kl(feedback: int, collection: int, sizes: Sizes) -> float:
    """The term's share of the divergence of the feedback documents' words from the collection's; 0 where it is rarer in them."""
    here, anywhere = feedback / sizes.trusted, collection / sizes.words
    return here * math.log2(here / anywhere) if here > anywhere else 0.0


WEIGHTINGS: Registry[Callable[[int, int, Sizes], float]] = Registry("weighting of terms", {
    "Bo1": bo1, "printed": printed, "KL": kl})


def expansion(feedback: Mapping[str, int], collection: Mapping[str, int], sizes: Sizes, terms: int,
              weighting: str = "Bo1") -> dict[str, float]:
    """The most informative terms, most informative first, ties in the order of the alphabet, with their weights from 0 to 1.

    A weight is the informativeness over its upper bound: that of a term which occurs as often as the best one in the feedback
    documents and nowhere else (the parameter-free form; Amati 2003, section 7.1.3, and Terrier). What tells nothing is left out.
    Both counts are by term: how often it occurs in the feedback documents, and in the collection, at least as often.
    """
    of = WEIGHTINGS[weighting]
    weights = {term: of(count, collection[term], sizes) for term, count in feedback.items()}
    best = [term for term in sorted(weights, key=lambda term: (-weights[term], term))[:terms] if weights[term] > 0]
    bound = of(feedback[best[0]], feedback[best[0]], sizes) if best else 1.0
    return {term: weights[term] / bound for term in best}


def expanded(query: list[str], added: Mapping[str, float]) -> dict[str, float]:
    """The weights of the expanded query: the original terms' counts over the largest of them, plus the added terms' weights."""
    counts = Counter(query)
    weights = {term: count / max(counts.values()) for term, count in counts.items()}
    for term, weight in added.items():
        weights[term] = weights.get(term, 0.0) + weight
    return weights


@step(version=1, form="table")
def weighted_queries(index: Path, run: pd.DataFrame, queries: pd.DataFrame, documents: int, terms: int, weighting: str,
                     within: Path | None, min_documents: int) -> pd.DataFrame:
    """Expand every query with the terms that are most informative in its best documents.

    Args:
        index: whose document vectors and counts are used; it holds the run's documents, whole or cut.
        run: a run of documents, best first; usually one that was re-ranked.
        documents: how many documents are trusted (K = 5 in the study).
        terms: how many terms are taken from them (k = 10).
        weighting: of terms, one of `WEIGHTINGS` (Bo1 in the study).
        within: another index of the same documents, cut: only terms that their cut versions hold are taken.
        min_documents: how many of the trusted documents a term must occur in, unless the query has it (Terrier's
            `expansion.mindocuments`, 2 there by default).

    Returns:
        Columns query_id, term (as the index analyses it), weight, added (whether the query lacked it) and best (whether it is one
        of the most informative), best weight first. A query without documents keeps its own terms; one of stop words alone gives
        no row.
    """
    return java.call(expand, index, cut(run, documents), queries, terms, weighting, within, min_documents)


def expand(index: Path, best: pd.DataFrame, queries: pd.DataFrame, terms: int, weighting: str, within: Path | None,
           min_documents: int) -> pd.DataFrame:
    """Expand all queries, in the process that has the JVM."""
    from jnius import autoclass
    from pyserini.index.lucene import LuceneIndexReader

    reader = LuceneIndexReader(str(index))
    shown = None if within is None else LuceneIndexReader(str(within))
    whole, trusted = reader.stats(), best.groupby("query_id")["doc_id"].agg(list)
    term_of = autoclass("org.apache.lucene.index.Term")
    frequency = functools.cache(lambda term: int(reader.reader.totalTermFreq(term_of("contents", term))))

    @functools.cache
    def counts(doc_id: str) -> Counter[str]:
        """A document's analysed terms with their counts; only those that its other version holds too, if there is one."""
        own = reader.get_document_vector(doc_id) or {}
        kept = own if shown is None else shown.get_document_vector(doc_id) or {}
        return Counter({term: count for term, count in own.items() if term in kept})

    rows: list[tuple[str, str, float, bool, bool]] = []
    for query, text in queries[["query_id", "text"]].itertuples(index=False):
        vectors, own = [counts(doc) for doc in trusted.get(query, [])], reader.analyze(text)
        sizes = Sizes(whole["documents"], whole["total_terms"], sum(vector.total() for vector in vectors))
        shared = common(vectors, own, min_documents)
        added = expansion(shared, {term: frequency(term) for term in shared}, sizes, terms, weighting)
        rows.extend((query, term, weight, term not in own, term in added)
                    for term, weight in sorted(expanded(own, added).items(), key=lambda item: (-item[1], item[0])))
    return pd.DataFrame(rows, columns=["query_id", "term", "weight", "added", "best"])


def common(vectors: Sequence[Mapping[str, int]], query: Collection[str], least: int) -> dict[str, int]:
    """How often each term occurs in some documents (their terms with counts): those of the query, and those that at least so many
    of the documents hold."""
    holding = Counter(term for vector in vectors for term in vector)
    return {term: sum(vector.get(term, 0) for vector in vectors) for term, documents in holding.items()
            if documents >= least or term in query}


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


# The first stage of Steensland's application (2021, section 4.2): all documents with any of the query's words, not ranked.

@step(version=1, form="table")
def or_matches(index: Path, queries: pd.DataFrame) -> pd.DataFrame:
    """How many documents an index returns for the OR of each query's terms: columns query_id, documents, of (all it has)."""
    counts, _, everything = java.call(counted, index, list(queries["text"]))
    return pd.DataFrame({"query_id": queries["query_id"], "documents": counts, "of": everything})


def counted(index: Path, texts: list[str]) -> tuple[list[int], float, int]:
    """Documents of each text, milliseconds a text, and all documents; in the process that has the JVM."""
    from jnius import autoclass
    from pyserini.index.lucene import LuceneIndexReader

    reader = LuceneIndexReader(str(index))
    searcher = autoclass("org.apache.lucene.search.IndexSearcher")(reader.reader)
    started = time.perf_counter()
    counts = [int(searcher.count(any_of(dict.fromkeys(reader.analyze(text), 1.0)))) for text in texts]
    return counts, 1000 * (time.perf_counter() - started) / max(1, len(texts)), int(reader.reader.numDocs())


# Expanded queries as text, for a model that reads: the query with its feedback terms behind it.
#
# Alarfaj (2022, chapter 6) appends the terms as the index holds them, best first, and his example repeats the query's own: stems
# in no order of grammar. He suspects that a model of sentences cannot use them; the other forms put his explanation to the test.

FORMS = ("best", "words", "sentence")


@step(version=1, form="table")
def surface_words(index: Path, weights: pd.DataFrame, run: pd.DataFrame, store: Path, documents: int) -> pd.DataFrame:
    """For every added term the word that most often stands for it in the query's feedback documents: query_id, term, word.

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
        weights: columns query_id, term, added, best first; for `best` that column, too.
        form: `best`: all of the most informative terms as the index holds them, the query's own among them (the study's);
            `words`: those that the query lacks, as the documents write them; or `sentence`: these in a sentence of their own.
        words: columns query_id, term, word, for the last two.
    """
    if form not in FORMS or (form != "best" and words is None):
        raise ValueError(f"form {form!r}: one of {', '.join(FORMS)}; words and sentence need the words")
    added = weights[weights["best" if form == "best" else "added"].astype(bool)]
    if words is not None and form != "best":
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
