from dataclasses import replace
from types import SimpleNamespace

import pytest

from helpers.systems.reranker import Reranker
from helpers.systems.testbed import Testbed

HIDDEN = 384  # dimensions of the packaged backbone


class Model:
    """A model of one weight, which the training changes in place."""

    def __init__(self):
        import torch

        self.weight = torch.zeros(2)

    def state_dict(self):
        return {"weight": self.weight}

    def save_pretrained(self, folder, state_dict=None):
        from safetensors.torch import save_file

        save_file(state_dict or self.state_dict(), folder / "model.safetensors")


class Tokenizer:
    def save_pretrained(self, folder):
        (folder / "tokenizer.json").write_text("{}")


def watched(patience, losses, model=None):
    """The observer after evaluations at steps 10, 20, ...; the weight is the step's number."""
    from helpers.networks.early_stopping import KeepBest

    observer, model = KeepBest(patience), model or Model()
    for number, loss in enumerate(losses, start=1):
        model.weight.fill_(10 * number)
        observer.on_evaluate(None, SimpleNamespace(global_step=10 * number), None, metrics={"eval_loss": loss}, model=model)
    return observer


def saved(observer, folder, model=None):
    """The weights that the observer writes."""
    from safetensors.torch import load_file

    observer.save(model or Model(), Tokenizer(), folder)
    return load_file(folder / "model.safetensors")["weight"].tolist()


# ---- what is kept ----

@pytest.mark.parametrize("patience, losses, lowest, step, stopped_at", [
    (1, [0.5], 0.5, 10, None),
    (1, [0.5, 0.4, 0.3], 0.3, 30, None),
    (1, [0.5, 0.6, 0.1], 0.5, 10, 20),  # the lower loss comes too late
    (2, [0.5, 0.6, 0.1], 0.1, 30, None),
    (2, [0.5, 0.6, 0.7, 0.1, 0.8, 0.9], 0.5, 10, 30),
    (2, [0.5, 0.6, 0.4, 0.6, 0.3], 0.3, 50, None),  # a lower loss starts the count anew
    (2, [0.5, 0.6, 0.4, 0.6, 0.7, 0.1], 0.4, 30, 50),
    (1, [0.5, 0.5], 0.5, 10, 20),  # as low is not lower
])
def test_the_lowest_loss_is_kept_until_patience_runs_out(patience, losses, lowest, step, stopped_at):
    observer = watched(patience, losses)
    assert (observer.lowest, observer.step, observer.stopped_at) == (lowest, step, stopped_at)


@pytest.mark.parametrize("losses, kept", [([0.5, 0.3, 0.4], 20), ([0.5, 0.6, 0.7, 0.1], 10), ([0.5, 0.4, 0.3], 30)])
def test_the_weights_of_the_lowest_loss_are_written_and_not_the_last(losses, kept, tmp_path):
    model = Model()
    observer = watched(2, losses, model)
    model.weight.fill_(99)  # the training goes on
    assert saved(observer, tmp_path, model) == [kept, kept]
    assert model.weight.tolist() == [99, 99]  # the model itself stays as it is
    assert (tmp_path / "tokenizer.json").exists()


@pytest.mark.parametrize("metrics", [None, {}, {"loss": 0.1}])
def test_what_is_no_evaluation_loss_does_not_count(metrics):
    observer = watched(1, [0.5])
    observer.on_evaluate(None, SimpleNamespace(global_step=20), None, metrics=metrics, model=Model())
    assert (observer.lowest, observer.step, observer.stopped_at) == (0.5, 10, None)


# ---- in a training ----

@pytest.fixture
def tiny(folder):
    return Reranker(collection=str(folder), splits=("train",), k1=0.9, b=0.4, candidates=3, positives=1, negatives=2,
                    backbone="packaged:0", epochs=4, batch_size=1, evaluation_queries=1, evaluations=4, max_length=32,
                    learning_rate=1e-3)


def weights(folder):
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


@pytest.mark.slow
def test_the_training_is_the_same_whether_or_not_it_is_stopped_early(tiny):
    whole = replace(tiny, patience=1)
    early = replace(whole, stop_early=True)
    assert early.training.key == whole.training.key == whole.model.key
    assert early.log.key == whole.log.key
    assert early.model.key != whole.model.key
    assert whole.training.key != tiny.training.key
    assert replace(tiny, patience=2).training.key != whole.training.key


@pytest.mark.slow
@pytest.mark.parametrize("patience", [1, 9])
def test_the_log_says_where_the_loss_is_lowest_and_where_the_training_would_end(tiny, store, patience):
    log = replace(tiny, patience=patience).log.value()
    losses = {line["step"]: line["eval_loss"] for line in log["log"] if "eval_loss" in line}
    seen = {step: loss for step, loss in losses.items() if log["stopped_at"] is None or step <= log["stopped_at"]}
    assert log["best_step"] == min(seen, key=seen.get)
    assert log["stopped_at"] in {None, *losses}
    assert patience < 9 or log["stopped_at"] is None  # fewer evaluations than that
    assert max(losses) == log["steps"]  # the training went on to its end


@pytest.mark.slow
def test_the_stopped_model_is_a_whole_one_of_other_weights_unless_the_last_was_best(tiny, store):
    import torch

    whole = replace(tiny, patience=1)
    early = replace(whole, stop_early=True).model.value()
    assert {file.name for file in early.iterdir()} >= {"model.safetensors", "config.json", "tokenizer.json"}
    log, kept, last = whole.log.value(), weights(early), weights(whole.model.value())
    assert set(kept) == set(last)
    assert torch.equal(kept["classifier.weight"], last["classifier.weight"]) == (log["best_step"] == log["steps"])


@pytest.mark.slow
def test_scores_of_the_stopped_model_come_from_its_own_folder(tiny, folder, store):
    bed = Testbed(str(folder))
    early = replace(tiny, patience=1, stop_early=True)
    step = early.scores(bed, bed.bm25(0.9, 0.4, 3), 3)
    assert step.arguments["model"].key == early.model.key
    assert (step.arguments["model"].value() / "model.safetensors").exists()
    assert step.value()["score"].between(0, 1).all()
