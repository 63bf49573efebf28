"""Queries and judgments as steps: loaded, joined over splits, sampled with a seed."""

import pandas as pd

from helpers.steps import step


@step(version=1, form="table")
def queries(parts: list, sample: int, seed: int) -> pd.DataFrame:
    """The queries of one or more splits; `sample` of each split drawn with the seed, 0 for all of them.

    The order is the collection's, so that a larger sample of the same seed adds queries without reordering. Asking for
    more queries than there are gives all of them.
    """
    frames = [take(part.load(), sample, seed) for part in parts]
    return pd.concat(frames, ignore_index=True)


@step(version=1, form="table")
def qrels(parts: list) -> pd.DataFrame:
    """The judgments of one or more splits."""
    return pd.concat([part.load() for part in parts], ignore_index=True)


def take(frame: pd.DataFrame, sample: int, seed: int) -> pd.DataFrame:
    """The first `sample` rows of the seed's shuffle, in the frame's own order; all rows for 0."""
    if sample == 0 or sample >= len(frame):
        return frame
    chosen = frame.sample(frac=1, random_state=seed).index[:sample]
    return frame.loc[sorted(chosen)].reset_index(drop=True)


@step(version=1, form="table")
def asked(texts: list) -> pd.DataFrame:
    """Queries as they were typed; their ids are their numbers, from 1."""
    return pd.DataFrame({"query_id": [str(number) for number in range(1, len(texts) + 1)], "text": texts})
