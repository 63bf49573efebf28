"""What is said of vectors in fewer bytes and of a vector for each word follows the values."""

import pandas as pd
import pytest

from helpers.encoders.nearest_neighbours import WHOLE
from helpers.stories import smaller_vectors
from toys import of_values

CODES = (WHOLE, "SQ8", "PCA96,Flat", "first96,Flat")


@pytest.mark.parametrize("means, expected", [
    ((0.8, 0.8, 0.2, 0.2), [True, True]), ((0.8, 0.2, 0.2, 0.2), [False, True]),
    ((0.8, 0.8, 0.8, 0.2), [True, False]), ((0.8, 0.8, 0.2, 0.8), [True, False])])
def test_the_discussion_rests_on_what_the_codes_lose(means, expected):
    systems = {code: of_values([mean] * 8) for code, mean in zip(CODES, means, strict=True)}
    assert list(smaller_vectors.signs(systems).values()) == expected


def test_codes_that_a_run_leaves_out_carry_no_sentence():
    assert not any(smaller_vectors.signs({WHOLE: of_values([0.8] * 8)}).values())


@pytest.mark.parametrize("code, saved", [
    ("SQ4", "fewer bits of each dimension"), ("PQ48", "one byte for several dimensions"),
    ("PCA192,SQ8", "fewer dimensions, the principal ones"),
    ("first96,Flat", "fewer dimensions, the first ones"), ("Flat", "every dimension in 32 bits, and other codes")])
def test_codes_look_alike_by_what_they_save_on(code, saved):
    assert smaller_vectors.family(code) == saved


def test_the_figure_tells_every_code_in_words():
    sizes = pd.DataFrame({"code": CODES, "bytes": [64, 16, 16, 16]})
    systems = {code: of_values([0.5] * 8) for code in CODES}
    text = smaller_vectors.frontier(systems, sizes).html
    assert all(f"{code}: RR@10 0.500 at {bytes_}" in text for code, bytes_ in sizes.itertuples(index=False))
