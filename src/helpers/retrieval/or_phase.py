"""The first stage of Steensland's application (2021, section 4.2): all documents with any of the query's words, not ranked."""

import time
from pathlib import Path

import pandas as pd

from helpers.retrieval import java
from helpers.retrieval.feedback import any_of
from helpers.steps import step


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
