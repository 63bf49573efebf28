"""What came after RepBERT, from the same start: which trainings it is, and what may be said of them."""

import pytest

from helpers.errors import BadInput
from helpers.pages import page
from helpers.stories import anchors, unready
from helpers.systems.first_stages import repbert
from helpers.systems.recipe import recipe
from helpers.systems.testbed import SplitTestbed
from tables import cells
from test_stories_unready import FALLING, FLAT, both, with_recall

OTHERS = unready.models(repbert(queries=100), ["packaged:0", "packaged:1"], [4, 5])
TRAINED, REPBERT = OTHERS["packaged:0"], unready.trained_from("packaged:0")


def test_each_is_repberts_training_with_negatives_of_its_first_encoder_that_the_base_has_read():
    hard, taught = anchors.models(OTHERS, list(anchors.ANCHORS)).values()
    assert [model.seed for model in (*hard, *taught)] == [4, 5, 4, 5]
    for first in (hard[0], taught[0]):
        assert (first.backbone, first.queries, first.epochs, first.learning_rate) == ("packaged:0", 0, 3, unready.RATE)
        assert (first.negatives, first.candidates) == (1, anchors.READ)
        assert first.negatives_from == TRAINED[0]
        assert first.denoised_by == recipe().start, "the base re-ranker of the whole book"
        assert isinstance(first.bed, SplitTestbed)
        assert first.model.recipe()["arguments"].get("start") is None, "trained anew"
    assert len({model.pairs.key for model in (*hard, *taught)}) == 1, "the base reads the candidates once for all"
    assert (hard[0].loss, taught[0].loss, taught[0].temperature) == ("multi_label_margin", "margin_mse", anchors.SCALE)


def test_without_another_start_the_section_says_so_and_an_unknown_name_is_refused():
    assert anchors.models({}, ["MarginMSE"]) == anchors.models(OTHERS, []) == anchors.systems({}, None, 100) == {}
    assert anchors.table({}, {}, None) == page.prose(anchors.LEFT_OUT)
    assert anchors.comparisons({}, {}) == anchors.learning_table({}) == page.prose("")
    assert anchors.signs({}, {}, None, {}) == {}
    with pytest.raises(BadInput, match="anchor 'ANCE': one of hard negatives, MarginMSE"):
        anchors.models(OTHERS, ["ANCE"])


def test_the_table_holds_what_is_compared_and_the_differences_are_from_repbert():
    rows = {"hard negatives": with_recall([0.9, 0.7] * 4, "hard negatives")}
    own = {REPBERT: with_recall([0.5, 0.4] * 4, REPBERT), "another": with_recall([0.9] * 8, "another")}
    shown = str(anchors.table(rows, own, with_recall([0.6, 0.5] * 4, "BM25")))
    assert shown.index("BM25") < shown.index(REPBERT) < shown.index("hard negatives")
    assert "another" not in shown and "R@1000" not in shown  # of lists of a hundred it is R@100 once more
    assert "+0.350" in str(anchors.comparisons(rows, own))


@pytest.mark.parametrize("value, recall, last, expected", [
    (0.9, 0.8, FLAT, [True, True, False, True, True, False]), (0.1, 0.2, FALLING, [False, False, True, False, False, True]),
    (0.4, 0.5, FLAT, [True, True, True, True, True, False]), (0.3, 0.5, FLAT, [False, False, True, True, False, False])])
def test_the_discussion_rests_on_means_intervals_and_every_curve(value, recall, last, expected):
    own, bm25 = {REPBERT: both(0.3, 0.5)}, both(0.5, 0.5)
    lines = {anchors.HARD: {"seed 1": FLAT, "seed 2": last}}
    later = dict.fromkeys(anchors.ANCHORS, both(value, recall))
    assert list(anchors.signs(later, own, bm25, lines).values()) == expected
    assert cells(anchors.learning_table(lines))[1] == [anchors.HARD, "seed 1", "1.000", "0.490", "0.490"]
