"""BM25 search: Lucene, as this book calls it, beside bm25s, on the same texts and queries.

The two split texts into terms in their own ways: Lucene's English analyser stems, bm25s by default does not. So they do not rank
alike, and their measures stand beside their times.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from bench import machine
from bench.work import DEPTH, MEASURES, Scale, Work
from helpers.costs.timing import BM25S, BM25S_NUMBA, LUCENE, Prepare, always, interleave
from helpers.data.runs import COLUMNS, ranked
from helpers.data.texts import Texts
from helpers.retrieval import java
from helpers.retrieval.bm25 import K1, B, search


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """Time the searches, from the queries' texts to ranked ids and scores."""
    work = Work(replace(scale, queries=scale.searched))
    times, bed = interleave(contenders(work), rounds, report=True), scale.bed
    runs = {name: bed.per_query(run, MEASURES, list(work.queries["query_id"])) for name, run in times.given.items()}
    return {"contenders": machine.seconds_of(times), "items": len(work.queries), "texts": len(Texts(bed.store.value())),
            "depth": DEPTH, "measures": {name: values.mean().to_dict() for name, values in runs.items()}}


def contenders(work: Work) -> dict[str, Prepare]:
    """Each gives a run of the queries, `DEPTH` texts deep."""
    bed, queries = work.scale.bed, work.queries
    index, texts = bed.index.value(), list(Texts(bed.store.value()))
    ids, bodies = [text.doc_id for text in texts], [f"{text.title}\n{text.body}" for text in texts]
    others = {BM25S: sparse(bodies, "numpy"), BM25S_NUMBA: sparse(bodies, "numba")}
    return {LUCENE: always(lambda: java.call(search, index, queries, K1, B, DEPTH)),
            **{name: always(partial(retrieve, engine, ids, queries)) for name, engine in others.items()}}


def sparse(texts: list[str], backend: str) -> Any:
    """An index of bm25s with Lucene's formula."""
    import bm25s

    engine = bm25s.BM25(k1=K1, b=B, method="lucene", backend=backend)
    engine.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    return engine


def retrieve(engine: Any, ids: list[str], queries: pd.DataFrame) -> pd.DataFrame:
    """A run of bm25s; a text without any term of the query is not in it."""
    import bm25s

    tokens = bm25s.tokenize(list(queries["text"]), stopwords="en", show_progress=False)
    places, scores = engine.retrieve(tokens, k=min(DEPTH, len(ids)), show_progress=False, n_threads=1)
    rows = [(query, ids[place], float(score)) for query, row, values in zip(queries["query_id"], places, scores, strict=True)
            for place, score in zip(row, values, strict=True) if score > 0]
    return ranked(pd.DataFrame(rows, columns=COLUMNS), DEPTH)
