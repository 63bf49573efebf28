"""`book search "why does bread turn brown"`: the pipeline for queries from the command line."""

from collections.abc import Callable, Sequence

import pandas as pd

from helpers.networks.fine_tuning import RankerTraining
from helpers.networks.given_encoder import given
from helpers.systems.given_first_stage import GivenFirstStage
from helpers.systems.given_reranker import GivenReranker
from helpers.systems.listwise_reranker import WarmUp
from helpers.systems.pipeline import Feedback, Pipeline
from helpers.systems.recipe import general_reranker
from helpers.systems.reranking_experiment import Scorer
from helpers.systems.summed_reranker import SummedReranker
from helpers.systems.zero_shot import ZeroShotReranker

RERANKERS: dict[str, Callable[[], Scorer | None]] = {"both": SummedReranker, "base": WarmUp, "minilm": ZeroShotReranker,
                                                     "general": general_reranker, "none": lambda: None}
BM25 = "bm25"
INDENT = "\n" + 31 * " "  # of a snippet below its title
CANDIDATES = 20  # as in Steensland (2021)
FEEDBACK = {"none": None, "documents": Feedback(form=""), "passages": Feedback(pieces=RankerTraining().room, form="")}


def search(queries: Sequence[str], collection: str, unit: str, reranker: str, feedback: str, k: int,
           first_stage: str = BM25) -> pd.DataFrame:
    """The pipeline's answer; see `Pipeline.search`. A re-ranker is one of `RERANKERS`, or a model's folder or hub id; the first
    stage is `bm25`, or such a model."""
    retriever = None if first_stage == BM25 else GivenFirstStage(given(first_stage).spec)
    pipeline = Pipeline(model_of(reranker), FEEDBACK[feedback], CANDIDATES, "max", retriever=retriever)
    return pipeline.search(queries, collection, unit, k)


def model_of(reranker: str) -> Scorer | None:
    """The re-ranker of a name: one of `RERANKERS`, or a model's folder or hub id; None for `none`. BadInput if it is none."""
    return RERANKERS[reranker]() if reranker in RERANKERS else GivenReranker(given(reranker).spec)


def answer(queries: Sequence[str], collection: str, unit: str, reranker: str, feedback: str, k: int, first_stage: str) -> str:
    """The rankings for the queries of a command line."""
    return as_text(search(queries, collection, unit, reranker, feedback, k, first_stage), queries)


def as_text(ranked: pd.DataFrame, queries: Sequence[str]) -> str:
    """The rankings as lines to read; a query without any document says so."""
    blocks = []
    for query in dict.fromkeys(queries):
        mine = ranked[ranked["query"] == query].drop_duplicates("rank")
        lines = [f"{row.rank:3d}  {row.score:8.3f}  {row.doc_id:<16} {row.title}{row.snippet and INDENT}{row.snippet}"
                 for row in mine.itertuples()]
        blocks.append("\n".join([query, *(lines or ["  no document holds a word of this query"])]))
    return "\n\n".join(blocks)
