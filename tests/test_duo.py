"""Pairs of texts: the pairwise stage, its candidates, its cost."""

from math import log

import numpy as np
import pandas as pd
import pytest
import torch

from helpers.data.collection import open_collection
from helpers.data.collection_base import Text
from helpers.data.texts import split_of, splits_of
from helpers.data.windows import doc_of, pair_ids
from helpers.encoders import bi_encoder as module
from helpers.reranking.duo import DUOS, compared, duo_groups, duo_scores, in_pairs, order_by
from helpers.reranking.losses import total
from helpers.systems.recipe import PairwiseReranker, duobert, recipe
from helpers.systems.testbed import Testbed
from toys import qrels_of, run_of

N = np.nan
PAIRS = np.array([[N, 0.9, 0.6], [0.2, N, 0.5], [0.4, 0.7, N]])  # 0.5 is no win; p_ij and p_ji need not add up to 1
BY_HAND = {"sum": [1.5, 0.7, 1.1], "sample": [1.5, 0.7, 1.1], "binary": [2, 0, 1], "min": [0.6, 0.2, 0.4], "max": [0.9, 0.5, 0.7]}


@pytest.mark.parametrize("how", DUOS)
def test_aggregations_by_hand(how):
    assert duo_scores(PAIRS, how) == pytest.approx(BY_HAND[how])


def test_what_was_not_compared_does_not_count():
    assert duo_scores(np.array([[N, 0.9, N], [0.2, N, N], [N, N, N]]), "sum") == pytest.approx([0.9, 0.2, 0])


def test_all_ordered_pairs_or_some_drawn_without_replacement():
    assert compared(3, "sum", 1) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    drawn = compared(10, "sample", 4)
    assert [sum(i == document for i, _ in drawn) for document in range(10)] == [4] * 10
    assert len(set(drawn)) == 40 and all(i != j for i, j in drawn)
    assert compared(10, "sample", 4) == drawn != compared(10, "sample", 4, seed=2)
    assert compared(1, "sum", 1) == [] == compared(0, "sum", 1)


# ---- what it reads and learns ----

def test_an_input_holds_the_query_and_both_texts_cut_at_the_same_length(tokenizer):
    start, end = tokenizer.cls_token_id, tokenizer.sep_token_id
    assert pair_ids(tokenizer, [5, 6], 11, np.array([7, 8, 9]), np.array([1])) == (
        [start, 5, 6, end, 7, 8, end, 1, end], [0, 0, 0, 0, 1, 1, 1, 1, 1])


def test_a_group_pairs_the_relevant_text_with_each_other_in_both_orders():
    groups = pd.DataFrame({"query_id": ["q1"] * 3, "window_id": ["a#0", "b#0", "c#0"], "label": [1, 0, 0], "teacher": 9.0})
    assert duo_groups.definition.function(groups).to_numpy().tolist() == [
        ["q1", "a#0", "b#0", 1, 0.0], ["q1", "a#0", "c#0", 1, 0.0], ["q1", "b#0", "a#0", 0, 0.0], ["q1", "c#0", "a#0", 0, 0.0]]


def test_the_others_meet_each_other_with_the_teachers_probability():
    groups = pd.DataFrame({"query_id": ["q1"] * 3, "window_id": ["a#0", "b#0", "c#0"], "label": [1, 0, 0],
                           "teacher": [0.9, 0.5 * log(3), 0.0]})
    pairs = duo_groups.definition.function(groups, 0.5)
    assert pairs[["window_id", "other_id"]].to_numpy().tolist() == [
        ["a#0", "b#0"], ["a#0", "c#0"], ["b#0", "a#0"], ["c#0", "a#0"], ["b#0", "c#0"], ["c#0", "b#0"]]
    assert pairs["teacher"].tolist() == pytest.approx([1, 1, 0, 0, 0.75, 0.25])
    scores = torch.tensor([[log(3), 0.0, -log(3), 0.0, 0.0, log(3)]])  # p: .75, .5, .25, .5, .5, .75
    expected = -(log(0.75) + log(0.5) + log(0.75) + log(0.5) + log(0.5) + 0.25 * log(0.75) + 0.75 * log(0.25)) / 6
    targets = torch.tensor([pairs["teacher"]], dtype=torch.float32)
    assert float(total({"soft_bce": 1.0}, scores, targets)) == pytest.approx(expected)


