"""Where [CLS] looks: entropy and shares by hand, and the step against a network whose attention is known."""

import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from helpers.networks.backbone import Backbone
from helpers.pretraining import training as module
from helpers.stories import cls_attention as story
from helpers.stories import condenser
from helpers.systems.starting_points import BLIND, CONDENSER, MASKED, MLM
from tables import cells
from toys import Value


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


class Read:
    """A pre-training that says which weights it was asked about."""

    def __init__(self, name):
        self.model = name

    def attention(self, sample, weights):
        assert sample == condenser.SAMPLE
        return Value({"entropy": [len(weights or "")] * 3, "words": [0.5] * 3})


def test_all_encoders_are_read_on_one_branchs_texts():
    start = Read("start")
    start.epochs = 1
    found = story.measured(start, {MLM: [Read("mlm"), Read("second seed")], BLIND: [Read("blind")], MASKED: [Read("masked")]})
    assert {name: own["entropy"][0] for name, own in found.items()} == {"backbone": 0, "start": 5, MLM: 3, MASKED: 6}
    assert story.measured(start, {BLIND: [Read("blind")]}) == {}
    assert story.figure({}).markdown == ""


class Task:
    def encoder(self, weights, size, seed):
        return Read(f"{weights} tuned on {size} by {seed}")


def test_after_fine_tuning_the_same_texts_are_read_by_the_first_seed():
    starts = {MLM: {3: "mlm", 4: "other"}}
    found = story.after_fine_tuning(Task(), starts, 0, Read("reader"))
    assert {name: own["entropy"][0] for name, own in found.items()} == {
        MLM: 3, f"{MLM}, fine-tuned": len("mlm tuned on 0 by 3")}
    assert story.after_fine_tuning(Task(), {}, 0, Read("reader")) == {}


@pytest.mark.parametrize("early, late, expected", [(0.5, (0.125, 0.25), [True, True, True]),
                                                   (0.625, (0.375, 0.75), [False, False, False])])
def test_what_fine_tuning_moves_is_told_of_both_branches(early, late, expected):
    before = {name: {"words": [0.5, 0.5], "entropy": [0.5, 0.5]} for name in (MLM, MASKED)}
    after = {f"{name}, fine-tuned": {"words": [0.5, 0.5], "entropy": [early, value]}
             for name, value in zip((MLM, MASKED), late, strict=True)}
    assert list(story.tuned_signs(before | after).values()) == expected
    assert story.tuned_signs(before) == {}


def test_layers_are_told_of_by_halves():
    rows = cells(story.table({CONDENSER: {"entropy": [0.5, 0.25, 1.0, 0.75], "words": [0.125, 0.375, 0.5, 0.25]}}))
    assert rows[1] == [CONDENSER, "0.375", "0.875", "0.250", "0.375"]
    assert story.halves([1.0, 2.0, 4.0]) == (1.0, 3.0)


@pytest.mark.parametrize("between, moved, expected", [(0.1, 0.0, [True, True]), (0.3, 0.1, [False, False])])
def test_the_discussion_rests_on_the_layers_between_and_on_the_branch_without_a_head(between, moved, expected):
    found = {name: {"words": [0.5, 0.1, between, 0.9], "entropy": [0.5, 0.25 + shift, 0.25, 0.9]}
             for name, shift in (("backbone", 0.2), (MLM, 0.0), (MASKED, moved))}
    assert list(story.signs(found).values()) == expected
    assert story.signs({name: found[name] for name in ("backbone", MLM)}) == {}
    single = {name: {"words": [0.5], "entropy": [0.5]} for name in (MLM, MASKED)}
    assert list(story.signs(single).values()) == [True, True]  # there is no layer between
