"""Several processes inside one step, here with gloo on a CPU: the batch, the losses and the weights are those of one process."""

import functools
import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from helpers.data import collection
from helpers.data.texts import text_store
from helpers.data.windows import window_tokens
from helpers.networks import backbone, fine_tuning
from helpers.networks.fine_tuning import Training
from helpers.reranking.listwise import listwise_cross_encoder
from helpers.steps import numerics, processes, registry


@pytest.mark.parametrize("gpus, batch, limit, expected", [
    (0, 16, "", 1), (1, 16, "", 1), (2, 16, "", 2), (3, 16, "", 2), (8, 16, "", 8), (8, 6, "", 2), (8, 7, "", 1), (4, 16, "2", 2),
    (2, 16, "4", 2), (4, 16, "1", 1), (0, 16, "2", 2), (0, 1, "2", 1)])
def test_processes_are_a_power_of_two_that_divides_the_batch(gpus, batch, limit, expected, own_store, monkeypatch):
    monkeypatch.setattr(numerics, "device", lambda: "cuda" if gpus else "cpu")
    monkeypatch.setattr(processes, "visible", lambda: [str(number) for number in range(gpus)])
    monkeypatch.setenv(processes.MOST, limit)
    definition = registry.STEPS["listwise_cross_encoder"]
    assert processes.count_of(definition, {"batch_size": batch}) == expected
    assert processes.count_of(registry.STEPS["window_tokens"], {"batch_size": batch}) == 1


def test_visible_gpus_keep_their_names(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert processes.visible() == ["0", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,GPU-5")
    assert processes.visible() == ["3", "GPU-5"]
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert processes.visible() == []


def test_on_one_gpu_training_is_bf16_with_sdpa_and_fused_adamw(monkeypatch, tmp_path):
    """By configuration: there is no GPU in most places where this runs, so what asks for one is told that it is there."""
    import transformers

    arguments, four_gpus = {}, SimpleNamespace(_n_gpu=4, n_gpu=4)
    monkeypatch.setattr(numerics, "version", lambda package: "2.13.0+cu130")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: True)
    monkeypatch.setattr(transformers, "TrainingArguments", lambda **given: arguments.update(given) or four_gpus)
    for name in ("BOOK_DEVICE", "BOOK_DTYPE"):
        monkeypatch.delenv(name, raising=False)
    cached(monkeypatch)
    made = fine_tuning.training_arguments(tmp_path, 100, Training(), evaluations=2)
    assert (numerics.device(), numerics.dtype()) == ("cuda", "bf16")
    assert (arguments["bf16"], arguments["use_cpu"], arguments["optim"]) == (True, False, "adamw_torch_fused")
    assert backbone.attention() == "sdpa"  # PyTorch takes its flash kernel where it can
    assert arguments["per_device_train_batch_size"] == 16
    assert made._n_gpu == 1  # DataParallel is off
    assert (arguments["max_steps"], arguments["eval_steps"], arguments["warmup_steps"]) == (-1, 4, 0)  # 7 steps
    fine_tuning.training_arguments(tmp_path, 100, Training(steps=40), evaluations=2)
    assert (arguments["max_steps"], arguments["eval_steps"], arguments["warmup_steps"]) == (40, 20, 4)


def cached(monkeypatch):
    """Ask again what the device is, now and after the test."""
    for name in ("device", "dtype"):
        monkeypatch.setattr(numerics, name, functools.cache(getattr(numerics, name).__wrapped__))


@pytest.mark.slow
def test_a_training_in_two_processes_has_the_losses_and_weights_of_one(own_store, folder, monkeypatch):
    monkeypatch.setenv("BOOK_DTYPE", "fp32")
    monkeypatch.setenv("BOOK_DEVICE", "cpu")
    cached(monkeypatch)
    store = text_store(collection.open_collection(str(folder)).part("texts", "document"))
    tokens = window_tokens(store, backbone.resolve("packaged"), 6, 0)
    names = [f"q{number}" for number in range(9)]
    groups = pd.DataFrame([(query, f"d{n}#0", float(n == 1), n / 4) for query in names for n in (1, 2, 3)],
                          columns=["query_id", "window_id", "label", "teacher"])
    queries = pd.DataFrame({"query_id": names, "text": ["why is bread brown", "how does iron rust", "the of"] * 3})
    arguments = {"groups": groups, "queries": queries, "store": store.value(), "tokens": tokens.value(), "epochs": 2,
                 "backbone": backbone.resolve("packaged:0"), "losses": {"lce": 1.0, "kl": 1.0}, "temperature": 0.05,
                 "learning_rate": 1e-3, "batch_size": 4, "warmup": 0.0, "weight_decay": 0.0, "dropout": 0.0, "max_length": 32,
                 "query_length": 8, "evaluation_queries": 1, "evaluations": 4, "seed": 1, "patience": 1}
    made = [train(arguments, own_store / "one")]
    monkeypatch.setenv(processes.MOST, "2")
    made.append(train(arguments, own_store / "two"))
    logs, places = zip(*made, strict=True)
    assert logs[0]["steps"] == logs[1]["steps"] == 4  # the batch is shared out, not multiplied
    assert logs[0]["best_step"] == logs[1]["best_step"]
    assert [line["step"] for line in logs[0]["log"]] == [line["step"] for line in logs[1]["log"]]
    for one, two in zip(logs[0]["log"], logs[1]["log"], strict=True):
        assert one == pytest.approx(two, abs=1e-5)
    one, two = (load_file(place / "model.safetensors") for place in places)
    assert one.keys() == two.keys()
    # a key's bias changes no attention: its gradient is rounding noise, which AdamW makes as large as any other step
    assert max(float((one[name] - two[name]).abs().max()) for name in one if not name.endswith("key.bias")) < 1e-3  # bf16 files


def train(arguments, place: Path):
    folders = {"folder": place / "model", "checkpoints": place / "checkpoints"}
    for folder in folders.values():
        folder.mkdir(parents=True)
    processes.call(listwise_cross_encoder.definition, {**arguments, **folders})
    return json.loads((place / "model" / "log.json").read_text()), place / "model"