def test_the_authors_kind_of_pairs_holds_a_relevant_text_and_all_pairs_have_probabilities_as_targets():
    model, own = (duobert(recipe("almanac/16", warm_up=0), among_others=others) for others in (True, False))
    assert (model.temperature, model.losses, own.losses) == (1.0, {"soft_bce": 1.0}, {"duo": 1.0})
    assert model.groups.key != own.groups.key


def test_the_first_are_reordered_and_a_tie_keeps_the_order_before():
    assert order_by([1.0, 2.0, 1.0], 4)[0].tolist() == [1, 0, 2, 3]
    _, scores = order_by([-3.0, -2.0], 4)
    assert scores.tolist() == [-2.0, -3.0, -4.0, -5.0]


def test_a_run_in_pairs():
    pairs = pd.DataFrame([("q1", "abc"[i], "abc"[j], PAIRS[i, j]) for i in range(3) for j in range(3) if i != j],
                         columns=["query_id", "doc_id", "other_id", "probability"])
    run = run_of(q1="bcad", q2="x")
    pairs = pd.concat([pairs, pairs.assign(query_id="q2")])  # a query with one document has no pairs
    ordered = in_pairs.definition.function
    ranked = ordered(pairs, run, "sum", 3, 1)
    assert ranked["doc_id"].tolist() == ["a", "c", "b", "d", "x"]
    assert ordered(pairs, run, "sum", 2, 1)["doc_id"].tolist() == ["c", "b", "a", "d", "x"]  # of the first two alone
    ties = ordered(pairs.assign(probability=0.2), run, "binary", 3, 1)
    assert ties["doc_id"].tolist() == ["b", "c", "a", "d", "x"] and ties["score"].is_unique is False
    assert (ties[ties["query_id"] == "q1"]["score"].diff().dropna() < 0).all()
    with pytest.raises(ValueError, match="query 'q1': not all"):
        ordered(pairs[1:], run, "sum", 3, 1)


@pytest.mark.slow
def test_a_model_learns_from_train_articles_and_scores_all_ordered_pairs(store):
    duo = PairwiseReranker(collection="almanac/16", backbone="packaged:0", queries=24, max_length=48, evaluations=1)
    groups = duo.groups.value()
    splits = splits_of(open_collection("almanac/16"))
    assert {split_of(doc_of(name), splits) for column in ("window_id", "other_id") for name in groups[column]} == {"train"}
    assert groups.groupby("query_id")["label"].agg(list).map(tuple).unique().tolist() == [(1, 1, 1, 0, 0, 0)]
    bed = Testbed("almanac/16", "passage", queries=3)
    pairs = duo.probabilities(bed, bed.bm25(1.2, 0.75, 10), 3).value()
    assert pairs.groupby("query_id").size().tolist() == [6, 6, 6]
    assert pairs["probability"].between(0, 1).all() and pairs["probability"].nunique() > 2


# ---- its candidates ----

RUN = run_of(q1="abc", q2="b")
QRELS = qrels_of(q1={"b": 1, "x": 1, "c": 0, "y": 0, "gone": 1}, q2={"z": 2}, q3="x")


@pytest.mark.parametrize("candidates, min_relevance, expected", [
    (2, 1, {"q1": "abx", "q2": "bz"}),  # missed relevant passages follow the candidates
    (2, 2, {"q1": "ab", "q2": "bz"}),  # only the level counts
    (3, 1, {"q1": "abcx", "q2": "bz"}),  # no candidate stands twice, and a query without candidates (q3) stays out
    (1, 1, {"q1": "abx", "q2": "bz"})])  # a relevant passage beyond the cut comes back
def test_candidates_and_after_them_what_was_missed(candidates, min_relevance, expected, monkeypatch):
    monkeypatch.setattr(module, "Texts", lambda store: {i: Text(i, "", "") for i in "abcxyz"})
    result = module.candidates_with_positives.definition.function(RUN, QRELS, "store", candidates, min_relevance)
    assert list(map(tuple, result[["query_id", "doc_id"]].to_numpy())) == [
        (query, doc) for query, docs in expected.items() for doc in docs]
    assert result.groupby("query_id")["score"].apply(lambda scores: scores.is_monotonic_decreasing).all()
