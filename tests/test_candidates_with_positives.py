import pytest

from helpers.data.collection_base import Text
from helpers.encoders import bi_encoder as module
from toys import qrels_of, run_of

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
