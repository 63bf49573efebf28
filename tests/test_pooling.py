import numpy as np
import pytest
import torch

from helpers.networks.encoder import normalised, pool

# two texts of three tokens; the second has one token of padding, with states that must not show
HIDDEN = torch.tensor([[[1.0, -4.0], [2.0, -5.0], [6.0, -3.0]],
                       [[3.0, 0.0], [3.0, 8.0], [99.0, 99.0]]])
MASK = torch.tensor([[1, 1, 1], [1, 1, 0]])


@pytest.mark.parametrize("how, expected", [("mean", [[3.0, -4.0], [3.0, 4.0]]), ("cls", [[1.0, -4.0], [3.0, 0.0]]),
                                           ("max", [[6.0, -3.0], [3.0, 8.0]])])
def test_each_pooling_by_hand_with_padding(how, expected):
    assert pool(HIDDEN, MASK, how).tolist() == expected
    assert pool(HIDDEN, MASK.bool(), how).tolist() == expected


def test_normalised_vectors_have_length_one_and_keep_their_direction():
    assert normalised(torch.tensor([[3.0, 4.0], [0.0, -2.0]])).tolist() == pytest.approx(np.array([[0.6, 0.8], [0.0, -1.0]]))
