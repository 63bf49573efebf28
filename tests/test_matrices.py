"""Matrices as figures: what is above and what below the diagonal, and the words for those who do not see it."""

import re

import numpy as np
import pandas as pd

from helpers.pages.figures import DIFFERENT, SAME, confusion_matrix, pair_matrix
from tables import text_of


def square(values, names):
    return pd.DataFrame(values, index=names, columns=names)


def three(above, below):
    names = ["BM25", "Avg", "<CLS>"]
    means = np.array([0.25, 0.5, 0.4])
    sides = [square(np.zeros((3, 3), dtype=bool), names) for _ in range(2)]
    for side, pairs in zip(sides, (above, below), strict=True):
        for a, b in pairs:
            side.iloc[a, b] = side.iloc[b, a] = True
    return pair_matrix(square(means[:, None] - means, names), *sides, ("ten means", "Holm"), "RR@10", "The pairs.")


def test_the_text_says_what_differs_above_and_below_the_diagonal():
    text = text_of(three(above=[(0, 1), (0, 2)], below=[(0, 1)]))
    assert "Above the diagonal (ten means) 2 of 3 pairs differ, not Avg and <CLS>." in text
    assert "Below the diagonal (Holm) 1 of 3 pairs differ, not BM25 and <CLS>; Avg and <CLS>." in text
    assert text.endswith("The largest difference is +0.250, Avg over BM25.")


def test_each_rule_marks_its_own_side():
    # rows from the top: above the diagonal all differ, below none does
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", three([(0, 1), (0, 2), (1, 2)], []).html)
    assert [text for text in texts if text in (DIFFERENT, SAME)] == [DIFFERENT, DIFFERENT, SAME, DIFFERENT, SAME, SAME]


def test_systems_are_named_once_and_numbered():
    html = three([], []).html
    assert "BM25  1" in html
    assert "&lt;CLS&gt;  3" in html
    assert "<CLS>" not in html


def test_a_confusion_matrix_gives_its_counts_in_words():
    counts = pd.DataFrame([[1200, 3], [0, 0]], index=["DESC", "NUM"], columns=["DESC", "none"])
    shown = confusion_matrix(counts, "label", "type", "Types.")
    assert text_of(shown) == "Counts of label by type. DESC: 1,200 DESC, 3 none. NUM: none."
    assert ">1,200</text>" in shown.html
