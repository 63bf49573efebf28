import numpy as np
import pytest

from helpers.encoders import nearest_neighbours
from helpers.encoders.nearest_neighbours import neighbour_distance, resized


@pytest.fixture
def real():
    vectors = np.random.default_rng(7).standard_normal((50, 16)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def rows(vectors):
    return {row.tobytes() for row in vectors}


@pytest.mark.parametrize("size", [1, 20, 50, 51, 200])
def test_every_vector_has_length_one(real, size):
    copies = resized(real, size, noise=1.0, seed=1)
    assert copies.shape == (size, 16)
    assert copies.dtype == np.float32
    assert np.allclose(np.linalg.norm(copies, axis=1), 1, atol=1e-6)


def test_a_smaller_collection_is_the_beginning_of_a_larger_one(real, monkeypatch):
    monkeypatch.setattr(nearest_neighbours, "BLOCK", 30)  # the last block is cut
    largest = resized(real, 200, 1.0, 1)
    for size in (10, 50, 60, 80, 113):
        assert np.array_equal(resized(real, size, 1.0, 1), largest[:size])


def test_a_part_is_of_real_vectors_in_random_order_and_a_larger_one_has_them_all_and_others(real):
    part, copies = (resized(real, size, 1.0, 1) for size in (20, 120))
    assert rows(part) < rows(real) == rows(copies[:50])
    assert (len(rows(part)), len(rows(copies))) == (20, 120)
    assert not np.array_equal(part, real[:20])


@pytest.mark.parametrize("noise", [0.25, 0.5])
def test_the_noise_is_as_long_as_it_should_be(real, noise):
    expected = noise * neighbour_distance(real, 1)
    copies = resized(real, 2050, noise, 1)[50:]
    cosines = (copies @ real.T).max(1)
    # noise at a right angle to its original, as it is nearly in many dimensions: cosine 1 / sqrt(1 + noise^2)
    assert np.median(cosines) == pytest.approx(1 / np.sqrt(1 + expected**2), abs=0.03)


def test_the_distance_to_the_nearest_other_vector_against_brute_force(real):
    distances = np.linalg.norm(real[:, None] - real[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert neighbour_distance(real, 1) == pytest.approx(np.median(distances.min(1)), rel=1e-4)


def test_a_single_vector_has_no_neighbour_and_is_copied(real):
    assert neighbour_distance(real[:1], 1) == 0.0
    assert np.allclose(resized(real[:1], 5, 1.0, 1), real[:1], atol=1e-6)
