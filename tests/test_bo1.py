import math

import pytest

from helpers.retrieval.bo1 import expanded, expansion, informativeness


def test_the_weight_of_a_term_by_hand():
    # lambda = 1: log2(2) + 3 log2(2) = 4 bits
    assert informativeness(3, 10, 10) == 4.0
    # lambda = 1/3: log2(4/3) + 2 log2(4)
    assert informativeness(2, 5, 15) == pytest.approx(math.log2(4 / 3) + 4)


@pytest.mark.parametrize("collection, documents", [(0, 10), (3, 0)])
def test_a_term_that_is_not_in_the_collection_is_refused(collection, documents):
    with pytest.raises(ValueError, match="no informativeness"):
        informativeness(1, collection, documents)


def test_the_most_informative_terms_come_first_and_ties_by_the_alphabet():
    expanded = expansion({"oven": 2, "bread": 2, "heat": 1, "air": 1}, {"oven": 5, "bread": 5, "heat": 5, "air": 15}, 15, 3)
    assert list(expanded) == ["bread", "oven", "heat"]
    assert expanded["bread"] == pytest.approx(math.log2(4 / 3) + 4)


def test_the_expanded_query_adds_normalised_weights():
    weights = expanded(["brown", "bread", "bread"], {"bread": 4.0, "oven": 2.0})
    assert weights == {"brown": 0.5, "bread": 2.0, "oven": 0.5}
