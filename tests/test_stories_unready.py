"""The training of RepBERT from starts that rank badly: which trainings it is, and what may be said of it."""

from dataclasses import replace

import pandas as pd
import pytest

from helpers.pages import page
from helpers.stories import unready
from helpers.systems.first_stages import repbert
from helpers.systems.starting_points import START, chosen_start
from helpers.systems.testbed import SplitTestbed
from toys import of_values

FLAT, FALLING = pd.Series([1.0, 0.5, 0.49]), pd.Series([1.0, 0.5, 0.4])
LAYERS = "packaged:0,1,2"
BEFORE, AFTER = unready.untouched(LAYERS), unready.trained_from(LAYERS)


def test_it_is_repberts_training_on_another_backbone_all_queries_and_its_own_articles():
    first, second = unready.models(repbert(queries=100), ["packaged:0"], [4, 5])["packaged:0"]
    assert (first.backbone, first.queries, first.epochs, first.learning_rate, first.seed) == ("packaged:0", 0, 3, unready.RATE, 4)
    assert (first.loss, first.similarity, first.negatives, first.batch_size) == ("multi_label_margin", "dot", 0, 26)
    assert isinstance(first.bed, SplitTestbed)
    assert second.seed == 5
    assert second.pairs.key == first.pairs.key, "the seeds share their held-out queries"


def test_the_start_of_condenser_is_its_own_backbone_after_the_masked_words():
    both = unready.models(repbert(), [LAYERS, START], [1, 2, 3]).values()
    assert [[model.seed for model in own] for own in both] == [[1, 2, 3], [1, 2]]
    layers, words = (own[0] for own in both)
    assert (words.backbone, words.start.key) == ("packaged", chosen_start("packaged").model.key)
    assert words.zero_shot().model == words.start
    assert (words.epochs, words.learning_rate, words.pairs.key) == (layers.epochs, layers.learning_rate, layers.pairs.key)


def both(rank, recall):
    return of_values({"RR@10": [rank] * 8, "R@10": [recall] * 8})


@pytest.mark.parametrize("start, trained, bm25, last, expected", [
    (0.1, 0.9, 0.5, FLAT, [True, False, True, True]), (0.1, 0.3, 0.5, FALLING, [True, True, True, False]),
    (0.1, 0.1, 0.1, FLAT, [False, False, True, True])])
def test_the_discussion_rests_on_the_intervals_and_on_every_curve(start, trained, bm25, last, expected):
    own, lines = {BEFORE: both(start, 0.1), AFTER: both(trained, 0.8)}, {LAYERS: {"seed 1": FLAT, "seed 2": last}}
    signed = unready.signs(lines, own, both(bm25, 0.5))
    assert all(sign.startswith("from three layers, ") for sign in signed)
    assert list(signed.values()) == expected
    assert not list(unready.signs(lines, own, both(bm25, 0.8)).values())[2]


def test_the_two_starts_of_the_book_are_compared():
    names = [name for start in (LAYERS, START) for name in (unready.untouched(start), unready.trained_from(start))]
    lines = {LAYERS: {"seed 1": FLAT}, START: {"seed 1": FLAT}}
    for words, expected in ((0.5, True), (0.3, False)):
        own = dict(zip(names, (replace(both(value, 0.5), label=name) for name, value in
                               zip(names, (0.1, 0.3, 0.1, words), strict=True)), strict=True))
        signs = unready.signs(lines, own, both(0.5, 0.5))
        assert signs["RepBERT from masked words surely ranks above RepBERT from three layers"] is expected


def test_only_what_was_taught_may_know_its_articles():
    assert list(unready.taught([LAYERS], {BEFORE: both(0.1, 0.1), AFTER: both(0.3, 0.5)})) == [AFTER]


def test_without_a_start_the_section_says_so_and_nothing_is_signed():
    assert unready.models(repbert(), [], [1]) == unready.systems({}, None, 100) == {}
    assert unready.losses({}) == page.prose(unready.LEFT_OUT)
    assert unready.table({}, None) == unready.comparisons([], {}, None) == page.prose("")
    assert unready.signs({}, {}, None) == {}


def with_recall(values, label):
    return of_values(dict.fromkeys(["RR@10", "R@100", "R@1000"], values), label)


def test_the_table_names_bm25_first_and_the_comparisons_are_of_the_trained_one():
    own = {BEFORE: with_recall([0.1, 0.3] * 4, BEFORE), AFTER: with_recall([0.9, 0.7] * 4, AFTER)}
    bm25 = with_recall([0.5, 0.4] * 4, "BM25")
    shown = str(unready.table(own, bm25))
    assert shown.index("BM25") < shown.index(BEFORE) < shown.index(AFTER)
    compared = str(unready.comparisons([LAYERS], own, bm25))
    assert "+0.600" in compared and "+0.350" in compared
