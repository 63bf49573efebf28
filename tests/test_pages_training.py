"""Tables and curves of trainings: their losses beside the study's, and their cost."""

from dataclasses import replace

import pytest

from helpers.pages import training
from helpers.steps import ledger
from tables import cells
from toys import Value, system


def log_of(loss=0.5, evaluation=0.6, **more):
    """A training's log: the losses fall from 0.9 and 0.8 to the given ones."""
    lines = [{"step": 10, "loss": 0.9}, {"step": 10, "eval_loss": 0.8}, {"step": 20, "loss": loss},
             {"step": 20, "eval_loss": evaluation}]
    return {"pairs": 1200, "positives": 300.0, "evaluation_pairs": 80, "steps": 20, "parameters": 22_000_000,
            "trained_parameters": 22_000_000, "log": lines} | more


def test_a_curve_takes_the_lines_that_have_it():
    log = log_of()
    assert training.curve(log, "eval_loss").to_dict() == {10: 0.8, 20: 0.6}
    assert training.curve(log, "soft").empty
    assert training.final(log, "loss") == 0.5
    log["log"].append({"step": 20, "eval_loss": 0.55})  # a training's last step is evaluated twice
    assert training.final(log, "eval_loss") == 0.55
    curves = {name: line.to_dict() for name, line in training.loss_curves(log).items()}
    assert curves == {"training loss": {10: 0.9, 20: 0.5}, "evaluation loss": {10: 0.8, 20: 0.55}}


def test_losses_stand_beside_those_of_the_thesis():
    shown = training.losses_beside("5.3", {"3": (log_of(0.0123, 0.0456), system()), "12": (log_of(), system())})
    header, three, twelve = cells(shown)
    assert header == ["training", "Final Eval Loss, published", "Final Eval Loss, measured", "Final Training Loss, published",
                      "Final Training Loss, measured"]
    assert three == ["3", "0.0193", "0.0456", "0.0186", "0.0123"]
    assert twelve == ["12", "", "0.6000", "", "0.5000"]  # the study did not train for twelve epochs
    assert 'href="#step-0123456789"' in shown.html


def test_the_cost_of_a_model_is_the_seconds_of_training_and_of_scoring(monkeypatch):
    machine = {"cpu": "A CPU", "cores": 4, "threads": 2}
    log = Value(log_of(), manifest={"inputs": [{"step": "cross_encoder", "seconds": 4000.0}], "seconds": 0.1})
    scored = Value(manifest={"seconds": 12.3, "machine": machine})
    monkeypatch.setitem(ledger.USED, scored.key, {"source": "recorded"})
    shown = training.cost({"seed 1": log}, {"seed 1": replace(system(), source=scored), "BM25": system()})
    assert cells(shown)[1:] == [["seed 1", "20", "67 min", "12 s", "A CPU, 2 threads of 4 cores", "recorded"]]


@pytest.mark.parametrize("loss, learned", [(0.57, False), (0.54, False), (0.53, True), (0.1, True)])
def test_a_constant_guess_is_no_learning(loss, learned):
    # a quarter of the pairs is relevant: -(ln(1/4) / 4 + 3 ln(3/4) / 4) = 0.5623, and 0.95 of it 0.5342
    assert training.untrained(log_of(evaluation=loss)) != learned
