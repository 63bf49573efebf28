from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from helpers.data.collection_base import Text
from helpers.data.texts import relevant_places, write_store
from helpers.encoders import embeddings as lengths_module
from helpers.encoders.embeddings import similarities, tsne_map
from helpers.retrieval.term_weights import term_overlap
from toys import qrels_of

QUERIES = pd.DataFrame({"query_id": ["q1", "q2", "q3"], "text": ["", "", ""]})
QRELS = qrels_of(q1={"p0": 1, "p2": 1, "p1": 0}, q2="gone", q3={"p3": 2}, q9="p1")


@pytest.fixture
def space(tmp_path):
    write_store(tmp_path, (Text(f"p{n}", "", "") for n in range(40)))
    random = np.random.default_rng(1)
    passages = random.normal(size=(40, 8)).astype(np.float32)
    queries = np.stack([passages[0] + 0.1, passages[1], passages[3] + 0.2]).astype(np.float32)
    np.save(tmp_path / "passages.npy", passages)
    np.save(tmp_path / "queries.npy", queries)
    return tmp_path, passages, queries


def test_relevant_passages_are_known_by_their_positions(space):
    assert relevant_places(space[0], QUERIES, QRELS, 1) == {"q1": [0, 2], "q3": [3]}
    assert relevant_places(space[0], QUERIES, QRELS, 2) == {"q3": [3]}


def test_similarities_by_hand(space):
    folder, passages, queries = space
    result = similarities.definition.function(folder, folder, folder, QUERIES, QRELS, 1).set_index("query_id")
    assert result.index.tolist() == ["q1", "q3"]
    scores = passages @ queries[0]
    others = np.delete(scores, [0, 2])
    assert result.loc["q1", "relevant"] == pytest.approx(max(scores[0], scores[2]))
    assert result.loc["q1", "other"] == pytest.approx(others.mean(), abs=1e-6)
    assert result.loc["q1", "above"] == pytest.approx((others < max(scores[0], scores[2])).mean())


def test_what_is_as_similar_as_the_relevant_passage_is_not_below_it(tmp_path):
    write_store(tmp_path, (Text(f"p{n}", "", "") for n in range(3)))
    np.save(tmp_path / "passages.npy", np.array([[1.0], [1.0], [0.0]], np.float32))
    np.save(tmp_path / "queries.npy", np.ones((1, 1), np.float32))
    one = similarities.definition.function(tmp_path, tmp_path, tmp_path, QUERIES[:1], qrels_of(q1="p0"), 1)
    assert one["above"].tolist() == [0.5]


def test_a_map_has_a_query_and_a_passage_for_each_and_is_seeded(space):
    folder, *_ = space
    drawn = [tsne_map.definition.function(folder, folder, folder, QUERIES, QRELS, 1, 5, 20.0, seed) for seed in (1, 1, 2)]
    assert drawn[0]["query_id"].tolist() == ["q1", "q3", "q1", "q3"]
    assert drawn[0]["kind"].tolist() == ["query", "query", "passage", "passage"]
    assert drawn[0].equals(drawn[1])
    assert len(tsne_map.definition.function(folder, folder, folder, QUERIES, QRELS, 1, 1, 20.0, 1)) == 2


def test_lengths_are_counted_with_special_tokens(monkeypatch):
    monkeypatch.setattr(lengths_module, "WholeTexts", lambda *_: SimpleNamespace(lengths=lambda: np.array([3, 0, 3, 10])))
    assert lengths_module.token_lengths.definition.function("store", "tokens") == {"2": 1, "5": 2, "12": 1}


@pytest.mark.slow
def test_a_query_shares_stemmed_terms_with_its_relevant_passage(bed):
    result = term_overlap(bed.store, bed.query_step, bed.qrels_step, 1).value().set_index("query_id")
    # q1 "why does bread turn brown": d1 has all but "does"; q2 "how to stop iron rusting": d2 has iron and rusts
    assert result.loc["q1", ["share", "terms"]].tolist() == [4 / 5, 5]
    assert result.loc["q2", ["share", "terms"]].tolist() == [2 / 4, 4]
    assert "q3" not in result.index  # stop words alone
