import faiss
import numpy as np
import pandas as pd
import pytest

from helpers.costs import speed as speeds
from helpers.costs.speed import search_speed
from helpers.encoders import nearest_neighbours as nn
from helpers.encoders.embeddings import PASSAGES, QUERIES
from helpers.encoders.nearest_neighbours import DEPTH, EXACT, HNSW, IVF, NO_SETTING, ann_runs, build, neighbours, recall, run_of


def vectors(count, seed=1, dimensions=16):
    result = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return result / np.linalg.norm(result, axis=1, keepdims=True)


@pytest.fixture
def folders(tmp_path):
    """Embeddings of 300 passages and 20 queries, as the steps get them."""
    np.save(tmp_path / PASSAGES, vectors(300))
    np.save(tmp_path / QUERIES, vectors(20, seed=2))
    return tmp_path, tmp_path


def measured(folders, size=300, ef_search=(10, 40), nprobe=(1, 3), known=None, seed=1):
    function = search_speed.__wrapped__
    return function(*folders, size, 8, list(ef_search), list(nprobe), 5, 2, 1.0, seed, known)


# ---- the indexes ----

@pytest.mark.parametrize("kind, setting", [(EXACT, NO_SETTING), (IVF, 17), (HNSW, 300)])
def test_a_search_that_looks_everywhere_is_brute_force(kind, setting):
    texts, queries = vectors(300), vectors(20, seed=2)  # IVF: 17 clusters, the square root of 300
    places, scores = neighbours(build(kind, texts, 16, 1), kind, setting, queries)
    products = queries @ texts.T
    expected = np.argsort(-products, axis=1)[:, :DEPTH]
    assert places.tolist() == expected.tolist()
    assert np.allclose(scores, np.take_along_axis(products, expected, 1), atol=1e-6)


@pytest.mark.parametrize("kind", [HNSW, IVF])
def test_an_index_is_seeded(kind):
    first, again, other = (faiss.serialize_index(build(kind, vectors(300), 4, seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_cluster_that_is_not_searched_hides_its_neighbours():
    """Two clouds; the query lies between them, a little nearer to the first, and half of its neighbours are in the second."""
    rng = np.random.default_rng(1)
    clouds = [axis + 0.01 * rng.standard_normal((5, 16)).astype(np.float32) for axis in np.eye(2, 16, dtype=np.float32)]
    texts = np.concatenate(clouds).astype(np.float32)
    query = np.eye(1, 16, dtype=np.float32) * 1.1 + np.eye(2, 16, dtype=np.float32)[1:]
    index = faiss.index_factory(16, "IVF2,Flat", faiss.METRIC_INNER_PRODUCT)
    index.train(texts)
    index.add(texts)
    truth = neighbours(build(EXACT, texts, 4, 1), EXACT, NO_SETTING, query)[0]
    one, both = (neighbours(index, IVF, nprobe, query)[0] for nprobe in (1, 2))
    assert recall(one, truth).tolist() == [0.5]
    assert sorted(one[0]) == [-1] * 5 + [0, 1, 2, 3, 4]
    assert recall(both, truth).tolist() == [1.0]


# ---- recall ----

@pytest.mark.parametrize("places, truth, expected", [
    ([[1, 2, 3, 4]], [[4, 3, 2, 1]], [1.0]), ([[1, 2, 9, 8]], [[1, 2, 3, 4]], [0.5]), ([[9], [1]], [[1], [1]], [0.0, 1.0]),
    ([[1, -1, -1]], [[1, 2, 3]], [1 / 3]), ([[1, 2, -1]], [[2, 1, -1]], [1.0]), ([[5, -1]], [[1, -1]], [0.0])])
def test_recall_is_the_share_of_the_true_neighbours(places, truth, expected):
    assert recall(np.array(places), np.array(truth)).tolist() == pytest.approx(expected)


# ---- sizes and times ----


def test_rates_are_medians_and_quartiles_of_the_rounds_but_the_first(monkeypatch):
    clock = [0.0]
    spent = {1: iter([9.0] * 3 + [1.0] * 3 + [2.0] * 3), 6: iter([9.0, 1.0, 8.0])}  # seconds of a query alone, and of all six

    class Index:
        def search(self, queries, depth):
            assert depth == DEPTH
            clock[0] += next(spent[len(queries)])

    monkeypatch.setattr(speeds.time, "thread_time", lambda: clock[0])
    result = speeds.rates({EXACT: Index()}, [(EXACT, NO_SETTING)], np.zeros((6, 2)), alone=3, rounds=2)[EXACT, NO_SETTING]
    assert result == pytest.approx({"alone": 0.75, "alone_low": 0.625, "alone_high": 0.875,  # 3 / 3 and 3 / 6
                                    "together": 3.375, "together_low": 2.0625, "together_high": 4.6875})  # 6 / 1 and 6 / 8


def test_threads_of_faiss_are_as_before_after_an_error():
    before = faiss.omp_get_max_threads()
    with pytest.raises(ZeroDivisionError), nn.one_thread():
        assert faiss.omp_get_max_threads() == 1
        1 / 0  # noqa: B018
    assert faiss.omp_get_max_threads() == before


# ---- the steps ----

def test_every_setting_of_every_index_is_measured(folders):
    result = measured(folders)
    assert list(zip(result["kind"], result["setting"], strict=True)) == [(EXACT, 0), (HNSW, 10), (HNSW, 40), (IVF, 1), (IVF, 3)]
    assert result["recall"].between(0, 1).all()
    assert result["recall"][0] == 1.0
    assert result["recall_error"][0] == 0.0
    assert result["recall"][3] < result["recall"][4] < 1
    assert (result["alone_low"] <= result["alone"]).all()
    assert (result["alone"] <= result["alone_high"]).all()
    assert (result[["alone_low", "together_low", "bytes"]] > 0).all(axis=None)
    assert (result["bytes"][1:] > result["bytes"][0]).all()


@pytest.mark.parametrize("size, known, real", [(100, None, 100), (300, None, 300), (500, None, 300), (300, 40, 40), (20, 40, 20),
                                               (500, 900, 300)])
def test_sizes_beyond_the_real_ones_are_filled_up(folders, size, known, real):
    result = measured(folders, size, known=known)
    assert (result["size"] == size).all()
    assert (result["real"] == real).all()


def test_places_that_are_none_are_no_passages(tmp_path, monkeypatch):
    np.save(tmp_path / PASSAGES, vectors(4))
    np.save(tmp_path / QUERIES, vectors(2, seed=2))
    monkeypatch.setattr(nn, "Texts", lambda _: [type("Text", (), {"doc_id": f"p{n}"}) for n in range(4)])
    queries = pd.DataFrame({"query_id": ["a", "b"], "text": "x"})
    runs = ann_runs.__wrapped__(tmp_path, tmp_path, None, queries, 8, [40], [1], 1)
    assert run_of(runs, EXACT, 0).groupby("query_id").size().tolist() == [4, 4]
    assert run_of(runs, IVF, 1).groupby("query_id").size().max() < 4
