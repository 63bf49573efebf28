import pandas as pd
import pytest

from helpers.pages.figures import COLOURS
from helpers.stories import collection, does_it_work, training
from helpers.systems.evaluated import Evaluation


class Source:
    key = "0123456789abcdef"


class Bed:
    query_frame = pd.DataFrame({"query_id": ["q1", "q2", "q3"], "text": ["a", "b", "c"],
                                "style": ["plain", "oblique", "plain"]})
    judged = ["q3", "q1", "q2"]


def system(label, values, run=None):
    return Evaluation(label, run, pd.DataFrame(values, index=pd.Index(["q3", "q1", "q2"], name="query_id")), Source())


def test_the_study_is_quoted_from_the_data():
    text = does_it_work.found_by_the_study().markdown
    assert "0.517 for BM25" in text
    assert "0.571† for BERT-Mean" in text
    assert "200 test queries" in text


def test_the_range_of_the_published_bm25_is_read_from_the_data():
    text = collection.found_by_the_studies().markdown
    assert "to 0.8722 (Alarfaj (2022), table 2)" in text
    printed = [float(entry.value) for entry in collection.published_bm25() if entry.measure == "RR@10"]
    assert f"from {min(printed)} (" in text
    assert max(printed) == 0.8722


def test_a_window_is_of_one_of_three_kinds():
    holding, relevant = {("q", "d1#0")}, {("q", "d1")}
    kinds = [does_it_work.kind_of("q", window, holding, relevant) for window in ("d1#0", "d1#1", "d2#0")]
    assert kinds == list(does_it_work.KINDS_OF_WINDOWS)


def test_loss_curves_take_both_losses_by_step():
    log = {"log": [{"step": 5, "loss": 0.7}, {"step": 5, "eval_loss": 0.6}, {"step": 9, "loss": 0.5}]}
    curves = training.loss_curves(log)
    assert curves["training loss"].to_dict() == {5: 0.7, 9: 0.5}
    assert curves["evaluation loss"].to_dict() == {5: 0.6}


def test_groups_follow_the_order_of_the_judged_queries():
    assert collection.groups_of(Bed, "style").tolist() == ["plain", "plain", "oblique"]
    assert collection.groups_of(Bed, "answer_type") is None


def test_best_and_worst_group_are_named():
    values = pd.Series([1.0, 0.5, 0.1], index=Bed.judged)
    text = collection.group_finding(values, Bed, "style").markdown
    assert text == "BM25 serves *plain* queries best (0.750) and *oblique* queries worst (0.100)."


def test_a_collection_without_labels_says_so():
    shown = collection.by_group(pd.DataFrame({"x": [1.0]}), Bed, "answer_type", "caption")
    assert shown.markdown == "This collection does not label its queries by answer type."


def test_the_settings_hold_steenslands_bm25_from_the_published_data():
    found = collection.settings(0.9, 0.4, None)
    assert found == {"this chapter": (0.9, 0.4), "Steensland (2021), section 4.2": (1.2, 0.75)}
    grid = pd.DataFrame({"k1": [1.0, 2.0], "b": [0.1, 0.2], "RR@10": [0.1, 0.2]})
    assert collection.settings(0.9, 0.4, grid)["tuned here"] == (2.0, 0.2)


def test_no_split_to_tune_on_is_said():
    assert collection.tune("almanac", "document", "", 0, 1, [1.0], [0.4]) is None
    assert "nothing was tuned" in collection.tuning_figure(None, "").markdown


@pytest.mark.parametrize("change, words", [(0.1, "helps BM25"), (-0.1, "hurts BM25")])
def test_the_finding_on_windows_follows_the_sign(change, words):
    measures = {"R@20": 0.5, "R@100": 0.75, "nDCG@10": 0.5}
    whole = system("BM25, documents", {"RR@10": [0.2, 0.4, 0.6], **measures})
    pieces = system("BM25, windows", {"RR@10": [0.2 + change, 0.4 + change, 0.6 + 2 * change], **measures})
    text = collection.finding({"BM25, documents": whole, "BM25, windows": pieces}, {}).markdown
    assert words in text
    assert "the queries do not settle it" in text  # three queries never do
    assert "0.500 of the relevant texts in its top 20" in text


def test_there_are_colours_for_six_systems():
    assert len(set(COLOURS)) == 6
