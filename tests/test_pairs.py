import numpy as np
import pytest

from helpers.encoders.bi_encoder import denoised_pairs, draw, training_pairs
from helpers.networks import backbone
from helpers.systems.testbed import Testbed
from toys import qrels_of, run_of


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


# q1: c is as high as the relevant text, d higher; q2: nobody judged any; q3: all others are higher; q4: two relevant texts
SCORES = run_of(q1={"a#0": 2.0, "b#0": 1.0, "c#0": 2.0, "d#0": 3.0, "e#0": -1.0}, q2={"a#0": 1.0, "b#0": 0.0},
                q3={"a#0": 0.0, "b#0": 0.5}, q4={"a#0": 5.0, "b#0": 4.0, "c#0": 1.0})
JUDGED = qrels_of(q1={"a": 2, "b": 1}, q3={"a": 2}, q4={"a": 2, "b": 3})


def denoised(negatives, seed=1):
    return denoised_pairs.definition.function(SCORES, JUDGED, 2, negatives, seed)


def test_what_a_cross_encoder_scores_as_high_as_the_relevant_text_is_no_negative():
    frame = denoised(0)
    of = {query: list(group[["window_id", "label", "teacher"]].itertuples(index=False, name=None))
          for query, group in frame.groupby("query_id", sort=False)}
    assert of["q1"] == [("a#0", 1, 2.0), ("b#0", 0, 1.0), ("e#0", 0, -1.0)]
    assert of["q4"] in ([("a#0", 1, 5.0), ("c#0", 0, 1.0)], [("b#0", 1, 4.0), ("c#0", 0, 1.0)])
    assert list(of) == ["q1", "q4"]


def test_denoised_negatives_are_drawn_with_the_seed():
    assert denoised(1).equals(denoised(1))
    assert {tuple(denoised(1, seed)["window_id"][:2]) for seed in range(9)} == {("a#0", "b#0"), ("a#0", "e#0")}
