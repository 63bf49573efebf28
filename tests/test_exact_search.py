import numpy as np
import pandas as pd
import pytest

from helpers.data.collection_base import Text
from helpers.data.runs import ranked
from helpers.data.texts import write_store
from helpers.encoders import nearest_neighbours as module
from helpers.encoders.nearest_neighbours import search


@pytest.mark.parametrize("depth", [1, 10, 60, 200])
@pytest.mark.parametrize("block", [1_000, 64])
def test_search_is_numpys_brute_force(depth, block, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", block)
    random = np.random.default_rng(depth)
    passages, queries = (random.normal(size=(n, 16)).astype(np.float32) for n in (200, 7))
    places, scores = search(passages, queries, depth)
    order = np.argsort(-scores, axis=1)[:, :depth]
    products = queries.astype(np.float64) @ passages.astype(np.float64).T
    assert np.take_along_axis(places, order, 1).tolist() == np.argsort(-products, axis=1)[:, :depth].tolist()
    assert np.allclose(np.take_along_axis(scores, order, 1), -np.sort(-products, axis=1)[:, :depth], atol=1e-5)


@pytest.mark.parametrize("block", [1_000, 30])
def test_all_that_ties_with_the_last_is_found(block, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", block)
    random = np.random.default_rng(2)
    passages = random.normal(size=(100, 48)).astype(np.float32)
    passages[10:90] = passages[10]  # eighty copies, more than are asked for at first
    queries = passages[[10]] + 0.01
    places, scores = search(passages, queries, 5)
    assert set(range(10, 90)) <= set(places[0].tolist())
    assert len(set(scores[0, np.isin(places[0], np.arange(10, 90))].tolist())) == 1  # and no copy scores better by rounding


def test_the_run_breaks_ties_by_id_and_ends_at_its_depth(tmp_path):
    passages = np.array([[1, 0], [0, 1], [1, 0], [1, 0], [0.5, 0]] + [[1, 0]] * 20, dtype=np.float32)
    np.save(tmp_path / "passages.npy", passages)
    np.save(tmp_path / "queries.npy", np.array([[1, 0], [0, 2]], dtype=np.float32))
    ids = [f"p{n:02}" for n in range(25)][::-1]  # the last in the order has the lowest id
    write_store(tmp_path, (Text(i, "", "") for i in ids))
    queries = pd.DataFrame({"query_id": ["b", "a"], "text": ["", ""]})
    run = module.exact_search.definition.function(tmp_path, tmp_path, tmp_path, queries, 3)
    scores = queries.merge(pd.DataFrame({"doc_id": ids}), how="cross")
    scores["score"] = (np.load(tmp_path / "queries.npy") @ passages.T).ravel()
    assert run.equals(ranked(scores, 3).astype({"score": float}))
    assert run["doc_id"].tolist() == ["p24", "p22", "p21", "p23", "p24", "p22"]


def test_no_queries_give_an_empty_run(tmp_path):
    np.save(tmp_path / "passages.npy", np.ones((3, 2), dtype=np.float32))
    np.save(tmp_path / "queries.npy", np.empty((0, 2), dtype=np.float32))
    write_store(tmp_path, (Text(i, "", "") for i in "abc"))
    run = module.exact_search.definition.function(tmp_path, tmp_path, tmp_path, pd.DataFrame({"query_id": [], "text": []}), 3)
    assert len(run) == 0
