import faiss
import numpy as np
import pandas as pd
import pytest

from helpers.costs.speed import compressed_speed
from helpers.encoders import nearest_neighbours as codes
from helpers.encoders.nearest_neighbours import WHOLE, compressed, compressed_run, compressed_runs
from test_nearest_neighbours import folders, vectors  # noqa: F401


@pytest.mark.parametrize("code, expected", [(WHOLE, 64), ("SQ8", 16), ("SQ4", 8), ("PQ8", 8), ("PQ4", 4), ("PCA8,SQ8", 8),
                                            ("PCA8,Flat", 32), ("first8,Flat", 32), ("first8,SQ8", 8)])
def test_the_bytes_of_a_vector_of_sixteen_dimensions(code, expected):
    assert compressed(code, vectors(300), 1).sa_code_size() == expected


def test_a_vector_cut_short_has_length_one_again():
    texts, queries = vectors(300), vectors(20, seed=2)
    short = texts[:, :8] / np.linalg.norm(texts[:, :8], axis=1, keepdims=True)
    short_queries = queries[:, :8] / np.linalg.norm(queries[:, :8], axis=1, keepdims=True)
    scores, places = compressed("first8,Flat", texts, 1).search(queries, 10)
    products = short_queries @ short.T
    assert places.tolist() == np.argsort(-products, axis=1)[:, :10].tolist()
    assert np.allclose(scores, np.take_along_axis(products, places, 1), atol=1e-6)


def test_more_dimensions_than_there_are_keep_all():
    texts, queries = vectors(300), vectors(20, seed=2)
    longer, whole = (compressed(code, texts, 1).search(queries, 10)[1].tolist() for code in ("first99,Flat", WHOLE))
    assert longer == whole


def test_eight_bits_round_by_hand():
    """Two values a dimension, the ends of its range: eight bits hold them without an error, and the inner product is theirs."""
    texts = np.array([[0, 1], [1, 0], [1, 1]], dtype=np.float32)
    scores, places = compressed("SQ8", texts, 1).search(np.array([[2, 1]], dtype=np.float32), 3)
    assert places.tolist() == [[2, 1, 0]]
    assert scores[0] == pytest.approx([3, 2, 1], abs=0.02)


def test_product_quantisation_is_seeded_and_orders_no_numbers():
    same, again, other = (faiss.serialize_index(compressed("PQ4", vectors(300), seed)) for seed in (1, 1, 2))
    assert np.array_equal(same, again)
    assert not np.array_equal(same, other)
    assert not compressed("PQ4", vectors(300), 1).do_polysemous_training


def test_the_runs_have_ten_passages_of_every_query_for_every_code(folders, monkeypatch):  # noqa: F811
    monkeypatch.setattr(codes, "Texts", lambda store: [type("Text", (), {"doc_id": f"d{n}"}) for n in range(300)])
    queries = pd.DataFrame({"query_id": [f"q{n}" for n in range(20)]})
    runs = compressed_runs.__wrapped__(*folders, None, queries, [WHOLE, "SQ8"], 1)
    whole = compressed_run(runs, WHOLE)
    assert whole.groupby("query_id").size().tolist() == [10] * 20
    first = (vectors(20, seed=2) @ vectors(300).T)[0].argmax()
    assert whole[whole["query_id"] == "q0"].iloc[0]["doc_id"] == f"d{first}"
    assert set(runs["code"]) == {WHOLE, "SQ8"}


def test_speed_and_recall_of_each_code(folders):  # noqa: F811
    table = compressed_speed.__wrapped__(*folders, ["SQ8", "PQ4"], 5, 2, 1).set_index("code")
    assert table.index.tolist() == [WHOLE, "SQ8", "PQ4"]
    assert table.loc[WHOLE, "recall"] == 1.0 > table.loc["SQ8", "recall"] > table.loc["PQ4", "recall"]
    assert table["bytes"].tolist() == [64, 16, 4]
    assert (table["alone_low"] <= table["alone_high"]).all()
