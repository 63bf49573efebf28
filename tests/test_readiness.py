"""Tables of Gao & Callan (2021) beside systems by starting point and training size."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

import toys
from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.pages import readiness
from helpers.pages.results import Results
from helpers.systems.starting_points import CONDENSER, MASKED, MLM, NAMES, START, Pretraining
from tables import cells
from toys import Value

SIZES = {250: "250 queries", 1000: "1,000 queries", 0: "all 2,000 queries"}
WEB = readiness.columns(list(SIZES), "MRR@10")


def system(shift=0.0, label="x"):
    """A toy of two seeds, whose means lie 0.01 below and above its own."""
    whole = toys.system(shift, label, shifts={"spearman": shift})
    return replace(whole, seeds=tuple(replace(whole, values=whole.values + seed) for seed in (-0.01, 0.01)))


def grid(condenser, masked=(0.0, 0.0, 0.0)):
    """Systems of the start, masked words and Condenser; what the last two lie above the start with each size."""
    gains = {START: (0.0, 0.0, 0.0), MLM: masked, CONDENSER: condenser}
    return Results({(start, size): system(gain) for start, own in gains.items() for size, gain in zip(SIZES, own, strict=True)})


@pytest.mark.parametrize(("sizes", "expected"), [([250, 1000, 0], ["a / 1K", "a / 10K", "a / FULL"]),
                                                 ([250, 0], ["a / 1K", "a / FULL"]), ([0], ["a / FULL"])])
def test_the_studys_columns_go_from_smallest_to_largest(sizes, expected):
    assert readiness.columns(sizes, "a") == dict(zip(sizes, expected, strict=True))


def test_curves_have_mean_and_interval_over_seeds_and_the_studys_points():
    systems = grid([0.2, 0.1, 0.0])
    text = readiness.curve(systems, {250: 250, 1000: 1000, 0: 2000}, "RR@10", "queries", "caption", {"BM25": system(-0.25)},
                           "4", {"MRR@10 / 1K": 1000}).html.replace("&#43;", "+")
    assert f"{CONDENSER} at 250: 0.450 ± 0.127" in text  # t of one degree of freedom, 12.7, by 0.01
    assert "The rest is in the tables." in text
    with pytest.raises(BadInput, match="two seeds"):
        readiness.curve({(START, 250): toys.system()}, {250: 250}, "RR@10", "queries", "caption")


def test_each_starting_point_has_a_row_its_distance_from_the_start_and_the_studys_value():
    assert set(readiness.STUDIED) == set(NAMES) and len(set(readiness.STUDIED.values())) == len(NAMES)
    rows = {row[0]: row[1:] for row in cells(readiness.by_start("caption", grid([0.2, 0.1, 0.0]), SIZES, "RR@10", "4", WEB))[1:]}
    assert list(rows) == [START, MLM, CONDENSER]
    assert rows[CONDENSER][0].startswith("0.450 +0.200") and rows[CONDENSER][0].endswith("study 0.175")
    assert "study" not in rows[MLM][0]


def test_the_share_of_a_head_is_its_lead_over_masked_words_alone():
    systems = grid([0.2, 0.1, 0.0], [0.1, 0.1, 0.1]) | {(MASKED, 0): system(0.3)}
    rows = {row[0]: row[3][:6] for row in cells(readiness.shares("caption", systems, SIZES, "RR@10"))[1:]}
    assert rows == {f"{CONDENSER}, 250 queries": "+0.100", f"{CONDENSER}, 1,000 queries": "+0.000",
                    f"{CONDENSER}, all 2,000 queries": "−0.100", f"{MASKED}, all 2,000 queries": "+0.200"}


def test_a_table_in_full_has_every_printed_value_and_what_was_not_run():
    two = {250: "MRR@10 / 1K", 0: "MRR@10 / FULL"}
    systems = {place: own for place, own in grid([0.2, 0.1, 0.0]).items() if place[1] in two}
    shown = readiness.in_full("4", {"MRR@10": two}, {"MRR@10": "RR@10"}, systems, {"BM25": system(-0.25)})
    rows = {(row[0], row[1]): row[2:] for row in cells(shown)[1:]}
    assert set(rows) == set(published.cells("gao2021", "4"))
    assert rows["BERT + CD", "MRR@10 / 1K"] == ["0.175", "0.450"] and rows["BERT + CD", "MRR@10 / 10K"] == ["0.251", "not run"]
    assert rows["BM25", "MRR@10"][1] == "0.000" and rows["BM25", "R@100"] == ["0.657", "not run"]
    values = {(value["row"], value["column"]): value["measured"] for value in shown.data["values"]}
    assert values["BERT + CD", "MRR@10 / 1K"] == pytest.approx(0.45) and ("BERT + CD", "MRR@10 / 10K") not in values


def test_more_data_that_lowers_a_score_shows_that_a_training_failed():
    sizes = list(SIZES)
    assert readiness.why_untrained(grid([0.0, 0.1, 0.1]), sizes, "RR@10") == ""
    assert readiness.why_untrained(grid([0.0, 0.1, 0.0]), sizes, "RR@10").startswith("more training data lowered RR@10, from")
    assert readiness.why_untrained({}, sizes, "RR@10") == ""


# ---- whether a head uses [CLS]: the cost of another text's, by hand; and layers by halves ----

def log(rise):
    """A log that begins at 0 nats of exchange and ends so."""
    return {"log": [{"step": 0, "eval_head": 9.0, "eval_exchanged": 9.0},
                    {"step": 10, "eval_head": 4.0, "eval_exchanged": 4 + rise}]}


@pytest.mark.parametrize(("rises", "used"), [((0.0, 0.0), False), ((0.5, 0.09), False), ((0.5, 0.11), True)])
def test_a_head_uses_cls_if_each_seed_loses_a_tenth_of_a_nat(rises, used):
    assert readiness.uses_cls([log(rise) for rise in rises]) is used


@pytest.mark.parametrize(("rise", "why"), [(0.5, ""), (0.0, "the head does not use [CLS]: another text's costs it 0.000 nats")])
def test_a_head_that_was_not_used_is_no_treatment(rise, why, monkeypatch):
    monkeypatch.setattr(Pretraining, "log", Value(log(rise)))
    assert readiness.unused_head("study", "almanac[:9]", "packaged:0,1", [1, 2]).startswith(why)
    assert bool(readiness.unused_head("study", "almanac[:9]", "packaged:0,1", [1])) == bool(why)


def test_layers_are_told_of_by_halves():
    rows = cells(readiness.attention_table({CONDENSER: {"entropy": [0.5, 0.25, 1.0, 0.75], "words": [0.125, 0.375, 0.5, 0.25]}}))
    assert rows[1] == [CONDENSER, "0.375", "0.875", "0.250", "0.375"]
    assert readiness.halves([1.0, 2.0, 4.0]) == (1.0, 3.0)


# ---- what share of a head a design could see, and what it takes to see a smaller one ----

@pytest.mark.parametrize(("detectable", "lead", "told"), [
    (0.02, 0.03, "the study's whole lead over BERT is 0.030 (1K)."), (0.03, 0.0, "The study prints no lead over BERT (1K)."),
    (0.03, 0.01, "18 seeds of each branch and 9 times as many questions.")])
def test_what_is_needed_grows_with_the_square(detectable, lead, told):
    assert readiness.design(SimpleNamespace(detectable=detectable), lead, "1K", 2, "questions").endswith(told)
