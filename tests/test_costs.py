"""What is timed and weighed: steps, rankings, lengths, memory."""

import resource
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from helpers.costs import encoder_cost, speed
from helpers.costs.encoder_cost import (
    inference_memory,
    inference_seconds,
    peak,
    query_seconds,
    random_ids,
    reset_peak,
    resident,
    training_seconds,
    training_step,
)
from helpers.costs.length_cost import KINDS, length_cost, reader
from helpers.costs.timing import in_new_process
from helpers.networks import backbone
from helpers.networks.backbone import build, resolve
from helpers.retrieval.indexes import text_index

# ---- a step ----

TINY = ["BERT/1/32/2", "DistilBERT/2/32/2"]


@pytest.fixture(autouse=True)
def on_cpu(monkeypatch):
    monkeypatch.setenv("BOOK_DEVICE", "cpu")


def of_size(vocabulary):
    return SimpleNamespace(config=SimpleNamespace(vocab_size=vocabulary))


@pytest.mark.slow
@pytest.mark.parametrize("vocabulary, lowest, highest", [(30522, 1_000, 30_000), (30_000, 1_000, 30_000), (1_001, 1_000, 1_001),
                                                         (1_000, 0, 1_000), (64, 0, 64)])
def test_token_ids_are_of_the_smallest_vocabulary(vocabulary, lowest, highest):
    models = of_size(50_000), of_size(vocabulary)
    drawn = random_ids(8, 64, "cpu", *models)
    assert lowest <= drawn.min() and drawn.max() < highest
    assert drawn.equal(random_ids(8, 64, "cpu", *models)) and drawn.shape == (8, 64)
    assert drawn.equal(random_ids(8, 64, "cpu", of_size(30522))) == (highest == 30_000)  # the packaged backbone's, as always


@pytest.mark.slow
def test_a_training_step_reads_three_texts_and_moves_the_weights_once_it_runs():
    model, calls = build("BERT/1/32/2", attn_implementation="eager").train(), []
    model.register_forward_hook(lambda *_: calls.append(1))
    before = [p.detach().clone() for p in model.parameters()]
    run = training_step(model, random_ids(6, 4, "cpu", model).chunk(3))
    assert calls == []
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    run()
    assert len(calls) == 3
    moved = [not torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True)]
    assert sum(moved) > len(moved) / 2
    assert all(p.grad is None for p in model.parameters())


def test_inference_is_timed_for_every_model(store, small_vocabulary):
    threads = torch.get_num_threads()
    times = inference_seconds(TINY, [resolve("packaged:0"), resolve(small_vocabulary)], 2, 4, 3, 1, "fp32", "cpu").value()
    assert list(times) == [*TINY, "packaged:0", small_vocabulary]
    assert all(len(line["seconds"]) == 3 and min(line["seconds"]) > 0 for line in times.values())
    assert times["DistilBERT/2/32/2"]["parameters"] == (30522 + 512) * 32 + 64 + 2 * (4 * 33 * 32 + 64 + 33 * 128 + 129 * 32 + 64)
    assert torch.get_num_threads() == threads


def test_training_is_timed_for_every_model(store, small_vocabulary):
    result = training_seconds(TINY, [resolve(small_vocabulary)], 1, 4, 2, 1, "cpu").value()
    assert list(result) == [*TINY, small_vocabulary]
    assert all(len(values) == 2 and min(values) > 0 for values in result.values())


@pytest.mark.slow
def test_a_query_is_encoded_alone(store, monkeypatch):
    seen, real = [], encoder_cost.encode

    def watched(model, ids):
        seen.append((ids.shape, torch.get_num_threads()))
        return real(model, ids)

    monkeypatch.setattr(encoder_cost, "encode", watched)
    result = query_seconds(resolve("packaged:0"), 5, 3).value()
    assert len(result) == 3
    assert min(result) > 0
    assert seen == [((1, 5), 1)] * 4


# ---- a ranking ----

def test_queries_per_minute_count_retrieval_and_reranking():
    times = {"queries": 4, "retrieval": [1.0, 3.0], "sizes": {"small": {"seconds": [3.0, 5.0]}, "big": {"seconds": [23.0, 57.0]}}}
    assert speed.per_minute(times, "small").tolist() == [60.0, 30.0]  # 240 / 4, 240 / 8
    assert speed.per_minute(times, "big").tolist() == [10.0, 4.0]


@pytest.mark.slow
@pytest.mark.parametrize("layers, dimensions, heads", [(1, 32, 2), (2, 64, 4), (3, 32, 1)])
def test_a_random_model_has_the_shape_and_its_parameters(layers, dimensions, heads):
    model = speed.random_cross_encoder(f"{layers}/{dimensions}/{heads}", backbone.resolve("packaged"))
    assert len(model.base_model.encoder.layer) == layers
    assert model.classifier.weight.shape == (1, dimensions)
    assert (model.config.hidden_size, model.config.num_attention_heads) == (dimensions, heads)
    assert model.config.intermediate_size == 4 * dimensions and not model.training


