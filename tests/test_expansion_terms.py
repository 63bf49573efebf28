import math

import pytest

from helpers.retrieval.feedback import WEIGHTINGS, Sizes, bo1, expanded, expansion, kl, printed

SIZES = Sizes(documents=15, words=120, trusted=8)


def test_bo1_by_hand():
    # lambda = 1: log2(2) + 3 log2(2) = 4 bits
    assert bo1(3, 10, Sizes(10, 100, 9)) == 4.0
    # lambda = 1/3: log2(4/3) + 2 log2(4)
    assert bo1(2, 5, SIZES) == pytest.approx(math.log2(4 / 3) + 4)


def test_kl_by_hand():
    # p = 2/8, q = 5/120: 1/4 log2(6)
    assert kl(2, 5, SIZES) == pytest.approx(math.log2(6) / 4)
    assert kl(1, 15, SIZES) == 0.0  # p = q: no more often than anywhere
    assert kl(1, 30, SIZES) == 0.0


def test_the_printed_formula_by_hand():
    # lambda = 5/15, of the feedback documents: log2(4/3) - 5 (1/3) / (4/3)
    assert printed(5, 5, SIZES) == pytest.approx(math.log2(4 / 3) - 1.25)
    assert printed(5, 5, SIZES) == printed(5, 99, SIZES)  # whether a term is rare does not count
    assert printed(1, 9, SIZES) > printed(2, 9, SIZES)  # and the more often it occurs, the less it weighs


def test_the_most_informative_terms_come_first_and_ties_by_the_alphabet():
    weights = expansion({"oven": 2, "bread": 2, "heat": 1, "air": 1}, {"oven": 5, "bread": 5, "heat": 5, "air": 15}, SIZES, 3)
    assert list(weights) == ["bread", "oven", "heat"]


def test_weights_are_over_the_bound_of_a_term_that_is_nowhere_else():
    weights = expansion({"bread": 2, "heat": 1}, {"bread": 5, "heat": 5}, SIZES, 2)
    bound = math.log2(1 + 2 / 15) + 2 * math.log2((1 + 2 / 15) / (2 / 15))  # lambda = 2/15: both occurrences are here
    assert weights["bread"] == pytest.approx((math.log2(4 / 3) + 4) / bound)
    assert weights["heat"] == pytest.approx((math.log2(4 / 3) + 2) / bound)
    assert expansion({"bread": 2}, {"bread": 2}, SIZES, 1) == {"bread": 1.0}
    # KL: 1/4 log2(6), over 1/4 log2(120 / 8)
    assert expansion({"bread": 2}, {"bread": 5}, SIZES, 1, "KL")["bread"] == pytest.approx(math.log2(6) / math.log2(15))


def test_terms_that_tell_nothing_are_not_added():
    assert expansion({"water": 1}, {"water": 30}, SIZES, 3, "KL") == {}
    assert expansion({}, {}, SIZES, 3) == {}


@pytest.mark.parametrize("weighting", list(WEIGHTINGS))
def test_no_weight_is_above_one(weighting):
    weights = expansion({"a": 4, "b": 1, "c": 2}, {"a": 60, "b": 1, "c": 3}, SIZES, 3, weighting)
    assert weights and all(0 < weight <= 1 for weight in weights.values())


def test_counts_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="'bread' occurs 3 times in some documents, 2 in all"):
        expansion({"bread": 3}, {"bread": 2}, SIZES, 1)


def test_the_expanded_query_adds_the_weights():
    weights = expanded(["brown", "bread", "bread"], {"bread": 1.0, "oven": 0.5})
    assert weights == {"brown": 0.5, "bread": 2.0, "oven": 0.5}
