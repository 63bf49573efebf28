"""What a step costs: the work that is timed, not the times."""

from types import SimpleNamespace

import pytest
import torch

from helpers.costs import step_cost
from helpers.costs.step_cost import encode, inference_seconds, query_seconds, random_ids, training_seconds, training_step
from helpers.costs.timing import torch_threads
from helpers.networks.backbone import build, resolve

pytestmark = pytest.mark.slow
TINY = ["BERT/1/32/2", "DistilBERT/2/32/2"]


@pytest.fixture(autouse=True)
def on_cpu(monkeypatch):
    monkeypatch.setenv("BOOK_DEVICE", "cpu")


def test_a_text_becomes_the_mean_of_its_states_with_length_one():
    states = torch.tensor([[[3.0, 0.0], [3.0, 8.0]], [[0.0, 2.0], [0.0, 4.0]]])
    seen = {}

    def model(input_ids, attention_mask):
        seen["mask"] = attention_mask
        return SimpleNamespace(last_hidden_state=states)

    result = encode(model, torch.tensor([[5, 6], [7, 8]]))
    assert torch.allclose(result, torch.tensor([[0.6, 0.8], [0.0, 1.0]]))  # means (3, 4) and (0, 3)
    assert seen["mask"].tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("vocabulary, lowest, highest", [(30522, 1_000, 30_000), (30_000, 1_000, 30_000), (1_001, 1_000, 1_001),
                                                         (1_000, 0, 1_000), (64, 0, 64)])
def test_token_ids_are_of_the_smallest_vocabulary(vocabulary, lowest, highest):
    assert step_cost.id_range(vocabulary) == (lowest, highest)
    drawn = random_ids(8, 64, "cpu", vocabulary)
    assert lowest <= drawn.min() and drawn.max() < highest
    assert drawn.equal(random_ids(8, 64, "cpu", vocabulary)) and drawn.shape == (8, 64)
    assert drawn.equal(random_ids(8, 64, "cpu")) == (highest == 30_000)  # the packaged backbone's, as they always were


def test_a_training_step_reads_three_texts_and_moves_the_weights_once_it_runs():
    model, calls = build("BERT/1/32/2", attn_implementation="eager").train(), []
    model.register_forward_hook(lambda *_: calls.append(1))
    before = [p.detach().clone() for p in model.parameters()]
    run = training_step(model, random_ids(6, 4, "cpu").chunk(3))
    assert calls == []
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    run()
    assert len(calls) == 3
    moved = [not torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True)]
    assert sum(moved) > len(moved) / 2
    assert all(p.grad is None for p in model.parameters())


def test_a_training_step_brings_the_relevant_text_nearer():
    torch.manual_seed(1)
    model, texts = build("BERT/1/32/2", attn_implementation="eager").eval(), random_ids(6, 4, "cpu").chunk(3)  # no dropout

    def loss():
        with torch.no_grad():
            query, near, far = (encode(model, ids) for ids in texts)
        return float((1 + (query * far).sum(1) - (query * near).sum(1)).clamp(min=0).mean())

    before = loss()
    for _ in range(20):
        training_step(model, texts)()
    assert loss() < before


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


def test_a_query_is_encoded_alone(store, monkeypatch):
    seen, real = [], step_cost.encode

    def watched(model, ids):
        seen.append((ids.shape, torch.get_num_threads()))
        return real(model, ids)

    monkeypatch.setattr(step_cost, "encode", watched)
    result = query_seconds(resolve("packaged:0"), 5, 3).value()
    assert len(result) == 3
    assert min(result) > 0
    assert seen == [((1, 5), 1)] * 4


def test_threads_are_as_before_after_an_error():
    before = torch.get_num_threads()
    with pytest.raises(ZeroDivisionError), torch_threads(before + 1):
        assert torch.get_num_threads() == before + 1
        1 / 0  # noqa: B018
    assert torch.get_num_threads() == before
