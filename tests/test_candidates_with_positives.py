import pandas as pd
import pytest

from helpers.data.collection_base import Text
from helpers.data.runs import COLUMNS
from helpers.encoders import bi_encoder_data as module

RUN = pd.DataFrame([("q1", "a", 3.0), ("q1", "b", 2.0), ("q1", "c", 1.0), ("q2", "b", 5.0)], columns=COLUMNS)
QRELS = pd.DataFrame([("q1", "b", 1), ("q1", "x", 1), ("q1", "c", 0), ("q1", "y", 0), ("q2", "z", 2), ("q3", "x", 1),
                      ("q1", "gone", 1)], columns=["query_id", "doc_id", "relevance"])


@pytest.fixture
def join(monkeypatch):
    monkeypatch.setattr(module, "Texts", lambda store: {i: Text(i, "", "") for i in "abcxyz"})
    return lambda candidates, min_relevance: module.candidates_with_positives.definition.function(RUN, QRELS, "store",
                                                                                                  candidates, min_relevance)


def test_missed_relevant_passages_follow_the_candidates(join):
    result = join(2, 1)
    assert result[["query_id", "doc_id"]].values.tolist() == [["q1", "a"], ["q1", "b"], ["q1", "x"], ["q2", "b"], ["q2", "z"]]
    assert result.groupby("query_id")["score"].apply(lambda s: s.is_monotonic_decreasing).all()


def test_only_the_level_counts_and_no_candidate_stands_twice(join):
    assert join(2, 2)["doc_id"].tolist() == ["a", "b", "b", "z"]
    assert not join(3, 1).duplicated(["query_id", "doc_id"]).any()


def test_a_relevant_passage_beyond_the_cut_comes_back(join):
    assert join(1, 1)["doc_id"].tolist() == ["a", "b", "x", "b", "z"]


def test_a_query_without_candidates_stays_out(join):
    assert "q3" not in set(join(3, 1)["query_id"])
