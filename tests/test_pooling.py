import numpy as np
import pytest
import torch

from helpers.networks.pooling import POOLINGS, normalised, pool

# two texts of three tokens; the second has one token of padding, with states that must not show
HIDDEN = torch.tensor([[[1.0, -4.0], [2.0, -5.0], [6.0, -3.0]],
                       [[3.0, 0.0], [3.0, 8.0], [99.0, 99.0]]])
MASK = torch.tensor([[1, 1, 1], [1, 1, 0]])


@pytest.mark.parametrize("how, expected", [("mean", [[3.0, -4.0], [3.0, 4.0]]), ("cls", [[1.0, -4.0], [3.0, 0.0]]),
                                           ("max", [[6.0, -3.0], [3.0, 8.0]])])
def test_each_pooling_by_hand_with_padding(how, expected):
    assert pool(HIDDEN, MASK, how).tolist() == expected
    assert pool(HIDDEN, MASK.bool(), how).tolist() == expected


@pytest.mark.parametrize("how", POOLINGS)
def test_more_padding_changes_nothing(how):
    random = torch.Generator().manual_seed(1)
    hidden, mask = torch.randn(4, 5, 3, generator=random), torch.ones(4, 5)
    longer = torch.cat([hidden, torch.full((4, 2, 3), 50.0)], dim=1)
    padded = torch.cat([mask, torch.zeros(4, 2)], dim=1)
    assert torch.allclose(pool(hidden, mask, how), pool(longer, padded, how), atol=1e-6)


@pytest.mark.parametrize("how", POOLINGS)
def test_gradients_reach_real_tokens_only(how):
    hidden = HIDDEN.clone().requires_grad_(True)
    pool(hidden, MASK, how).sum().backward()
    assert hidden.grad[1, 2].tolist() == [0.0, 0.0]
    assert hidden.grad[1, 0].abs().sum() > 0


def test_normalised_vectors_have_length_one_and_keep_their_direction():
    assert normalised(torch.tensor([[3.0, 4.0], [0.0, -2.0]])).tolist() == pytest.approx(np.array([[0.6, 0.8], [0.0, -1.0]]))


def test_an_unknown_pooling_is_refused_by_name():
    with pytest.raises(ValueError, match="'sum': one of mean, cls, max"):
        pool(HIDDEN, MASK, "sum")
