"""Search among vectors: exact, by indexes, of compressed vectors."""

import faiss
import numpy as np
import pandas as pd
import pytest

from helpers.costs import speed as speeds
from helpers.costs.speed import compressed_speed, search_speed
from helpers.data.collection_base import Text
from helpers.data.runs import ranked
from helpers.data.texts import write_store
from helpers.encoders import nearest_neighbours as nn
from helpers.encoders.embeddings import PASSAGES, QUERIES
from helpers.encoders.nearest_neighbours import EXACT, HNSW, IVF, NO_SETTING, WHOLE

# ---- indexes ----

def vectors(count, seed=1, dimensions=16):
    result = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return result / np.linalg.norm(result, axis=1, keepdims=True)


@pytest.fixture
def folders(tmp_path):
    """Embeddings of 300 passages and 20 queries, as the steps get them."""
    np.save(tmp_path / PASSAGES, vectors(300))
    np.save(tmp_path / QUERIES, vectors(20, seed=2))
    return tmp_path, tmp_path


def measured(folders, size=300, known=None):
    return search_speed.__wrapped__(*folders, size, 8, [10, 40], [1, 3], 5, 2, 1.0, 1, known)


@pytest.mark.parametrize("kind, setting", [(EXACT, NO_SETTING), (IVF, 17), (HNSW, 300)])
def test_a_search_that_looks_everywhere_is_brute_force(kind, setting):
    texts, queries = vectors(300), vectors(20, seed=2)  # IVF: 17 clusters, the square root of 300
    places, scores = nn.neighbours(nn.build(kind, texts, 16, 1), kind, setting, queries)
    products = queries @ texts.T
    expected = np.argsort(-products, axis=1)[:, :nn.DEPTH]
    assert places.tolist() == expected.tolist()
    assert np.allclose(scores, np.take_along_axis(products, expected, 1), atol=1e-6)


@pytest.mark.parametrize("make", [
    lambda texts, seed: nn.build(HNSW, texts, 4, seed), lambda texts, seed: nn.build(IVF, texts, 4, seed),
    lambda texts, seed: nn.compressed("PQ4", texts, seed)])
