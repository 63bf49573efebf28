from collections import Counter

import pandas as pd
import pytest

from helpers.retrieval.feedback import Sizes, expanded, expansion, rm3_run, weighted_queries, weighted_run
from helpers.retrieval.indexes import build, text_index

pytestmark = pytest.mark.slow
# the texts of the tiny collection as Lucene's English analyser leaves them (Porter stems, no stop words)
TERMS = {"d1": "bread why bread turn brown oven sugar protein react heat",
         "d2": "iron iron rust wet air oil keep water awai from iron",
         "d3": "cloud cloud form when moist air rise cool rain fall from thick cloud",
         "d4": "oven oven heat bread cake bread need hot oven bread need time"}
COUNTS = {doc: Counter(text.split()) for doc, text in TERMS.items()}


@pytest.mark.parametrize("weighting", ["Bo1", "KL"])
def test_the_expanded_query_is_the_formula_on_raw_counts(bed, weighting, tmp_path):
    run = bed.bm25(0.9, 0.4, 4)
    result = weighted_queries(text_index(bed.store), run, bed.query_step, 2, 3, weighting, None, 1).value()
    best = run.value().groupby("query_id", sort=False)["doc_id"].agg(lambda ids: list(ids)[:2])
    collection = sum(COUNTS.values(), Counter())
    for query, own in (("q1", ["why", "doe", "bread", "turn", "brown"]), ("q2", ["how", "stop", "iron", "rust"])):
        feedback = sum((COUNTS[doc] for doc in best[query]), Counter())
        sizes = Sizes(len(COUNTS), collection.total(), feedback.total())
        expected = expanded(own, expansion(feedback, collection, sizes, 3, weighting))
        got = result[result["query_id"] == query]
        assert dict(zip(got["term"], got["weight"], strict=True)) == pytest.approx(expected)
        assert got["term"].tolist() == sorted(expected, key=lambda term: (-expected[term], term))
        assert got["added"].tolist() == [term not in own for term in got["term"]]
    both = weighted_queries(text_index(bed.store), run, bed.query_step, 2, 50, weighting, None, 2).value().query("query_id=='q1'")
    assert best["q1"] == ["d1", "d4"] and set(both.loc[both["added"], "term"]) == {"oven", "heat"}
    assert set(both.loc[both["best"], "term"]) >= {"oven", "bread", "brown"}
    (cut := tmp_path / "cut").mkdir()
    build([("d1", "bread sugar"), ("d4", "ovens")], cut)  # of the same documents only these words are read
    expand, index = weighted_queries.definition.function, text_index(bed.store).value()
    shown = expand(index, run.value(), bed.query_frame, 2, 50, weighting, cut, 1)
    assert set(shown.loc[shown["added"] & (shown["query_id"] == "q1"), "term"]) == {"sugar", "oven"}


def test_stop_words_alone_give_no_query_and_no_documents(bed):
    weights = weighted_queries(text_index(bed.store), bed.bm25(0.9, 0.4, 4), bed.query_step, 2, 3, "Bo1", None, 1)
    assert "q3" not in set(weights.value()["query_id"])
    run = weighted_run(text_index(bed.store), weights, bed.query_step, 0.9, 0.4, 4).value()
    assert "q3" not in set(run["query_id"])
    assert list(run.columns) == ["query_id", "doc_id", "score"]


def test_no_feedback_terms_leave_bm25_as_it_is(bed):
    index, run = text_index(bed.store), bed.bm25(0.9, 0.4, 4)
    weights = weighted_queries(index, run, bed.query_step, 2, 0, "Bo1", None, 1)
    assert not weights.value()["added"].any()
    again = weighted_run(index, weights, bed.query_step, 0.9, 0.4, 4).value()
    pd.testing.assert_frame_equal(again[["query_id", "doc_id"]], run.value()[["query_id", "doc_id"]])
    assert again["score"].tolist() == pytest.approx(run.value()["score"].tolist(), rel=1e-3)


def test_rm3_ranks_documents(bed):
    run = rm3_run(text_index(bed.store), bed.query_step, 0.9, 0.4, 4, 2, 5, 0.5).value()
    assert run.groupby("query_id", sort=False).head(1)["doc_id"].tolist()[:2] == ["d1", "d2"]
