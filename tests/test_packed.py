"""A packed BERT computes what transformers' own model does."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from helpers.networks import inference, packed
from helpers.networks.inference import packed_logits, padded_logits
from helpers.networks.packed import Packed, supports
from helpers.steps import numerics
from toys import bert

LENGTHS = [3, 9, 9, 9, 17, 40, 40, 1, 33]


def cross_encoder(layers=2, spread=0.3):
    """A tiny one with random weights."""
    model = bert(True, vocab_size=500, hidden_size=32, num_hidden_layers=layers, num_attention_heads=4, intermediate_size=64,
                 initializer_range=spread)
    for parameter in model.parameters():  # biases and norms are 0 and 1 in a new model: mistakes with them would not show
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model


def texts(lengths):
    random = np.random.default_rng(1)
    return ([random.integers(1, 500, size=n).tolist() for n in lengths], [[0] * (n // 2) + [1] * (n - n // 2) for n in lengths])


def padded_states(model, ids, types):
    """The last layer's states of each text by transformers, without those of padding."""
    rows, kinds = (torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in part], batch_first=True)
                   for part in (ids, types))
    mask = torch.tensor([[1] * len(row) + [0] * (rows.shape[1] - len(row)) for row in ids])
    states = model.bert(input_ids=rows, token_type_ids=kinds, attention_mask=mask).last_hidden_state
    return [state[:len(row)] for state, row in zip(states, ids, strict=True)]


# ---- groups of one length ----

def test_neighbours_of_one_length_are_grouped(monkeypatch):
    monkeypatch.setattr(packed, "TOKENS_AT_ONCE", 18)
    result = list(packed._groups([9, 9, 9, 2, 40, 9]))
    assert result == [(2, 9), (1, 9), (1, 2), (1, 40), (1, 9)]


# ---- the model ----

@pytest.mark.slow
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("at_once", [1, 20, 512])
def test_states_are_those_of_transformers(layers, at_once, monkeypatch):
    monkeypatch.setattr(packed, "TOKENS_AT_ONCE", at_once)
    model, (ids, types) = cross_encoder(layers), texts(LENGTHS)
    with torch.inference_mode():
        expected = padded_states(model, ids, types)
        torch.testing.assert_close(Packed(model.bert, first_only=False)(ids, types), torch.cat(expected), rtol=0, atol=1e-5)
        first = Packed(model.bert, first_only=True)(ids, types)
        torch.testing.assert_close(first, torch.stack([states[0] for states in expected]), rtol=0, atol=1e-5)


@pytest.mark.slow
def test_probabilities_come_in_the_order_of_the_inputs_packed_or_not(monkeypatch):
    monkeypatch.setattr(numerics, "dtype", lambda: "fp32")
    model, inputs = inference.ready(cross_encoder()), list(zip(*texts(LENGTHS * 5), strict=True))
    fast = inference.probabilities(model, inputs)
    monkeypatch.setattr(inference, "reads_packed", lambda _: False)
    assert np.allclose(fast, inference.probabilities(model, inputs), atol=1e-5)
    assert len(set(fast.round(4))) > len(LENGTHS) / 2


@pytest.mark.slow
def test_bf16_is_as_near_to_fp32_as_the_padded_models():
    model, (ids, types) = cross_encoder(spread=0.1), texts(LENGTHS * 4)
    with torch.inference_mode():
        exact = Packed(model.bert, first_only=True)(ids, types)
        model.bert.to(torch.bfloat16)
        fast = Packed(model.bert, first_only=True)(ids, types)
        padded = torch.stack([states[0] for states in padded_states(model, ids, types)])
    assert fast.dtype == torch.bfloat16
    assert (fast.float() - exact).pow(2).mean() < 2 * (padded.float() - exact).pow(2).mean()


def test_weights_are_divided_by_their_sum_in_the_end_where_no_exponential_is_out_of_range():
    scores = torch.tensor([[0.0, np.log(3)], [60, 0]]).bfloat16()
    with torch.inference_mode():
        weights, total = packed._weights(scores)
        assert torch.allclose((weights / total).float(), torch.tensor([[0.25, 0.75], [1, 0]]), atol=0.005)
        for beyond in (200, 80, -200):  # e^200 is too large for bfloat16, e^80 for a mixture of values, e^-200 too small
            weights, total = packed._weights(scores.new_tensor([[beyond, beyond]]))
            assert total is None and weights.tolist() == [[0.5, 0.5]]
    assert packed._weights(scores)[1] is None  # with gradients, softmax


