"""Networks: batches, padding, poolings, attention of [CLS]."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from helpers.costs.speed import grouped_order, padded, padding
from helpers.networks import inference
from helpers.networks.backbone import Backbone, resolve
from helpers.networks.encoder import normalised, pool
from helpers.networks.inference import batches, run_batches
from helpers.pretraining import training as module

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
