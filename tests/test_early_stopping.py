from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from helpers.reranking.listwise import early_stopping


@pytest.mark.parametrize("patience, losses, kept, stopped_at", [
    (1, [0.5], [10], None),
    (1, [0.5, 0.4, 0.3], [10, 20, 30], None),
    (1, [0.5, 0.6, 0.1], [10], 20),  # the lower loss comes too late
    (2, [0.5, 0.6, 0.1], [10, 30], None),
    (2, [0.5, 0.6, 0.7, 0.1, 0.8, 0.9], [10], 30),
    (2, [0.5, 0.6, 0.4, 0.6, 0.3], [10, 30, 50], None),  # a lower loss starts the count anew
    (2, [0.5, 0.6, 0.4, 0.6, 0.7, 0.1], [10, 30], 50),
    (1, [0.5, 0.5], [10], 20),  # as low is not lower
])
def test_the_lowest_loss_is_kept_until_patience_runs_out(patience, losses, kept, stopped_at):
    log = [{"step": 10.0 * number, "eval_loss": loss} for number, loss in enumerate([0.1, *losses])]
    best = [early_stopping(log[:number], patience)["best_step"] for number in range(2, len(log) + 1)]
    assert [step for number, step in enumerate(best, start=1) if step == 10 * number] == kept
    assert early_stopping(log, patience) == {"best_step": kept[-1], "stopped_at": stopped_at}


@pytest.fixture
def longer(tiny):
    return replace(tiny, epochs=4, evaluations=4, learning_rate=1e-3)


def weights(folder):
    return load_file(folder / "model.safetensors")


def test_the_training_is_the_same_whether_or_not_it_is_stopped_early(longer):
    whole = replace(longer, patience=1)
    early = replace(whole, stop_early=True)
    assert early.training.key == whole.training.key == whole.model.key
    assert early.log.key == whole.log.key
    assert early.model.key != whole.model.key
    assert whole.training.key != longer.training.key
    assert replace(longer, patience=2).training.key != whole.training.key


@pytest.mark.parametrize("patience", [1, 9])
def test_the_log_says_where_the_loss_is_lowest_and_where_the_training_would_end(longer, store, patience):
    log = replace(longer, patience=patience).log.value()
    losses = {line["step"]: line["eval_loss"] for line in log["log"] if line["step"]}
    seen = {step: loss for step, loss in losses.items() if log["stopped_at"] is None or step <= log["stopped_at"]}
    assert log["best_step"] == min(seen, key=seen.get)
    assert log["stopped_at"] in {None, *losses}
    assert patience < 9 or log["stopped_at"] is None  # fewer evaluations than that
    assert max(losses) == log["steps"]  # the training went on to its end


def test_the_stopped_model_is_a_whole_one_of_other_weights_unless_the_last_was_best(longer, store):
    whole = replace(longer, patience=1)
    early = replace(whole, stop_early=True).model.value()
    assert {file.name for file in early.iterdir()} >= {"model.safetensors", "config.json", "tokenizer.json"}
    log, kept, last = whole.log.value(), weights(early), weights(whole.model.value())
    assert set(kept) == set(last)
    assert torch.equal(kept["classifier.weight"], last["classifier.weight"]) == (log["best_step"] == log["steps"])