@pytest.mark.slow
@pytest.mark.parametrize("kind, atol", [("float32", 1e-5), ("bfloat16", 0.02)])
@pytest.mark.parametrize("gelu", [False, True])
def test_linear_layers_side_by_side_are_each_of_them(kind, atol, gelu):
    torch.manual_seed(1)
    layers = [torch.nn.Linear(48, size).to(getattr(torch, kind)) for size in (16, 8)]
    rows = torch.randn(50, 48).to(getattr(torch, kind))
    with torch.inference_mode():
        expected = torch.cat([layer(rows) for layer in layers], dim=1).float()
        result = packed.Linear(*layers, gelu=gelu)(rows)
    assert result.dtype == rows.dtype
    torch.testing.assert_close(result.float(), torch.nn.functional.gelu(expected) if gelu else expected, rtol=0, atol=atol)


@pytest.mark.slow
def test_variable_length_attention_is_asked_for_the_same(monkeypatch):
    """PyTorch's kernel needs a GPU: a stand-in with its arguments, computed text by text, takes its place."""
    from torch.nn.attention import varlen

    def stand_in(query, key, value, bounds_q, bounds_k, longest_q, longest_k):
        assert bounds_q.dtype == bounds_k.dtype == torch.int32
        assert (bounds_q.diff().max(), bounds_k.diff().max()) == (longest_q, longest_k)
        parts = []
        for a, b, c, d in zip(bounds_q[:-1], bounds_q[1:], bounds_k[:-1], bounds_k[1:], strict=True):
            one, other, third = query[a:b].transpose(0, 1), key[c:d].transpose(0, 1), value[c:d].transpose(0, 1)
            parts.append(torch.nn.functional.scaled_dot_product_attention(one, other, third).transpose(0, 1))
        return torch.cat(parts)

    model, (ids, types) = cross_encoder(), texts(LENGTHS)
    with torch.inference_mode():
        expected = [Packed(model.bert, first_only)(ids, types) for first_only in (True, False)]
        monkeypatch.setattr(varlen, "varlen_attn", stand_in)
        monkeypatch.setattr(packed, "_attention_on_cpu", packed._attention_on_gpu)
        for first_only, needed in zip((True, False), expected, strict=True):
            torch.testing.assert_close(Packed(model.bert, first_only)(ids, types), needed, rtol=0, atol=1e-5)


def mpnet():
    """A tiny MPNet with random weights, in evaluation mode."""
    from transformers import MPNetConfig, MPNetModel

    torch.manual_seed(1)
    model = MPNetModel(MPNetConfig(vocab_size=500, hidden_size=32, num_hidden_layers=3, num_attention_heads=4,
                                   intermediate_size=64, max_position_embeddings=64, initializer_range=0.3)).eval()
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model


@pytest.mark.slow
def test_mpnet_has_its_relative_bias_and_its_own_positions():
    model, (ids, types) = mpnet(), texts(LENGTHS)
    ids = [[max(2, token) for token in row] for row in ids]  # 1 is its padding
    with torch.inference_mode():
        expected = [model(input_ids=torch.tensor([row])).last_hidden_state[0] for row in ids]
        torch.testing.assert_close(Packed(model, first_only=False)(ids, types), torch.cat(expected), rtol=0, atol=1e-3)
        first = Packed(model, first_only=True)(ids, types)
        torch.testing.assert_close(first, torch.stack([states[0] for states in expected]), rtol=0, atol=1e-3)
        model.encoder.relative_attention_bias.weight.zero_()
        without = Packed(model, first_only=True)(ids, types)
    assert (first - without).abs().max() > 0.01


# ---- what it is not for ----

def named(name, **config):
    kind = type(name, (), {})
    model = kind()
    model.config = SimpleNamespace(**{"hidden_act": "gelu", "is_decoder": False, **config})
    model.device = SimpleNamespace(type="cpu")
    return model


def test_only_a_plain_bert_or_mpnet_is_read_packed():
    assert supports(named("BertModel")) and supports(named("MPNetModel"))
    for other in (named("LongformerModel"), named("RobertaModel"), named("BertModel", hidden_act="relu"),
                  named("BertModel", is_decoder=True)):
        assert not supports(other)


@pytest.mark.slow
def test_a_device_without_variable_length_attention_is_not_supported(monkeypatch):
    model = named("BertModel")
    model.device, model.dtype = SimpleNamespace(type="mps"), torch.bfloat16
    assert not supports(model)
    model.device = SimpleNamespace(type="cuda")
    assert supports(model)
    other = named("MPNetModel")
    other.device, other.dtype = model.device, model.dtype
    assert not supports(other)  # no bias is added there
    model.dtype = torch.float32  # the kernel has no float32
    assert not supports(model)


def test_gradients_are_those_of_transformers():
    model = cross_encoder()
    ids, types = texts(LENGTHS)
    packed_logits(model, training=True)(ids, types).square().sum().backward()
    ours = {name: parameter.grad.clone() for name, parameter in model.named_parameters() if parameter.grad is not None}
    model.zero_grad()
    padded_logits(model)(ids, types).square().sum().backward()
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(ours[name], parameter.grad, rtol=1e-3, atol=1e-4, msg=name)
