"""What is said of vectors in fewer bytes and of a vector for each word follows the values."""

import pandas as pd
import pytest

from helpers.encoders.compressed import WHOLE
from helpers.stories import late_interaction, smaller_vectors
from toys import of_values

SIGNS = list(smaller_vectors.signs({WHOLE: of_values([0.8] * 8)},
                                   pd.DataFrame({"code": [WHOLE], "alone_low": [1.0], "alone_high": [2.0]})))
SIZES = pd.DataFrame({"code": [WHOLE, "SQ8", "PQ96", "PCA96,Flat", "first96,Flat"], "bytes": [64, 16, 4, 16, 16]})


def of_codes(sq8=0.8, pq96=0.8, pca=0.2, first=0.2, speed=1.0):
    systems = dict(zip(SIZES["code"], (of_values([mean] * 8) for mean in (0.8, sq8, pq96, pca, first)), strict=True))
    sizes = SIZES.assign(alone_low=[1.0, 1.0, 1.0, 1.0, speed], alone_high=2.0)
    return list(smaller_vectors.signs(systems, sizes).values())


@pytest.mark.parametrize("changed, expected", [
    ({}, [True, True, True, False]), ({"sq8": 0.2}, [False, True, True, False]), ({"pq96": 0.2}, [True, False, True, False]),
    ({"pca": 0.8}, [True, True, False, False]), ({"first": 0.8}, [True, True, False, False]), ({"speed": 3.0}, [True] * 4)])
def test_the_discussion_rests_on_what_the_codes_lose(changed, expected):
    assert of_codes(**changed) == expected


def test_codes_that_a_run_leaves_out_carry_no_sentence():
    alone = smaller_vectors.signs({WHOLE: of_values([0.8] * 8)}, SIZES.assign(alone_low=1.0, alone_high=2.0))
    assert alone == dict.fromkeys(SIGNS, False)


@pytest.mark.parametrize("code, saved", [
    ("SQ4", "fewer bits of each dimension"), ("PQ48", "one byte for several dimensions"),
    ("PCA192,SQ8", "fewer dimensions, the principal ones"),
    ("first96,Flat", "fewer dimensions, the first ones"), ("Flat", "every dimension in 32 bits, and other codes")])
def test_codes_look_alike_by_what_they_save_on(code, saved):
    assert smaller_vectors.family(code) == saved


def test_the_figure_tells_every_code_in_words():
    systems = {code: of_values([0.5] * 8) for code in SIZES["code"]}
    text = smaller_vectors.frontier(systems, SIZES).html
    assert all(f"{code}: RR@10 0.500 at {bytes_}" in text for code, bytes_ in SIZES.itertuples(index=False))


@pytest.mark.parametrize("words, expected", [(0.9, True), (0.5, False), (0.2, False)])
def test_a_vector_for_each_word_must_surely_rank_higher(words, expected):
    assert list(late_interaction.signs(of_values([words] * 8), of_values([0.5] * 8)).values()) == [expected]
