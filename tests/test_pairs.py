import numpy as np
import pytest

from helpers.encoders.training_pairs import draw, training_pairs
from helpers.networks import backbone
from helpers.systems.testbed import Testbed


def pairs(folder, **changes):
    bed = Testbed(str(folder), splits=("train",), words=6, overlap=2)
    given = {"candidates": 3, "min_relevance": 1, "positives": 1, "negatives": 2, "seed": 1} | changes
    return training_pairs(bed.bm25(0.9, 0.4, 10), bed.qrels_step, bed.store, bed.tokens(backbone.resolve("packaged")),
                          **given).value()


@pytest.mark.slow
def test_windows_of_relevant_candidates_are_positive_and_all_others_negative(folder, store):
    frame = pairs(folder, positives=0, negatives=0)
    labels = dict(zip(zip(frame["query_id"], frame["window_id"], strict=True), frame["label"], strict=True))
    assert {window for (query, window), label in labels.items() if label and query == "q1"} == {"d1#0", "d1#1", "d1#2", "d1#3"}
    assert {window.split("#")[0] for (query, window), label in labels.items() if not label and query == "q1"} == {"d4"}


@pytest.mark.slow
def test_a_drawn_sample_has_the_wanted_numbers_and_is_seeded(folder, store):
    frame = pairs(folder)
    assert frame[frame["query_id"] == "q1"]["label"].tolist() == [1, 0, 0]
    assert frame.equals(pairs(folder))
    draws = {tuple(pairs(folder, seed=seed)["window_id"]) for seed in range(2, 7)}
    assert len(draws) > 1


@pytest.mark.slow
def test_a_query_without_hits_gives_no_pairs(folder, store):
    assert "q3" not in set(pairs(folder)["query_id"])


def test_draw_keeps_the_order_and_takes_all_for_zero_or_too_few():
    random = np.random.default_rng(1)
    items = list("abcdef")
    assert draw(items, 0, random) == items
    assert draw(items, 9, random) == items
    drawn = draw(items, 3, random)
    assert len(set(drawn)) == 3
    assert drawn == sorted(drawn)
