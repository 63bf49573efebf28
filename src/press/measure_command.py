"""`book measure --reranker base --collection /a/folder`: given re-rankers on judged queries; nothing is trained."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from helpers.data.collection import check_qrels
from helpers.data.external_run import external_run, without_same_id
from helpers.data.texts import Texts
from helpers.errors import BadInput
from helpers.evaluation.pools import SHARE, are_pooled
from helpers.pages.numbers import interval, p_value, plain, signed
from helpers.pages.relevance import NOT_ALL
from helpers.reranking.aggregation import reranked
from helpers.retrieval.bm25 import K1, B
from helpers.systems.evaluated import Evaluation, evaluate
from helpers.systems.search_testbed import SearchTestbed
from press.search_command import model_of

MEASURES = ("nDCG@10", "RR@10", SHARE)
BM25 = "BM25"


def measure(collection: str, unit: str, rerankers: Sequence[str], run: str, split: str, candidates: int,
            exclude_same_id: bool) -> Iterator[str]:
    """The measures of the first stage and of each re-ranker over it, with 95 % intervals over queries and the differences from
    the first stage; BadInput for a split without judgments.

    Args:
        run: a TREC run in place of BM25's, or empty.
        candidates: documents of each query that are re-ranked; those below keep their order.
        exclude_same_id: whether a query's own id among the documents is left out, as BEIR does.
    """
    models = {name: model_of(name) for name in dict.fromkeys(rerankers or ["both"])}
    bed = SearchTestbed(collection, unit, (split,))
    depth = max(100, candidates)
    first = external_run(run, bed.query_step, depth, bed.store) if run else bed.bm25(K1, B, depth)
    first = without_same_id(first) if exclude_same_id else first
    base = evaluate(Path(run).name or BM25, first, bed, MEASURES)
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
            change = test.difference
            line += (f"   {signed(change.mean)} {interval(change.low, change.high, sign=True)} beside {base.label}, "
                     f"p {p_value(test.p_permutation)}")
        yield line
