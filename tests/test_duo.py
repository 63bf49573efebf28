"""duoBERT's five aggregations, computed by hand."""

import numpy as np
import pytest

from helpers.errors import BadInput
from helpers.reranking.duo import DUOS, compared, duo_scores

N = np.nan
PAIRS = np.array([[N, 0.9, 0.6], [0.2, N, 0.5], [0.4, 0.7, N]])  # 0.5 is no win; p_ij and p_ji need not add up to 1


@pytest.mark.parametrize(("how", "scores"), [
    ("sum", [1.5, 0.7, 1.1]), ("sample", [1.5, 0.7, 1.1]), ("binary", [2, 0, 1]), ("min", [0.6, 0.2, 0.4]),
    ("max", [0.9, 0.5, 0.7])])
def test_aggregations(how, scores):
    assert duo_scores(PAIRS, how) == pytest.approx(scores)


def test_every_aggregation_is_tried_above():
    assert set(DUOS) == {"sum", "sample", "binary", "min", "max"}


def test_what_was_not_compared_does_not_count():
    assert duo_scores(np.array([[N, 0.9, N], [0.2, N, N], [N, N, N]]), "sum") == pytest.approx([0.9, 0.2, 0])


def test_all_ordered_pairs_or_some_drawn_without_replacement():
    assert compared(3, "sum", 1) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    drawn = compared(10, "sample", 4)
    assert [sum(i == document for i, _ in drawn) for document in range(10)] == [4] * 10
    assert len(set(drawn)) == 40 and all(i != j for i, j in drawn)
    assert compared(10, "sample", 4) == drawn != compared(10, "sample", 4, seed=2)
    assert compared(1, "sum", 1) == [] == compared(0, "sum", 1)


def test_an_unknown_name_is_an_error_with_the_known_ones():
    with pytest.raises(BadInput, match="sum, binary, min, max, sample"):
        duo_scores(PAIRS, "median")
