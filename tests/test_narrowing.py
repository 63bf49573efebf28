"""A narrower encoder that is fitted to a wider one, and the re-ranker that starts from it."""

import json

import numpy as np
import pytest
import torch

from helpers.evaluation.verdicts import model_name
from helpers.networks import backbone, narrowing
from helpers.networks.inference import load_scorer, logits
from helpers.reranking.listwise import ListwiseTraining, listwise_cross_encoder
from helpers.systems.rerankers import ListwiseReranker, WarmUp
from toys import bert

ROWS = [torch.randint(5, 40, (length,), generator=torch.Generator().manual_seed(length)).tolist() for length in range(4, 24)]


@pytest.fixture(scope="module")
def wide():
    return bert(hidden_size=12, num_hidden_layers=2, num_attention_heads=3, intermediate_size=24, initializer_range=0.3)


@torch.no_grad()
def states(encoder, row):
    return encoder(input_ids=torch.tensor([row])).last_hidden_state[0]


def test_of_the_same_width_it_is_the_encoder_itself(wide, monkeypatch):
    monkeypatch.setattr(narrowing, "RIDGE", 1e-10)
    same = narrowing.narrowed(wide, ROWS, 12)
    assert torch.allclose(states(same, ROWS[-1]), states(wide, ROWS[-1]), atol=1e-3)


def test_a_narrower_one_has_whole_heads_and_tells_the_wider_ones_states(wide):
    narrow = narrowing.narrowed(wide, ROWS, 8)
    config = narrow.config
    assert (config.hidden_size, config.num_attention_heads, config.intermediate_size, config.num_hidden_layers) == (8, 2, 16, 2)
    assert wide.config.hidden_size == 12  # the other's own is not touched
    torch.manual_seed(7)
    fitted, random = (untold(one, wide) for one in (narrow, type(narrow)(config, add_pooling_layer=False).eval()))
    assert fitted < 0.75 * random


def untold(narrow, wide):
    """The share of a wider encoder's states that no linear map of the narrower one's tells."""
    own, its = (torch.cat([states(encoder, row) for row in ROWS]) for encoder in (narrow, wide))
    own, its = own - own.mean(0), its - its.mean(0)
    return float((own @ torch.linalg.lstsq(own, its).solution - its).square().sum() / its.square().sum())


def test_a_regression_finds_the_layer_that_made_its_outputs():
    torch.manual_seed(2)
    made, found, inputs = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3), torch.randn(50, 4) + 5
    with torch.no_grad():
        narrowing.fit(found, inputs, made(inputs))
    assert torch.allclose(found.weight, made.weight, atol=1e-3) and torch.allclose(found.bias, made.bias, atol=1e-2)


def test_a_norm_gets_the_gain_and_the_shift_that_made_its_outputs():
    torch.manual_seed(3)
    norm, inputs = torch.nn.LayerNorm(4), torch.randn(50, 4)
    gain, shift = torch.tensor([1.0, 2.0, 0.5, -1.0]), torch.tensor([0.0, 1.0, 2.0, 3.0])
    with torch.no_grad():
        outputs = norm(inputs) * gain + shift
        assert torch.allclose(narrowing.fit_norm(norm, inputs, outputs), outputs, atol=1e-5)
    assert torch.allclose(norm.weight, gain, atol=1e-4) and torch.allclose(norm.bias, shift, atol=1e-4)


def test_the_loudest_columns_are_those_whose_part_of_the_output_varies_most():
    values = torch.tensor([[1.0, 9.0, 0.0, 2.0], [-1.0, 9.0, 0.0, -2.0]])  # the second is constant
    assert narrowing.loudest(values, torch.tensor([[1.0, 5.0, 5.0, 1.0]]), 1, 1).tolist() == [3]
    assert narrowing.loudest(values, torch.tensor([[9.0, 5.0, 5.0, 1.0]]), 1, 2).tolist() == [0, 3]
    assert narrowing.loudest(values, torch.tensor([[3.0, 5.0, 5.0, 1.0]]), 2, 1).tolist() == [0, 1]  # 9 of variance, and 4
    apart = torch.tensor([[1.0, 1.0, 1.0, 0.0], [-1.0, -1.0, -1.0, 0.0]])  # in a group two columns may undo each other
    assert narrowing.loudest(apart, torch.tensor([[3.0, -3.0, 1.0, 0.0]]), 2, 1).tolist() == [2, 3]


def test_dimensions_that_tell_the_others_are_kept():
    torch.manual_seed(4)
    free = torch.randn(100, 2)
    layer = torch.stack([free[:, 0], free[:, 0] * 0.1, free[:, 1], free[:, 1] * 0.1 + free[:, 0] * 0.1], dim=1)
    assert narrowing.spanning([layer, layer * 100], 2).tolist() == [0, 2]


def test_heads_attend_within_their_text():
    values = torch.tensor([[1.0], [3.0], [100.0]])
    even = torch.zeros(3, 1)
    assert narrowing.attended([even, even, values], 1, [2, 1]).flatten().tolist() == [2.0, 2.0, 100.0]


# ---- as a re-ranker's start ----

def test_a_narrower_reranker_starts_from_a_warm_up_of_its_own():
    model = ListwiseReranker(start=WarmUp()).on("packaged/256")
    assert (model.backbone, model.start.backbone, model.start.width) == ("packaged", "packaged", 256)
    assert model.start.groups.key == WarmUp().groups.key
    assert (model.start.origin.name, model.start.origin.arguments["width"]) == ("narrowed_encoder", 256)
    assert WarmUp().origin is None


@pytest.mark.parametrize("spec, expected, name", [
    ("packaged", ("packaged", 0), "MiniLM"), ("packaged/256", ("packaged", 256), "MiniLM (256 wide)"),
    ("packaged:0,1/96", ("packaged:0,1", 96), "MiniLM (layers 0,1, 96 wide)"), ("./models/256", ("./models/256", 0), "256"),
    ("packaged:0,1", ("packaged:0,1", 0), "MiniLM (layers 0,1)")])
def test_a_width_stands_behind_the_packaged_backbone_alone(spec, expected, name):
    assert backbone.width_of(spec) == expected
    assert model_name(spec) == name


@pytest.mark.slow
def test_a_re_ranker_is_trained_from_a_narrower_encoder_and_kept_whole(folder, trained):
    start = WarmUp(collection=str(folder), unit="document", backbone="packaged:0", width=64).origin.value()
    settings = ListwiseReranker(batch_size=1, evaluation_queries=1, evaluations=1).settings(ListwiseTraining)
    made = trained(listwise_cross_encoder, "model", "none", losses={"lce": 1.0}, start=start, **settings)
    scorer = load_scorer(made)
    assert (scorer.config.hidden_size, scorer.config.num_attention_heads) == (64, 2)
    assert json.loads((made / "log.json").read_text())["parameters"] == sum(own.numel() for own in scorer.parameters())
    assert np.isfinite(logits(scorer, [([101, 7, 102, 9, 102], [0, 0, 0, 1, 1])])).all()
