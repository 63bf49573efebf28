"""The training of RepBERT from a start that ranks badly: which trainings it is, and what may be said of it."""

import pandas as pd
import pytest

from helpers.pages import page
from helpers.stories import unready
from helpers.systems.first_stages import repbert
from helpers.systems.testbed import SplitTestbed
from toys import of_values

FLAT, FALLING = pd.Series([1.0, 0.5, 0.49]), pd.Series([1.0, 0.5, 0.4])
ANY = of_values({"RR@10": [0.5] * 8, "R@10": [0.5] * 8})
SIGNS = list(unready.signs({unready.START: ANY, unready.TRAINED: ANY}, ANY, {}))


def test_it_is_repberts_training_on_another_backbone_all_queries_and_its_own_articles():
    first, second = unready.models(repbert(queries=100), "packaged:0", [4, 5])
    assert (first.backbone, first.queries, first.epochs, first.learning_rate, first.seed) == ("packaged:0", 0, 3, unready.RATE, 4)
    assert (first.loss, first.similarity, first.negatives, first.batch_size) == ("multi_label_margin", "dot", 0, 26)
    assert isinstance(first.bed, SplitTestbed)
    assert second.seed == 5
    assert second.pairs.key == first.pairs.key, "the seeds share their held-out queries"


def both(rank, recall):
    return of_values({"RR@10": [rank] * 8, "R@10": [recall] * 8})


@pytest.mark.parametrize("start, trained, bm25, last, expected", [
    (0.1, 0.9, 0.5, FLAT, [True, True, False, True, True]), (0.1, 0.3, 0.5, FALLING, [True, False, True, True, False]),
    (0.1, 0.1, 0.1, FLAT, [False, False, False, True, True])])
def test_the_discussion_rests_on_the_intervals_and_on_every_curve(start, trained, bm25, last, expected):
    own = {unready.START: both(start, 0.1), unready.TRAINED: both(trained, 0.8)}
    signed = unready.signs(own, both(bm25, 0.5), {"seed 1": FLAT, "seed 2": last})
    assert signed == dict(zip(SIGNS, expected, strict=True))
    assert not unready.signs(own, both(bm25, 0.8), {})[SIGNS[3]]


def test_without_a_start_the_section_says_so_and_nothing_is_signed():
    assert unready.models(repbert(), "", [1]) == []
    assert unready.systems([], None, 100) == {}
    assert unready.losses(unready.curves([])) == page.prose(unready.LEFT_OUT)
    empty = page.prose("")
    assert unready.table({}, None) == unready.comparisons({}, None) == empty
    assert unready.signs({}, None, {}) == {}


def test_the_table_names_bm25_first_and_the_comparisons_are_of_the_trained_one():
    own = {unready.START: of_values([0.1, 0.3] * 4, unready.START), unready.TRAINED: of_values([0.9, 0.7] * 4, unready.TRAINED)}
    bm25 = of_values([0.5, 0.4] * 4, "BM25")
    shown = str(unready.table(own, bm25))
    assert shown.index("BM25") < shown.index(unready.START) < shown.index(unready.TRAINED)
    assert "+0.600" in str(unready.comparisons(own, bm25))
