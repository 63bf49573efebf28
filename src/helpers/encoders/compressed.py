"""Vectors in fewer bytes: FAISS's codes (Johnson et al. 2021), and vectors cut short.

| code | what is kept of a vector |
|---|---|
| `SQ8`, `SQ4` | 8 or 4 bits of each dimension (scalar quantisation) |
| `PQ96` | one byte of each of 96 parts, the number of its nearest centroid (product quantisation, Jégou et al. 2011) |
| `PCA192,SQ8` | the 192 principal components, in 8 bits each |
| `first96,Flat` | the first 96 dimensions as they are, to length one again |

Any other text is FAISS's own description of an index, for its `index_factory`.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.runs import COLUMNS, ranked
from helpers.data.texts import Texts
from helpers.encoders.embeddings import PASSAGES, QUERIES
from helpers.encoders.nearest_neighbours import DEPTH, found, one_thread
from helpers.errors import BadInput
from helpers.steps import step

WHOLE = "Flat"  # every dimension in 32 bits: exact search


@step(version=1, form="table")
def compressed_runs(passages: Path, query_vectors: Path, store: Path, queries: pd.DataFrame, codes: list[str],
                    seed: int) -> pd.DataFrame:
    """The best ten passages of each query by every code over the whole real collection: a run with a column `code`."""
    vectors, query_matrix = np.load(passages / PASSAGES), np.load(query_vectors / QUERIES)
    ids = np.array([text.doc_id for text in Texts(store)], dtype=object)
    with one_thread():
        indexes = ((code, compressed(code, vectors, seed)) for code in codes)
        return pd.concat([found(queries, ids, *index.search(query_matrix, DEPTH)[::-1]).assign(code=code)
                          for code, index in indexes], ignore_index=True)


def run_of(runs: pd.DataFrame, code: str) -> pd.DataFrame:
    """The ranked run of one code."""
    return ranked(runs.loc[runs["code"] == code, COLUMNS])


def compressed(code: str, vectors: np.ndarray, seed: int) -> Any:
    """An index of the inner product over vectors, (texts, dimensions), that keeps the code of each; it takes whole queries.

    Raises:
        BadInput: FAISS knows no such code, or it cannot be learned from so few or so short vectors.
    """
    import faiss

    dimensions, cut = vectors.shape[1], re.fullmatch(r"first(\d+),(.+)", code)
    kept = min(int(cut[1]), dimensions) if cut else dimensions
    try:
        index: Any = faiss.index_factory(kept, cut[2] if cut else code, faiss.METRIC_INNER_PRODUCT)
        seeded(index, seed)
        if cut:
            index = faiss.IndexPreTransform(faiss.NormalizationTransform(kept, 2.0), index)
            index.prepend_transform(faiss.RemapDimensionsTransform(dimensions, kept, False))  # type: ignore[arg-type]
        index.train(vectors)
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[-1].split(": ", 1)[-1]  # without the place in FAISS's source
        raise BadInput(f"FAISS makes no code {code!r} of {len(vectors)} vectors of {dimensions} dimensions: {reason}",
                       mend="take other `codes`, such as SQ8") from error
    index.add(vectors)
    return index


def seeded(index: Any, seed: int) -> None:
    """Seed the centroids of product quantisation, and leave out the order of their numbers, which only other searches use."""
    import faiss

    inner: Any = faiss.downcast_index(index.index) if isinstance(index, faiss.IndexPreTransform) else index
    if isinstance(inner, faiss.IndexPQ):
        inner.do_polysemous_training = False  # type: ignore[attr-defined]
        inner.pq.cp.seed, inner.pq.cp.min_points_per_centroid = seed, 1
