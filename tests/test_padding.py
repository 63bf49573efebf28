import numpy as np
import pytest

from helpers.costs.speed import grouped_order, padded, padding
from helpers.networks.backbone import resolve


def test_padded_tokens_by_hand():
    lengths = np.array([3, 5, 2, 9])
    assert padded(lengths, [np.array([0, 1]), np.array([2, 3])]) == 2 * 5 + 2 * 9
    assert padded(lengths, [np.array([0, 1]), np.array([2, 3])], multiple=4) == 2 * 8 + 2 * 12
    assert padded(lengths, [np.array([n]) for n in range(4)]) == 19  # a text alone has no padding


@pytest.mark.slow
def test_grouping_by_length_leaves_little_padding_of_many_texts():
    lengths = np.random.default_rng(1).integers(16, 257, size=6400)
    real = lengths.sum()
    grouped = padded(lengths, np.split(grouped_order(lengths, 16, 1), 400)) / real
    at_random = padded(lengths, np.split(np.random.default_rng(1).permutation(6400), 400)) / real
    assert 1 < grouped < 1.03
    assert at_random == pytest.approx(241.9 / 136, rel=0.02)  # the mean of the longest of 16 draws, over the mean


@pytest.mark.slow
def test_the_tokens_of_a_model_are_counted(tiny, store):
    bed, encoder = tiny.bed, resolve(tiny.backbone)
    counted = padding(tiny.groups, bed.query_step, bed.store, bed.tokens(encoder), encoder.whole(),
                      tiny.batch_size * tiny.size, tiny.max_length, tiny.query_length).value()
    assert counted["pairs"] == len(tiny.groups.value())
    assert counted["real"] <= counted["unrounded"] <= counted["grouped"]
    assert counted["packed"] == counted["real"] <= counted["sorted"] <= counted["grouped"] + counted["pairs"]
    assert counted["random"] >= counted["real"]
