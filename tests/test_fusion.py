"""Fused runs, and how far two rankings agree."""

import pandas as pd
import pytest

from helpers.retrieval import fusion
from helpers.retrieval.fusion import FIRST, RRF, SECOND, SUM, UNCUT, alternating, reciprocal_rank, weighted_sum
from toys import qrels_of, run_of


def docs(run, query="q"):
    return run.loc[run["query_id"] == query, "doc_id"].tolist()


def scores(run, query="q"):
    part = run[run["query_id"] == query]
    return dict(zip(part["doc_id"], part["score"], strict=True))


@pytest.mark.parametrize("depth, expected", [(1, "a"), (2, "ab"), (3, "abc"), (4, "abcd"), (99, "abcd")])
def test_the_merge_is_the_papers_example_and_is_cut(depth, expected):
    merged = alternating(run_of(q="acd"), run_of(q="bac"), depth)
    assert scores(merged) == {doc: -rank for rank, doc in enumerate(expected, 1)} and docs(merged) == list(expected)


def test_a_pool_holds_every_document_of_any_run_once():
    pool = fusion.candidate_pool.definition.function([run_of(q="acd"), run_of(q="bac", r="x"), run_of(q="e", r="yx")])
    assert docs(pool) == ["a", "e", "b", "c", "d"] and docs(pool, "r") == ["x", "y"]


def test_reciprocal_ranks_are_summed():
    # a: 1/61 + 1/62, b: 1/62 + 1/61, c: 1/63, d: 1/63; equals in the order of trec_eval
    fused = reciprocal_rank(run_of(q="abc"), run_of(q="bad"), 10)
    assert scores(fused) == pytest.approx({"a": 1 / 61 + 1 / 62, "b": 1 / 62 + 1 / 61, "c": 1 / 63, "d": 1 / 63})
    assert docs(fused) == ["b", "a", "d", "c"]


def test_reciprocal_ranks_are_those_of_the_run_even_if_scores_tie():
    first = run_of(q={"z": 1, "y": 1, "x": 1})
    assert scores(reciprocal_rank(first, run_of(q="z"), 10)) == pytest.approx({"z": 2 / 61, "y": 1 / 62, "x": 1 / 63})


def test_scores_are_scaled_and_weighted():
    # first 10, 6, 2 -> 1, 0.5, 0; second 0.8, 0.7, 0.4 -> 1, 0.75, 0
    first, second = run_of(q={"a": 10, "b": 6, "c": 2}), run_of(q={"d": 0.8, "b": 0.7, "a": 0.4})
    fused = weighted_sum(first, second, 0.25, 10)
    assert scores(fused) == pytest.approx({"a": 0.25, "b": 0.25 * 0.5 + 0.75 * 0.75, "c": 0.0, "d": 0.75})
    assert docs(fused) == ["d", "b", "a", "c"]


def test_standardised_scores_are_weighted_for_documents_of_both_runs():
    # q: 3, 1 -> 1, -1 with 5, 9 -> -1, 1; r: equal scores -> 0, 0 with 1, 3 -> -1, 1
    first, second = run_of(q={"a": 3, "b": 1}, r={"x": 5, "y": 5}, s="a"), run_of(q={"b": 9, "a": 5}, r={"y": 3, "x": 1})
    fused = fusion.z_scored_sum(first, second, 0.25)
    assert (scores(fused), scores(fused, "r")) == ({"b": 0.5, "a": -0.5}, {"y": 0.75, "x": -0.75}) and len(fused) == 4


@pytest.mark.parametrize("fuse", [alternating, reciprocal_rank, lambda a, b, depth: weighted_sum(a, b, 0.5, depth)])
def test_queries_of_one_run_keep_its_list_and_all_stand_in_order(fuse):
    fused = fuse(run_of(p="ab", q="ab"), run_of(r={"c": 7, "d": 5}, q="b"), 10)
    assert docs(fused, "p") == ["a", "b"]
    assert list(scores(fused, "r").items()) == list(zip("cd", (-1, -2) if fuse is alternating else (7, 5), strict=True))
    assert list(dict.fromkeys(fused["query_id"])) == ["p", "q", "r"]
    assert list(fuse(run_of(), run_of(), 5).columns) == ["query_id", "doc_id", "score"]


