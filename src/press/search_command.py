"""`book search "why does bread turn brown"`: the pipeline for queries from the command line; and `book measure --reranker base
--collection /a/folder`: given re-rankers on judged queries, without training."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data.collection import check_qrels
from helpers.data.elsewhere import external_run, without_same_id
from helpers.data.texts import Texts
from helpers.errors import BadInput
from helpers.evaluation.pools import SHARE, are_pooled
from helpers.networks.encoder import given
from helpers.networks.fine_tuning import RankerTraining
from helpers.pages.fragments import interval, p_value, plain, with_ends
from helpers.pages.page import NOT_ALL
from helpers.reranking.aggregation import reranked
from helpers.retrieval.bm25 import K1, B
from helpers.systems.evaluated import Evaluation, Scorer, evaluate
from helpers.systems.first_stages import GivenFirstStage
from helpers.systems.pipeline import Feedback, Pipeline
from helpers.systems.testbed import SearchTestbed
from helpers.systems.zero_shot import GivenReranker
from press.rerankers import RERANKERS, named

BM25, LABEL = "bm25", "BM25"  # the first stage as one asks for it, and as it is shown
MEASURES = ("nDCG@10", "RR@10", SHARE)
INDENT = "\n" + 31 * " "  # of a snippet below its title
CANDIDATES = 20  # as in Steensland (2021)
FEEDBACK = {"none": None, "documents": Feedback(form=""), "passages": Feedback(pieces=RankerTraining().room, form="")}


def search(queries: Sequence[str], collection: str, unit: str, reranker: str, feedback: str, k: int,
           first_stage: str = BM25) -> pd.DataFrame:
    """The pipeline's answer; see `Pipeline.search` and `model_of`. The first stage is `bm25`, or a model's folder or hub id."""
    retriever = None if first_stage == BM25 else GivenFirstStage(given(first_stage).spec)
    pipeline = Pipeline(model_of(reranker), FEEDBACK[feedback], CANDIDATES, "max", retriever=retriever)
    return pipeline.search(queries, collection, unit, k)


def model_of(reranker: str) -> Scorer | None:
    """The re-ranker of a name: one of `RERANKERS`, or a model's folder or hub id; None for `none`. BadInput if it is none."""
    return RERANKERS[reranker].made() if reranker in RERANKERS else GivenReranker(given(reranker).spec)


def answer(queries: Sequence[str], **options: Any) -> str:
    """The rankings for the queries of a command line, by the options of `search`, and what their scores are."""
    reranker, first_stage = options["reranker"], options["first_stage"]
    retrieved = "BM25" if first_stage == BM25 or options["feedback"] != "none" else "the encoder's similarity of query and text"
    of_window = f"of a document's best window, {named(reranker, 'as the model gives it').score}"
    score = retrieved if reranker == "none" else of_window
    return f"{as_text(search(queries, **options), queries)}\n\nscore: {score}"


def as_text(ranked: pd.DataFrame, queries: Sequence[str]) -> str:
    """The rankings as lines to read; a query without any document says so."""
    blocks = []
    for query in dict.fromkeys(queries):
        mine = ranked[ranked["query"] == query].drop_duplicates("rank")
        lines = [f"{row.rank:3d}  {row.score:8.3f}  {row.doc_id:<16} {row.title}{row.snippet and INDENT}{row.snippet}"
                 for row in mine.itertuples()]
        blocks.append("\n".join([query, *(lines or ["  no document holds a word of this query"])]))
    return "\n\n".join(blocks)


def measure(collection: str, unit: str, rerankers: Sequence[str], run: str, split: str, candidates: int,
            exclude_same_id: bool) -> Iterator[str]:
    """The measures of the first stage, BM25 or a TREC run, and of each re-ranker over it, with 95 % intervals over queries and
    the differences from the first stage; BadInput for a split without judgments."""
    models = {name: model_of(name) for name in dict.fromkeys(rerankers or ["both"])}
    bed = SearchTestbed(collection, unit, (split,))
    depth = max(100, candidates)
    first = external_run(run, bed.query_step, depth, bed.store) if run else bed.bm25(K1, B, depth)
    first = without_same_id(first) if exclude_same_id else first
    base = evaluate(Path(run).name or LABEL, first, bed, MEASURES)
    if not len(base.values):
        raise BadInput("none of the queries is judged", file=collection, mend="check that queries and judgments belong together")
    lower = "" if bed.every_grade or are_pooled(bed.qrels) else NOT_ALL
    yield f"{bed.source.name}, {bed.unit}s, {len(base.values)} judged queries; relevant from grade {bed.min_relevance}{lower}"
    if missing := check_qrels(bed.qrels, Texts(bed.store.value()), collection):
        yield f"{missing} judged texts are not in the collection, and count as never found"
    if not are_pooled(bed.qrels):
        yield f"no text was judged irrelevant, so {SHARE} says nothing"
    yield from shown(base, None)
    for name, model in models.items():
        if model is None:
            continue
        scores = model.scores(bed.of_candidates(first, candidates), first, candidates)
        yield from shown(evaluate(name, reranked(scores, "max", first), bed, MEASURES), base)


def shown(system: Evaluation, base: Evaluation | None) -> Iterator[str]:
    """A system's lines: its name, and a measure a line, with the difference from another one."""
    yield f"\n{system.label}"
    for name in MEASURES:
        mean = system.mean(name)
        line = f"  {name:<10}{plain(mean.mean)} {interval(mean.low, mean.high)}"
        if base is not None:
            test = system.against(base, name, drawn=False)
            line += f"   {with_ends(test.difference)} beside {base.label}, p {p_value(test.p_permutation)}"
        yield line