@pytest.mark.slow
def test_a_ranking_is_timed_whole(bed):
    encoder = backbone.resolve("packaged")
    result = speed.ranking_speed(["1/32/2"], encoder, text_index(bed.store), bed.query_step, bed.store, bed.tokens(encoder), 0.9,
                                 0.4, 2, 32, 8, 1, 2, "cpu").value()
    assert (result["queries"], result["device"]) == (1, "cpu")
    assert result["windows"] == 2  # the two candidates are of one window each
    assert result["sizes"]["1/32/2"]["parameters"] == speed.random_cross_encoder("1/32/2", encoder).num_parameters()
    for seconds in (result["retrieval"], result["sizes"]["1/32/2"]["seconds"]):
        assert len(seconds) == 2
        assert min(seconds) > 0
    assert (speed.per_minute(result, "1/32/2") > 0).all()


@pytest.mark.slow
def test_every_kind_and_length_is_measured_in_a_process_of_its_own(store):
    result = length_cost(resolve("packaged:0"), [96, 32], 16, 1, "cpu").value()
    assert list(result) == list(KINDS)
    for rows in result.values():
        assert [row["length"] for row in rows] == [32, 96]
        assert all(len(row["seconds"]) == 1 and row["seconds"][0] > 0 for row in rows)
        assert 20 < rows[0]["megabytes"] < 1000  # the embeddings alone take more than twenty, the libraries are not counted


@pytest.mark.slow
def test_the_kinds_differ_in_attention_alone():
    full, windowed = (reader(kind, resolve("packaged:0"), 64, 16) for kind in KINDS[::-1])
    assert full.config.model_type == "bert" and windowed.config.model_type == "longformer"
    assert full.config.num_hidden_layers == windowed.config.num_hidden_layers == 1


# ---- memory ----

MEGABYTE = 10**6
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def measured(specs, precision="fp32", backbones=()):
    return inference_memory.definition.function(specs, list(backbones), 2, 8, 1, precision, "cpu")


@pytest.fixture(scope="module")
def sizes():
    """A larger model and a small backbone."""
    return measured(["BERT/2/512/8"], backbones=[resolve("packaged:0")])


@pytest.mark.slow
def test_a_larger_model_takes_more_and_the_weights_are_part_of_the_model_and_the_model_of_the_whole(sizes):
    large, small = sizes.values()
    assert all(large[kind] > small[kind] for kind in ("weights", "model", "whole"))
    assert large["weights"] == 4 * ((30522 + 512 + 2) * 512 + 1024 + 2 * (4 * 513 * 512 + 1024 + 513 * 2048 + 2049 * 512 + 1024))
    assert large["weights"] <= large["model"] < large["weights"] + 60 * MEGABYTE
    assert large["model"] < large["whole"]


@linux
@pytest.mark.slow
def test_half_the_precision_takes_half_the_weights_and_the_memory_of_the_process_that_asks_does_not_count(sizes):
    ballast = np.ones(300 * MEGABYTE // 8)
    half, whole = measured(["BERT/2/512/8"], "bf16")["BERT/2/512/8"], sizes["BERT/2/512/8"]
    assert ballast.sum() > 0 and half["whole"] < whole["whole"] + 60 * MEGABYTE
    assert 2 * half["weights"] == whole["weights"] and half["model"] < whole["model"] - 20 * MEGABYTE


def test_what_went_wrong_is_said():
    with pytest.raises(RuntimeError, match="memory could not be measured: .*No module named nothing"):
        in_new_process("nothing", label="memory")


@linux
def test_the_high_water_mark_sees_what_is_gone_until_it_is_reset():
    block = np.ones(200 * MEGABYTE // 8)
    assert resident() > 200 * MEGABYTE
    del block
    assert peak() > resident() + 150 * MEGABYTE
    reset_peak()
    assert peak() < resident() + 50 * MEGABYTE


@pytest.mark.parametrize("platform, unit", [("darwin", 1), ("linux", 1024)])
def test_without_that_account_the_peak_of_the_whole_life_counts(tmp_path, monkeypatch, platform, unit):
    monkeypatch.setattr(encoder_cost, "STATUS", tmp_path / "none")
    monkeypatch.setattr(encoder_cost, "CLEAR", tmp_path / "none" / "either")
    monkeypatch.setattr(encoder_cost.sys, "platform", platform)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert peak() == most * unit
    reset_peak()  # nothing to reset, and no error
