import numpy as np
import pytest
import torch

from helpers.encoders.bi_encoder import contrastive, margin_mse, multi_label_margin, triplet

# two queries; columns: positive of the first, its negative, positive of the second, its negative
SIMILARITY = torch.tensor([[0.9, 0.2, 0.5, 0.1],
                           [0.3, 0.4, 0.6, 0.7]])
POSITIVE = torch.tensor([0, 2])
OWN = torch.tensor([[False, True, False, False], [False, False, False, True]])
RELEVANT = torch.tensor([[True, False, False, False], [False, False, True, False]])
NAN = float("nan")  # a cross-encoder reads what was drawn for a query, and no other passage of the batch
TEACHER = torch.tensor([[3.0, 1.0, NAN, NAN], [NAN, NAN, 1.0, 0.5]])
BOTH = torch.tensor([[True, False, True, False], [False, False, True, False]])  # the second's positive suits the first as well


def test_triplet_by_hand():
    # first: (1 - 0.9) - (1 - 0.2) + 1 = 0.3; second: (1 - 0.6) - (1 - 0.7) + 1 = 1.1
    assert triplet(SIMILARITY, POSITIVE, OWN, 1.0).item() == pytest.approx(0.7)
    assert triplet(SIMILARITY, POSITIVE, OWN, 0.5).item() == pytest.approx(0.3)  # the first has its margin: 0
    assert triplet(SIMILARITY, POSITIVE, OWN, 0.0).item() == pytest.approx(0.05)


def test_triplet_takes_no_passage_of_another_query():
    changed = SIMILARITY.clone()
    changed[0, 2:], changed[1, :2] = 99.0, 99.0
    assert triplet(changed, POSITIVE, OWN, 1.0).item() == pytest.approx(0.7)


def test_multi_label_margin_by_hand():
    # first: (1-.7)+(1-.4)+(1-.8) = 1.1; second: (1-.3)+(1-.2)+(1+.1) = 2.6; each over four passages
    assert multi_label_margin(SIMILARITY, RELEVANT).item() == pytest.approx((1.1 + 2.6) / 4 / 2)


def test_a_relevant_passage_of_another_query_is_a_positive():
    # first: i = 0: (1-.7)+(1-.8) = .5; i = 2: (1-.3)+(1-.4) = 1.3; the pair of both relevant ones costs nothing
    assert multi_label_margin(SIMILARITY, BOTH).item() == pytest.approx((1.8 + 2.6) / 4 / 2)


@pytest.mark.parametrize("relevant, counted", [(RELEVANT, [0.9, 0.2, 0.5, 0.1]), (BOTH, [0.9, 0.2, 0.1])])
def test_contrastive_by_hand_leaves_other_relevant_passages_out(relevant, counted):
    first, second = np.exp(counted), np.exp([0.3, 0.4, 0.6, 0.7])
    expected = -(np.log(first[0] / first.sum()) + np.log(second[2] / second.sum())) / 2
    assert contrastive(SIMILARITY, POSITIVE, relevant).item() == pytest.approx(expected, rel=1e-5)


def test_margin_mse_by_hand():
    # margins: first 0.9 - 0.2 = 0.7, the teacher's 2; second 0.6 - 0.7 = -0.1, the teacher's 0.5
    assert margin_mse(SIMILARITY, POSITIVE, OWN, TEACHER).item() == pytest.approx((1.3 ** 2 + 0.6 ** 2) / 2)
    # at half the scale they are 1.4 and -0.2
    assert margin_mse(SIMILARITY, POSITIVE, OWN, TEACHER, 0.5).item() == pytest.approx((0.6 ** 2 + 0.7 ** 2) / 2)


def test_a_low_temperature_sharpens_the_contrastive_loss():
    at_half = contrastive(SIMILARITY, POSITIVE, RELEVANT, temperature=0.5).item()
    assert at_half == pytest.approx(contrastive(SIMILARITY * 2, POSITIVE, RELEVANT).item())