QUERIES = pd.DataFrame({"query_id": ["q", "r", "unjudged"], "text": ["", "", ""]})
QRELS = qrels_of(q={"c": 2, "b": 1}, r={"x": 2})


def test_the_values_of_all_four_fusions():
    first, second = run_of(q="acd", r="x"), run_of(q="bac")
    table = fusion.fusions.definition.function(first, second, QUERIES, QRELS, 2, ["RR@10", "R@2"], 0.0, 10)
    assert list(table.columns) == ["method", "query_id", "RR@10", "R@2"]
    result = table.set_index(["method", "query_id"])["RR@10"].to_dict()
    # grade 2 counts: c. In turns [a, b, c, d] and [b, a, c, d]; by ranks a 1/61+1/62, c 1/62+1/63, b 1/61, d 1/63;
    # the second run's own order, which is what a weight of 0 leaves, is b, a, then c and d with 0, d first
    assert result == {(FIRST, "q"): 1 / 3, (SECOND, "q"): 1 / 3, (UNCUT, "q"): 1 / 3, (RRF, "q"): 1 / 2, (SUM, "q"): 1 / 4,
                      **{(method, "r"): 1.0 for method in (FIRST, SECOND, UNCUT, RRF, SUM)}}
    assert table.set_index(["method", "query_id"])["R@2"].to_dict()[RRF, "q"] == 1.0


def test_only_the_uncut_merge_holds_both_lists():
    table = fusion.fusions.definition.function(run_of(q="ab"), run_of(q="xc"), QUERIES[:1], QRELS, 2, ["R@4"], 0.5, 2)
    assert table.set_index("method")["R@4"].to_dict() == {FIRST: 0.0, SECOND: 0.0, UNCUT: 1.0, RRF: 0.0, SUM: 0.0}


def test_the_weights_are_tried_on_the_given_queries():
    # the first run has the relevant document first, the second has it last
    first, second = run_of(q={"c": 3, "a": 2, "b": 1}), run_of(q={"a": 3, "b": 2, "c": 1})
    table = fusion.fusion_weight_grid.definition.function(first, second, QUERIES[:1], QRELS, 2, "RR@10", [0.0, 0.4, 1.0], 10)
    # at 0.4: c 0.4, a 0.2 + 0.6, b 0.3
    assert table.to_dict("list") == {"weight": [0.0, 0.4, 1.0], "RR@10": [1 / 3, 1 / 2, 1.0]}


@pytest.mark.parametrize("values, expected", [([0.1, 0.5, 0.2], 0.5), ([0.1, 0.2, 0.5], 0.9), ([0.3, 0.3, 0.3], 0.5),
                                              ([0.3, 0.1, 0.3], 0.1)])
def test_the_best_weight_is_the_highest_then_the_most_even(values, expected):
    assert fusion.best_weight(pd.DataFrame({"weight": [0.1, 0.5, 0.9], "m": values}), "m") == expected


# ---- consistency of rankings ----

def by_depth(run, reference, depths):
    table = fusion.consistency.definition.function(run, reference, depths)
    return table.set_index(["query_id", "depth"])[fusion.MEASURE].to_dict()


def test_the_factor_of_known_lists_and_of_a_query_that_one_side_lacks():
    run, reference = run_of(q="abcd", r="xyzw"), run_of(q="dca", r="pqrs")
    assert by_depth(run, reference, [1, 2, 4]) == {("q", 1): 1.0, ("q", 2): 0.5, ("q", 4): 0.75,
                                                   ("r", 1): 0.0, ("r", 2): 0.0, ("r", 4): 0.0}
    assert by_depth(run_of(q="ab"), run_of(q="ab", nothing_here="c"), [2]) == {("q", 2): 1.0}  # it lowers no mean
    assert by_depth(run_of(q="ab", r="ab"), run_of(q="ab"), [2]) == {("q", 2): 1.0, ("r", 2): 0.0}


@pytest.mark.parametrize("reference, factors_of", [("xyzba", {2: 1.0}), ("xyzb", {2: 0.5}), ("a", {1: 1.0, 2: 0.5, 100: 0.5})])
def test_ranks_in_the_reference_do_not_matter_but_its_cut_does_and_a_short_list_counts(reference, factors_of):
    assert by_depth(run_of(q="ab"), run_of(q=reference), [*factors_of]) == {("q", n): value for n, value in factors_of.items()}
