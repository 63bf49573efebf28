"""Queries and judgments as steps: loaded, joined over splits, sampled with a seed."""

import pandas as pd

from helpers.errors import BadInput
from helpers.steps import step


@step(version=1, form="table")
def queries(parts: list, sample: int, seed: int, answer_types: list | None = None) -> pd.DataFrame:
    """The queries of one or more splits; `sample` of each split drawn with the seed, 0 for all of them.

    The order is the collection's, so that a larger sample of the same seed adds queries without reordering. Asking for
    more queries than there are gives all of them. With `answer_types`, only queries that carry one of these labels.

    Raises:
        BadInput: if types are wanted of queries without labels, or none of the queries has one of them.
    """
    frames = [take(typed(part.load(), answer_types), sample, seed) for part in parts]
    return pd.concat(frames, ignore_index=True)


@step(version=1, form="table")
def qrels(parts: list) -> pd.DataFrame:
    """The judgments of one or more splits."""
    return pd.concat([part.load() for part in parts], ignore_index=True)


def typed(frame: pd.DataFrame, answer_types: list | None) -> pd.DataFrame:
    """The queries with one of the answer types; all of them for None."""
    if answer_types is None:
        return frame
    labelled = frame["answer_type"] if "answer_type" in frame else pd.Series("", index=frame.index)
    kept = frame[labelled.isin(answer_types)].reset_index(drop=True)
    if kept.empty:
        raise BadInput(f"no query has an answer type of {', '.join(answer_types)}",
                       mend="use a collection whose queries are labelled, or give no types")
    return kept


def take(frame: pd.DataFrame, sample: int, seed: int) -> pd.DataFrame:
    """The first `sample` rows of the seed's shuffle, in the frame's own order; all rows for 0."""
    if sample == 0 or sample >= len(frame):
        return frame
    chosen = frame.sample(frac=1, random_state=seed).index[:sample]
    return frame.loc[sorted(chosen)].reset_index(drop=True)


@step(version=1, form="table")
def adhoc_queries(texts: list) -> pd.DataFrame:
    """Queries as they were typed; their ids are their numbers, from 1."""
    return pd.DataFrame({"query_id": [str(number) for number in range(1, len(texts) + 1)], "text": texts})
