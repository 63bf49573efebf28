"""Whether a head uses [CLS]: the cost of another text's, by hand; and layers by halves."""

import pytest

from helpers.pages import readiness
from helpers.systems.starting_points import CONDENSER, Pretraining
from tables import cells
from toys import Value


def log(rise):
    """A log that begins at 0 nats of exchange and ends so."""
    return {"log": [{"step": 0, "eval_head": 9.0, "eval_exchanged": 9.0},
                    {"step": 10, "eval_head": 4.0, "eval_exchanged": 4 + rise}]}


def test_the_cost_of_an_exchange_is_the_rise_of_the_heads_loss():
    assert readiness.exchange(log(0.25)).to_dict() == {0: 0.0, 10: 0.25}


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
