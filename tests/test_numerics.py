"""On what kind of arithmetic a network runs."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from helpers.errors import BadInput
from helpers.networks import backbone, fine_tuning
from helpers.steps import numerics


@pytest.fixture
def machine(monkeypatch):
    """A machine with these CPU flags, and a GPU with fast bfloat16, with emulated one, or none."""
    import torch

    def build(flags=(), gpu=None, vendor="AuthenticAMD"):
        for name in ("BOOK_DEVICE", "BOOK_DTYPE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(numerics, "version", lambda package: "2.13.0+cu130")
        monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu is not None)
        monkeypatch.setattr(torch.cuda, "is_bf16_supported",
                            lambda including_emulation=True: gpu == "fast" or (including_emulation and gpu == "emulated"))
        monkeypatch.setattr(numerics, "cpu_flags", lambda: frozenset(flags))
        monkeypatch.setattr(numerics, "cpu", {"vendor_id": vendor}.get)
        for cached in (numerics.device, numerics.dtype, numerics._torch):
            cached.cache_clear()

    yield build
    for cached in (numerics.device, numerics.dtype, numerics._torch):
        cached.cache_clear()


@pytest.mark.parametrize("flags, gpu, vendor, device, dtype", [
    ((), None, "", "cpu", "fp32"), (("avx512f",), None, "AuthenticAMD", "cpu", "fp32"),
    (("avx512_bf16",), None, "AuthenticAMD", "cpu", "bf16"), (("avx512_bf16",), None, "GenuineIntel", "cpu", "fp32"),
    (("avx512_bf16", "amx_bf16"), None, "GenuineIntel", "cpu", "bf16"), ((), "fast", "AuthenticAMD", "cuda", "bf16"),
    (("amx_bf16",), "emulated", "GenuineIntel", "cuda", "fp32")])
def test_bfloat16_is_chosen_where_it_is_fast(machine, flags, gpu, vendor, device, dtype):
    machine(flags, gpu, vendor)
    assert (numerics.device(), numerics.dtype()) == (device, dtype)
    assert numerics.own_class() == f"{device}-{dtype}-torch{torch.__version__.rpartition('.')[0]}"


def test_a_build_for_cpus_is_known_without_importing_it():
    code = """import sys
from helpers.steps import numerics
numerics.version = lambda package: "2.13.0+cpu"
assert numerics.own_class().startswith("cpu-") and "torch" not in sys.modules"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_the_environment_says_comes_first(machine, monkeypatch):
    machine(("avx512_bf16",), "fast")
    monkeypatch.setenv("BOOK_DTYPE", "fp32")
    monkeypatch.setenv("BOOK_DEVICE", "cpu")
    assert (numerics.device(), numerics.dtype()) == ("cpu", "fp32")


@pytest.mark.parametrize("before, usual, other", [(None, ("cuda", "fp32"), ("cpu", "bf16")),
                                                  ("cpu", ("cpu", "bf16"), ("cuda", "fp32"))])
def test_a_device_is_used_for_a_while_and_the_usual_one_after_an_error(machine, monkeypatch, before, usual, other):
    machine(("avx512_bf16",), "emulated")
    if before:
        monkeypatch.setenv("BOOK_DEVICE", before)
    assert (numerics.device(), numerics.dtype()) == usual
    with pytest.raises(ZeroDivisionError), numerics.using(other[0]):
        assert (numerics.device(), numerics.dtype()) == other and os.environ["BOOK_DEVICE"] == other[0]
        1 / 0  # noqa: B018
    assert os.environ.get("BOOK_DEVICE") == before
    assert (numerics.device(), numerics.dtype()) == usual


@pytest.mark.parametrize("name, ask", [("BOOK_DEVICE", numerics.device), ("BOOK_DTYPE", numerics.dtype)])
def test_an_unknown_setting_is_told_with_those_that_are_known(machine, monkeypatch, name, ask):
    machine()
    monkeypatch.setenv(name, "tpu")
    with pytest.raises(BadInput, match=rf"{name}='tpu'.*set it to \w+ or \w+"):
        ask()


def test_a_training_on_a_gpu_is_bf16_with_sdpa_and_fused_adamw_on_one_of_them(machine, monkeypatch, tmp_path):
    """By configuration: there is no GPU in most places where this runs, so what asks for one is told that it is there."""
    import transformers

    arguments, four_gpus = {}, SimpleNamespace(_n_gpu=4, n_gpu=4)
    monkeypatch.setattr(transformers, "TrainingArguments", lambda **given: arguments.update(given) or four_gpus)
    machine(gpu="fast")
    made = fine_tuning.training_arguments(tmp_path, 100, fine_tuning.Training(), evaluations=2)
    assert (arguments["bf16"], arguments["use_cpu"], arguments["optim"]) == (True, False, "adamw_torch_fused")
    assert backbone.attention() == "sdpa"  # PyTorch takes its flash kernel where it can
    assert arguments["per_device_train_batch_size"] == 16
    assert made._n_gpu == 1  # DataParallel is off
    assert (arguments["max_steps"], arguments["eval_steps"], arguments["warmup_steps"]) == (-1, 4, 0)  # 7 steps
    fine_tuning.training_arguments(tmp_path, 100, fine_tuning.Training(steps=40), evaluations=2)
    assert (arguments["max_steps"], arguments["eval_steps"], arguments["warmup_steps"]) == (40, 20, 4)
