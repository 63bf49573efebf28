import pytest

from helpers.reranking.aggregation import AGGREGATIONS, aggregate, reranked
from toys import run_of

# q2 before q1; of a the windows stand as 2, 0, 1, and b has one window only. Eighths: the sums are exact.
WINDOWS = run_of(q2={"a#2": 0.125, "b#0": 0.5, "a#0": 0.25, "a#1": 0.75}, q1={"a#0": 1.0, "c#1": 0.5, "c#0": 0.875})

BY_HAND = {
    "mean": [("q2", "b", 0.5), ("q2", "a", 0.375),  # (0.125 + 0.25 + 0.75) / 3
             ("q1", "a", 1.0), ("q1", "c", 0.6875)],  # (0.5 + 0.875) / 2
    "max": [("q2", "a", 0.75), ("q2", "b", 0.5), ("q1", "a", 1.0), ("q1", "c", 0.875)],
    "first": [("q2", "b", 0.5), ("q2", "a", 0.25), ("q1", "a", 1.0), ("q1", "c", 0.875)],  # window 0 alone
    "sum": [("q2", "a", 1.125), ("q2", "b", 0.5), ("q1", "c", 1.375), ("q1", "a", 1.0)]}


@pytest.mark.parametrize("how", AGGREGATIONS)
def test_aggregations_by_hand(how):
    assert [tuple(row) for row in aggregate(WINDOWS, how).to_numpy()] == BY_HAND[how]


def test_window_ten_comes_after_window_nine():
    scores = run_of(q={"a#10": 0.75, "a#9": 0.25})  # as texts 10 is before 9
    assert aggregate(scores, "first")["score"].tolist() == [0.25]


def test_a_document_id_may_have_a_hash_itself():
    frame = run_of(q={"x#1#0": 0.25, "x#1#1": 0.75, "x#2#0": 0.5})
    assert [tuple(row) for row in aggregate(frame, "max").to_numpy()] == [("q", "x#1", 0.75), ("q", "x#2", 0.5)]


def test_documents_that_were_not_scored_follow_in_their_old_order():
    windows, run = run_of(q1={"b#0": 0.2, "b#1": 0.6, "a#0": 0.3}), run_of(q1={"a": 9, "b": 8, "d": 7, "c": 7}, q2={"a": 1})
    result = reranked.definition.function(windows, "mean", run)
    assert list(zip(result["query_id"], result["doc_id"], strict=True)) == [
        ("q1", "b"), ("q1", "a"), ("q1", "d"), ("q1", "c"), ("q2", "a")]
    assert result["score"].tolist()[:2] == pytest.approx([0.4, 0.3])
    assert result.loc[result["query_id"] == "q1", "score"].is_monotonic_decreasing
    assert result.loc[2:3, "score"].max() < 0.3  # below what the model scored
