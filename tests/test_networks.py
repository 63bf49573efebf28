"""Networks: batches, padding, poolings, attention of [CLS]. Encoders: their architectures and names. On what kind of arithmetic a
network runs."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from helpers.costs.speed import grouped_order, padded, padding
from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.networks import backbone, fine_tuning, inference
from helpers.networks.backbone import Backbone, build, name_of, parse_architecture, resolve
from helpers.networks.encoder import normalised, pool
from helpers.networks.inference import batches, run_batches
from helpers.pages import encoders
from helpers.pages.encoders import CHECKPOINTS
from helpers.pretraining import training as module
from helpers.steps import numerics
from helpers.systems.bi_encoder import BiEncoder

# ---- batches ----

def test_batches_are_length_sorted_and_within_the_budget():
    lengths = np.array([3, 9, 1, 7, 5, 5])
    batched = [list(batch) for batch in batches(lengths, budget=14)]
    assert batched == [[1], [3, 4], [5, 0], [2]]  # 9; 7+5 at width 7; 5+3 at width 5; 1 — 2 rows of 7 are 14, 3 rows of 5 are 15


def test_every_input_is_in_one_batch_and_one_longer_than_the_budget_goes_alone():
    lengths = np.random.default_rng(1).integers(1, 60, size=200)
    batched = [list(batch) for batch in batches(lengths, budget=50)]
    assert sorted(n for batch in batched for n in batch) == list(range(200))
    assert all(len(batch) == 1 or len(batch) * lengths[batch].max() <= 50 for batch in batched)


@pytest.mark.slow
def test_every_batch_is_run_once_and_an_error_is_raised():
    seen = []
    run_batches(lambda batch: seen.extend(batch.tolist()), np.full(100, 2000))
    assert sorted(seen) == list(range(100))
    with pytest.raises(ZeroDivisionError):
        run_batches(lambda batch: 1 / 0, np.array([1]))


def test_few_inputs_keep_every_core_busy(monkeypatch):
    monkeypatch.setattr(inference, "cores", lambda: 2)
    seen = []
    run_batches(lambda batch: seen.append(batch.tolist()), np.full(8, 100))
    assert sorted(seen) == [[0, 1, 2, 3], [4, 5, 6, 7]]


@pytest.mark.slow
def test_memory_is_given_back_where_the_c_library_can(monkeypatch):
    calls = []
    monkeypatch.setattr(inference, "ctypes", SimpleNamespace(CDLL=lambda name: SimpleNamespace(malloc_trim=calls.append)))
    inference.run_batches(lambda batch: None, np.array([3, 2]))
    assert calls == [0]
    inference.run_batches(lambda batch: None, np.full(2 * inference.TIDY + 1, 2 * inference.GPU_TOKEN_BUDGET))  # each alone
    assert calls == 4 * [0]  # twice on the way, and at the end

    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(inference, "ctypes", SimpleNamespace(CDLL=missing))
    inference.give_back()


# ---- padding ----

def test_padded_tokens_by_hand():
    lengths = np.array([3, 5, 2, 9])
    assert padded(lengths, [np.array([0, 1]), np.array([2, 3])]) == 2 * 5 + 2 * 9
    assert padded(lengths, [np.array([0, 1]), np.array([2, 3])], multiple=4) == 2 * 8 + 2 * 12
    assert padded(lengths, [np.array([n]) for n in range(4)]) == 19  # a text alone has no padding


@pytest.mark.slow
def test_grouping_by_length_leaves_little_padding_of_many_texts():
    lengths = np.random.default_rng(1).integers(16, 257, size=6400)
    grouped = padded(lengths, np.split(grouped_order(lengths, 16, 1), 400)) / lengths.sum()
    assert 1 < grouped < 1.03  # at random it would be 1.78: the mean of the longest of 16 draws, over the mean


@pytest.mark.slow
def test_the_tokens_of_a_model_are_counted(tiny, store):
    bed, encoder = tiny.bed, resolve(tiny.backbone)
    counted = padding(tiny.groups, bed.query_step, bed.store, bed.tokens(encoder), encoder.whole(),
                      tiny.batch_size * tiny.size, tiny.max_length, tiny.query_length).value()
    assert counted["pairs"] == len(tiny.groups.value())
    assert counted["real"] <= counted["unrounded"] <= counted["grouped"]
    assert counted["packed"] == counted["real"] <= counted["sorted"] <= counted["grouped"] + counted["pairs"]
    assert counted["random"] >= counted["real"]


# ---- poolings ----

# two texts of three tokens; the second has one token of padding, with states that must not show
HIDDEN = torch.tensor([[[1.0, -4.0], [2.0, -5.0], [6.0, -3.0]],
                       [[3.0, 0.0], [3.0, 8.0], [99.0, 99.0]]])
MASK = torch.tensor([[1, 1, 1], [1, 1, 0]])


@pytest.mark.parametrize("how, expected", [("mean", [[3.0, -4.0], [3.0, 4.0]]), ("cls", [[1.0, -4.0], [3.0, 0.0]]),
                                           ("max", [[6.0, -3.0], [3.0, 8.0]])])
def test_each_pooling_by_hand_with_padding(how, expected):
    assert pool(HIDDEN, MASK, how).tolist() == expected
    assert pool(HIDDEN, MASK.bool(), how).tolist() == expected


def test_normalised_vectors_have_length_one_and_keep_their_direction():
    assert normalised(torch.tensor([[3.0, 4.0], [0.0, -2.0]])).tolist() == pytest.approx(np.array([[0.6, 0.8], [0.0, -1.0]]))


# ---- attention of [CLS] ----

def test_entropy_and_the_share_of_words_by_hand():
    even, single = torch.full((1, 8), 1 / 8), torch.eye(8)[:1]
    assert module.entropy(even) == pytest.approx(1) and module.entropy(single) == 0
    assert module.entropy(torch.cat([even, single])) == pytest.approx(0.5)  # the mean over heads
    half = torch.tensor([[0.5, 0.5, 0.0, 0.0]])
    assert module.entropy(half) == pytest.approx(0.5)  # ln 2 / ln 4

    # words: all but the first and the last token
    assert module.words(torch.tensor([[0.125, 0.25, 0.5, 0.125], [0.5, 0.0, 0.0, 0.5]])) == 0.375


@pytest.mark.slow
def test_of_a_network_whose_first_layer_asks_for_nothing_all_tokens_get_the_same(folder_of_texts, tmp_path):
    bed, encoder, texts = folder_of_texts
    weights = {name: values.zero_() if "layer.0.attention.self.query" in name else values
               for name, values in load_file(f"{encoder.source}/model.safetensors").items()}
    shutil.copytree(encoder.source, tmp_path / "even")
    save_file(weights, tmp_path / "even/model.safetensors", {"format": "pt"})
    even = Backbone("", str(tmp_path / "even"))
    found = module.cls_attention.definition.function(
        texts.value(), bed.store.value(), bed.tokens(encoder).value(), even, sample=6, max_length=12, seed=1)
    assert found["entropy"][0] == pytest.approx(1, abs=1e-6) and max(found["entropy"][1:]) < 1
    assert found["words"][0] == pytest.approx(10 / 12) and len(found["words"]) == len(found["entropy"]) > 1


ROWS = {name: checkpoint for checkpoint, name in CHECKPOINTS.items()}

POOLER = 768 * 768 + 768
PARAMETERS = {  # of the checkpoints' encoders, as they are published, less the pooler of those that have one
    "BERT": 109_482_240 - POOLER, "RoBERTa": 124_645_632 - POOLER, "ALBERT": 11_683_584 - POOLER, "DistilBERT": 66_362_880,
    "ELECTRA": 108_891_648}


@pytest.mark.slow
@pytest.mark.parametrize("name, expected", PARAMETERS.items())
def test_a_base_size_has_the_parameters_of_its_checkpoint(name, expected):
    with torch.device("meta"):  # without memory for its weights
        assert build(name).num_parameters() == expected


def test_a_spec_is_an_architecture_or_a_backbone():
    assert parse_architecture("BERT") == "BERT"
    assert parse_architecture("ELECTRA/4/256/4") == "ELECTRA/4/256/4"
    assert isinstance(parse_architecture("packaged:0"), Backbone)
    assert (name_of(parse_architecture("packaged:0")), name_of("BERT")) == ("packaged:0", "BERT")


BASE = BiEncoder(queries=1500, data_seed=1)


@pytest.mark.parametrize("spec, name", [
    ("packaged", "MiniLM"), ("packaged:0,1,2", "MiniLM (layers 0,1,2)"), ("hub:bert-base-uncased@86b5e09", "BERT"),
    ("hub:someone/other-model@v1", "other-model"), ("/models/mine/", "mine")])
def test_a_backbone_has_the_studys_name_or_its_own(spec, name):
    assert encoders.label(spec) == name


def test_every_row_of_the_study_can_be_measured_by_a_checkpoint():
    named = {f"{encoders.label(f'hub:x/{checkpoint}@main')} / {pooling}"
             for checkpoint in encoders.CHECKPOINTS for pooling in encoders.POOLINGS.values()}
    assert named == {row for row in published.column(encoders.STUDY, "4.2", "MRR@10") if " / " in row}
    versions = {row for (table, row, _) in published.load(encoders.STUDY) if table == "B.1"}
    assert set(encoders.CHECKPOINTS) == versions - {"all models"}


def test_a_model_for_every_backbone_and_pooling_stands_before_and_after_its_training():
    models = encoders.models(BASE, ["packaged", "packaged:0"], ["mean", "max"])
    both = encoders.variants(models, trained=True)
    assert both == models | {f"{name}, zero-shot": model.zero_shot() for name, model in models.items()}
    assert models == {"MiniLM / Avg": BASE, "MiniLM / Max": replace(BASE, pooling="max"),
                      "MiniLM (layers 0) / Avg": replace(BASE, backbone="packaged:0"),
                      "MiniLM (layers 0) / Max": replace(BASE, backbone="packaged:0", pooling="max")}


@pytest.mark.parametrize("depth, last", [(100, "nDCG@100"), (1000, "nDCG@1000"), (50, "nDCG@10")])
def test_measures_do_not_look_beyond_the_depth(depth, last):
    result = encoders.measures(depth)
    assert result[:4] == ["RR@10", "AP", f"R@{depth}", "Rprec"]
    assert result[-1] == last


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