def test_an_index_is_seeded(make):
    first, again, other = (faiss.serialize_index(make(vectors(300), seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("places, truth, expected", [
    ([[1, 2, 3, 4]], [[4, 3, 2, 1]], [1.0]), ([[1, 2, 9, 8]], [[1, 2, 3, 4]], [0.5]), ([[9], [1]], [[1], [1]], [0.0, 1.0]),
    ([[1, -1, -1]], [[1, 2, 3]], [1 / 3]), ([[1, 2, -1]], [[2, 1, -1]], [1.0]), ([[5, -1]], [[1, -1]], [0.0])])
def test_recall_is_the_share_of_the_true_neighbours(places, truth, expected):
    assert nn.recall(np.array(places), np.array(truth)).tolist() == pytest.approx(expected)


def test_rates_are_medians_and_quartiles_of_the_rounds_but_the_first(monkeypatch):
    clock = [0.0]
    spent = {1: iter([9.0] * 3 + [1.0] * 3 + [2.0] * 3), 6: iter([9.0, 1.0, 8.0])}  # seconds of a query alone, and of all six

    class Index:
        def search(self, queries, depth):
            assert depth == nn.DEPTH
            clock[0] += next(spent[len(queries)])

    monkeypatch.setattr(speeds.time, "thread_time", lambda: clock[0])
    result = speeds.rates({EXACT: Index()}, [(EXACT, NO_SETTING)], np.zeros((6, 2)), alone=3, rounds=2)[EXACT, NO_SETTING]
    assert result == pytest.approx({"alone": 0.75, "alone_low": 0.625, "alone_high": 0.875,  # 3 / 3 and 3 / 6
                                    "together": 3.375, "together_low": 2.0625, "together_high": 4.6875})  # 6 / 1 and 6 / 8


# ---- the steps ----

def test_every_setting_of_every_index_is_measured(folders):
    result = measured(folders)
    assert list(zip(result["kind"], result["setting"], strict=True)) == [(EXACT, 0), (HNSW, 10), (HNSW, 40), (IVF, 1), (IVF, 3)]
    assert result["recall"].between(0, 1).all()
    assert result["recall"][0] == 1.0
    assert result["recall_error"][0] == 0.0
    assert result["recall"][3] < result["recall"][4] < 1
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
    runs = nn.ann_runs.__wrapped__(tmp_path, tmp_path, None, queries, 8, [40], [1], 1)
    assert nn.run_of(runs, kind=EXACT, setting=0).groupby("query_id").size().tolist() == [4, 4]
    assert nn.run_of(runs, kind=IVF, setting=1).groupby("query_id").size().max() < 4


# ---- a larger collection, made of the real one ----

@pytest.fixture
def real():
    return vectors(50, seed=7)


def rows(vectors):
    return {row.tobytes() for row in vectors}


@pytest.mark.parametrize("size", [1, 20, 50, 51, 200])
def test_every_vector_has_length_one(real, size):
    copies = nn.resized(real, size, noise=1.0, seed=1)
    assert copies.shape == (size, 16)
    assert copies.dtype == np.float32
    assert np.allclose(np.linalg.norm(copies, axis=1), 1, atol=1e-6)


def test_a_smaller_collection_is_the_beginning_of_a_larger_one(real, monkeypatch):
    monkeypatch.setattr(nn, "BLOCK", 30)  # the last block is cut
    largest = nn.resized(real, 200, 1.0, 1)
    for size in (10, 50, 60, 80, 113):
        assert np.array_equal(nn.resized(real, size, 1.0, 1), largest[:size])


def test_a_part_is_of_real_vectors_in_random_order_and_a_larger_one_has_them_all_and_others(real):
    part, copies = (nn.resized(real, size, 1.0, 1) for size in (20, 120))
    assert rows(part) < rows(real) == rows(copies[:50])
    assert (len(rows(part)), len(rows(copies))) == (20, 120)
    assert not np.array_equal(part, real[:20])


@pytest.mark.parametrize("noise", [0.25, 0.5])
def test_the_noise_is_as_long_as_it_should_be(real, noise):
    expected = noise * nn.neighbour_distance(real, 1)
    copies = nn.resized(real, 2050, noise, 1)[50:]
    cosines = (copies @ real.T).max(1)
    # noise at a right angle to its original, as it is nearly in many dimensions: cosine 1 / sqrt(1 + noise^2)
    assert np.median(cosines) == pytest.approx(1 / np.sqrt(1 + expected**2), abs=0.03)


def test_the_distance_to_the_nearest_other_vector_against_brute_force(real):
    distances = np.linalg.norm(real[:, None] - real[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert nn.neighbour_distance(real, 1) == pytest.approx(np.median(distances.min(1)), rel=1e-4)
    assert nn.neighbour_distance(real[:1], 1) == 0.0  # one alone is copied
    assert nn.neighbour_distance(real[:2], 1) == pytest.approx(float(np.linalg.norm(real[0] - real[1])), rel=1e-4)
    assert np.allclose(nn.resized(real[:1], 5, 1.0, 1), real[:1], atol=1e-6)


# ---- exact search ----

@pytest.mark.parametrize("depth", [1, 10, 60, 200])
@pytest.mark.parametrize("block", [1_000, 64])
def test_search_is_numpys_brute_force(depth, block, monkeypatch):
    monkeypatch.setattr(nn, "BLOCK", block)
    random = np.random.default_rng(depth)
    passages, queries = (random.normal(size=(n, 16)).astype(np.float32) for n in (200, 7))
    places, scores = nn.search(passages, queries, depth)
    order = np.argsort(-scores, axis=1)[:, :depth]
    products = queries.astype(np.float64) @ passages.astype(np.float64).T
    assert np.take_along_axis(places, order, 1).tolist() == np.argsort(-products, axis=1)[:, :depth].tolist()
    assert np.allclose(np.take_along_axis(scores, order, 1), -np.sort(-products, axis=1)[:, :depth], atol=1e-5)


@pytest.mark.parametrize("block, nearer", [(1_000, 0), (30, 0), (1_000, 4)])
def test_all_that_ties_with_the_last_is_found(block, nearer, monkeypatch):
    monkeypatch.setattr(nn, "BLOCK", block)
    random = np.random.default_rng(2)
    passages = random.normal(size=(100, 48)).astype(np.float32)
    passages[10:90] = passages[10]  # eighty copies, more than are asked for at first
    passages[:nearer] = 2 * passages[10]
    queries = passages[[10]] + 0.01
    places, scores = nn.search(passages, queries, 5)
    assert set(range(nearer)) <= set(places[0].tolist())
    assert set(range(10, 90)) <= set(places[0].tolist())
    assert len(set(scores[0, np.isin(places[0], np.arange(10, 90))].tolist())) == 1  # and no copy scores better by rounding


def test_the_run_breaks_ties_by_id_and_ends_at_its_depth(tmp_path):
    passages = np.array([[1, 0], [0, 1], [1, 0], [1, 0], [0.5, 0]] + [[1, 0]] * 20, dtype=np.float32)
    np.save(tmp_path / "passages.npy", passages)
    np.save(tmp_path / "queries.npy", np.array([[1, 0], [0, 2]], dtype=np.float32))
    ids = [f"p{n:02}" for n in range(25)][::-1]  # the last in the order has the lowest id
    write_store(tmp_path, (Text(i, "", "") for i in ids))
    queries = pd.DataFrame({"query_id": ["b", "a"], "text": ["", ""]})
    run = nn.exact_search.definition.function(tmp_path, tmp_path, tmp_path, queries, 3)
    scores = queries.merge(pd.DataFrame({"doc_id": ids}), how="cross")
    scores["score"] = (np.load(tmp_path / "queries.npy") @ passages.T).ravel()
    assert run.equals(ranked(scores, 3).astype({"score": float}))
    assert run["doc_id"].tolist() == ["p24", "p22", "p21", "p23", "p24", "p22"]
    np.save(tmp_path / "queries.npy", np.empty((0, 2), dtype=np.float32))
    assert nn.exact_search.definition.function(tmp_path, tmp_path, tmp_path, queries[:0], 3).empty


# ---- compressed vectors ----

@pytest.mark.parametrize("code, expected", [(WHOLE, 64), ("SQ8", 16), ("SQ4", 8), ("PQ8", 8), ("PQ4", 4), ("PCA8,SQ8", 8),
                                            ("PCA8,Flat", 32), ("first8,Flat", 32), ("first8,SQ8", 8)])
def test_the_bytes_of_a_vector_of_sixteen_dimensions(code, expected):
    assert nn.compressed(code, vectors(300), 1).sa_code_size() == expected


def test_a_vector_cut_short_has_length_one_again():
    texts, queries = vectors(300), vectors(20, seed=2)
    short = texts[:, :8] / np.linalg.norm(texts[:, :8], axis=1, keepdims=True)
    short_queries = queries[:, :8] / np.linalg.norm(queries[:, :8], axis=1, keepdims=True)
    scores, places = nn.compressed("first8,Flat", texts, 1).search(queries, 10)
    products = short_queries @ short.T
    assert places.tolist() == np.argsort(-products, axis=1)[:, :10].tolist()
    assert np.allclose(scores, np.take_along_axis(products, places, 1), atol=1e-6)


def test_the_runs_have_ten_passages_of_every_query_for_every_code(folders, monkeypatch):
    monkeypatch.setattr(nn, "Texts", lambda store: [type("Text", (), {"doc_id": f"d{n}"}) for n in range(300)])
    queries = pd.DataFrame({"query_id": [f"q{n}" for n in range(20)]})
    runs = nn.compressed_runs.__wrapped__(*folders, None, queries, [WHOLE, "SQ8"], 1)
    whole = nn.run_of(runs, code=WHOLE)
    assert whole.groupby("query_id").size().tolist() == [10] * 20
    first = (vectors(20, seed=2) @ vectors(300).T)[0].argmax()
    assert whole[whole["query_id"] == "q0"].iloc[0]["doc_id"] == f"d{first}"
    assert set(runs["code"]) == {WHOLE, "SQ8"}


def test_speed_and_recall_of_each_code(folders):
    table = compressed_speed.__wrapped__(*folders, ["SQ8", "PQ4"], 5, 2, 1).set_index("code")
    assert table.index.tolist() == [WHOLE, "SQ8", "PQ4"]
    assert table.loc[WHOLE, "recall"] == 1.0 > table.loc["SQ8", "recall"] > table.loc["PQ4", "recall"]
    assert table["bytes"].tolist() == [64, 16, 4]
