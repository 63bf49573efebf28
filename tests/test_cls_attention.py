"""Where [CLS] looks: entropy and shares by hand, and the step against a network whose attention is known."""

import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from helpers.networks.backbone import Backbone
from helpers.pretraining import training as module


def test_an_even_row_has_entropy_one_and_a_row_on_one_token_none():
    even, single = torch.full((1, 8), 1 / 8), torch.eye(8)[:1]
    assert module.entropy(even) == pytest.approx(1) and module.entropy(single) == 0
    assert module.entropy(torch.cat([even, single])) == pytest.approx(0.5)  # the mean over heads
    half = torch.tensor([[0.5, 0.5, 0.0, 0.0]])
    assert module.entropy(half) == pytest.approx(0.5)  # ln 2 / ln 4


def test_words_are_all_but_the_first_and_the_last_token():
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
