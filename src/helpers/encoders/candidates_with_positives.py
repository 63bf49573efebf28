"""The candidates that a bi-encoder's training passages are drawn from: a run, and what the judgments add to it."""

from pathlib import Path

import pandas as pd

from helpers.data.runs import COLUMNS, cut
from helpers.data.texts import Texts
from helpers.steps import step


@step(version=1, form="run")
def candidates_with_positives(run: pd.DataFrame, qrels: pd.DataFrame, store: Path, candidates: int,
                              min_relevance: int) -> pd.DataFrame:
    """The first candidates of each query, and after them its relevant passages that the run did not return and the store has.

    Negatives come from a run, but positives from the judgments (David 2020, section 3.3): a query whose relevant passage BM25
    misses is what an encoder has to learn. A query without any candidates is left out: it has no negative.
    """
    top, texts = cut(run, candidates), Texts(store)
    lowest = top.groupby("query_id", sort=False)["score"].min()
    relevant = qrels[(qrels["relevance"] >= min_relevance) & qrels["query_id"].isin(set(lowest.index))]
    known = set(map(tuple, top[["query_id", "doc_id"]].to_numpy()))
    missed = [(query, doc_id, lowest[query] - 1.0) for query, doc_id in relevant[["query_id", "doc_id"]].itertuples(index=False)
              if (query, doc_id) not in known and doc_id in texts]
    together = pd.concat([top, pd.DataFrame(missed, columns=COLUMNS).astype({"score": float})], ignore_index=True)
    return together.loc[pd.Series(pd.factorize(together["query_id"])[0]).sort_values(kind="stable").index].reset_index(drop=True)
