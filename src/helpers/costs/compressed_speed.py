"""What vectors in fewer bytes cost and keep: memory, time of a search and recall, on one thread."""

import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.costs.search_speed import rates
from helpers.costs.timing import clocked
from helpers.encoders.compressed import WHOLE, compressed
from helpers.encoders.embeddings import PASSAGES, QUERIES
from helpers.encoders.nearest_neighbours import NO_SETTING, neighbours, one_thread, recall
from helpers.steps import step


@step(version=1, form="table", timing=True)
def compressed_speed(passages: Path, query_vectors: Path, codes: list[str], timed: int, rounds: int, seed: int) -> pd.DataFrame:
    """Recall, size and speed of every code over the whole real collection, exact search first.

    Returns:
        A row a code: `recall` of the exact best ten; `bytes` of a vector, apart from what all share; `build`, the seconds of
        learning the code and of encoding all vectors; queries a second, `alone` and `together`, as in `search_speed`.
    """
    vectors, queries = np.load(passages / PASSAGES), np.load(query_vectors / QUERIES)
    names = list(dict.fromkeys([WHOLE, *codes]))
    with one_thread():
        timings = {code: clocked(partial(compressed, code, vectors, seed), time.thread_time) for code in names}
        built = {code: index for code, (_, index) in timings.items()}
        truth = neighbours(built[WHOLE], WHOLE, NO_SETTING, queries)[0]
        speeds = rates(built, [(code, NO_SETTING) for code in names], queries, timed, rounds)
        return pd.DataFrame([
            {"code": code, "recall": float(recall(neighbours(index, code, NO_SETTING, queries)[0], truth).mean()),
             "bytes": int(index.sa_code_size()), "build": timings[code][0], **speeds[code, NO_SETTING]}
            for code, index in built.items()])
