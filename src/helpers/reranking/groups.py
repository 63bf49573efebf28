"""Groups: what a loss compares, a query with some texts and what a bi-encoder says of each.

A group is rows of one query: query_id, window_id, label (1 for a relevant text, which comes first; 0) and teacher, the
bi-encoder's inner product. Texts are read whole, so that their one window is `<doc_id>#0`.
"""

import numpy as np
import pandas as pd

from helpers.steps import step

COLUMNS = ["query_id", "window_id", "label", "teacher"]


@step(version=1, form="table")
def teacher_groups(run: pd.DataFrame, size: int, seed: int) -> pd.DataFrame:
    """Groups without labels, of texts that a bi-encoder ranks for each query.

    A text from each of `size` stretches of the ranking, whose lengths grow by one factor: what is hard to tell apart and what is
    easy. A query with fewer texts than that gives none.

    Args:
        run: the bi-encoder's ranking.
        size: texts of a group.
        seed: of the draws, with a stream for each query.
    """
    rows: list[tuple[str, str, int, float]] = []
    for number, (query, ranking) in enumerate(run.groupby("query_id", sort=False)):
        if len(ranking) < size:
            continue
        drawn = ranking.iloc[stretched(len(ranking), size, np.random.default_rng([seed, number]))]
        rows += [(str(query), f"{doc_id}#0", 0, score) for doc_id, score in drawn[["doc_id", "score"]].itertuples(index=False)]
    return pd.DataFrame(rows, columns=COLUMNS)


def stretched(length: int, size: int, random: np.random.Generator) -> list[int]:
    """A place (from 0) of each stretch of a ranking: of 1 to 60 in four, places 1-2, 3-7, 8-21 and 22-60."""
    ends = np.maximum(np.floor(np.geomspace(1, length, size + 1))[1:].astype(int), np.arange(1, size + 1))
    return [int(random.integers(start, end)) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
