import pytest
import torch

import toys
from helpers.networks import longformer
from helpers.networks.longformer import as_studied, converted, longer

TOKENS, QUERY, WINDOW = 24, 5, 8


@pytest.fixture(scope="module")
def bert():
    return toys.bert(True, vocab_size=60, hidden_size=24, num_hidden_layers=2, max_position_embeddings=32, initializer_range=0.3)


def inputs(tokens: int = TOKENS) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(5, 60, (3, tokens), generator=generator)
    types = torch.ones_like(ids)
    types[:, :QUERY] = 0
    mask = torch.ones_like(ids)
    mask[1, 15:] = 0
    return {"input_ids": ids * mask, "token_type_ids": types * mask, "attention_mask": mask}


def logits(model, given) -> torch.Tensor:
    with torch.no_grad():
        return model(**given).logits.flatten()


def test_while_all_tokens_fit_the_window_the_scores_are_berts(bert):
    long = as_studied(converted(bert, window=2 * TOKENS, length=32))
    assert torch.allclose(logits(long, inputs()), logits(bert, inputs()), atol=1e-5)


def test_a_document_token_beyond_window_and_global_tokens_is_not_seen_in_one_layer(bert):
    """Hidden states after one layer: the last token sees the query and its own half window, not the token before those."""
    given = inputs()
    long = as_studied(converted(bert, window=WINDOW, length=32))
    far, near, question = (given["input_ids"].clone() for _ in range(3))
    far[0, TOKENS - 2 - WINDOW // 2] = 59 - far[0, TOKENS - 2 - WINDOW // 2] + 5
    near[0, TOKENS - 2] = 59 - near[0, TOKENS - 2] + 5
    question[0, 1] = 59 - question[0, 1] + 5

    def last(ids):
        with torch.no_grad():
            return long(**{**given, "input_ids": ids}, output_hidden_states=True).hidden_states[1][0, TOKENS - 1]

    start = last(given["input_ids"])
    assert torch.allclose(last(far), start, atol=1e-6)
    assert not torch.allclose(last(near), start, atol=1e-3)
    assert not torch.allclose(last(question), start, atol=1e-3)


def test_a_longer_one_gives_the_scores_of_the_shorter_and_repeats_its_positions(bert):
    short = converted(bert, window=WINDOW, length=48)
    with torch.no_grad():
        short.longformer.embeddings.position_embeddings.weight += torch.rand(48 + 1, 1)
    before = logits(as_studied(short), inputs())
    long = longer(short, 100)
    assert torch.allclose(logits(as_studied(long), inputs()), before, atol=1e-6)
    table, old = (model.longformer.embeddings.position_embeddings.weight for model in (long, short))
    assert torch.equal(table[1:97], old[1:].repeat(2, 1)) and torch.equal(table[97:], old[1:5])
    assert len(table) == 101 == long.config.max_position_embeddings and logits(as_studied(long), inputs(90)).shape == (3,)


def test_positions_beyond_berts_repeat(bert):
    long = converted(bert, window=WINDOW, length=80)
    table, old = long.longformer.embeddings.position_embeddings.weight, bert.bert.embeddings.position_embeddings.weight
    assert table.shape[0] == 81 and torch.equal(table[1:33], old)
    assert torch.equal(table[33:65], old) and torch.equal(table[65:], old[:16])
    assert torch.isfinite(logits(as_studied(long), inputs(70))).all()


def test_other_models_are_left_as_they_are(bert):
    before = logits(bert, inputs())
    assert torch.equal(logits(as_studied(bert), inputs()), before) and not bert._forward_pre_hooks


@pytest.mark.parametrize("under_a_mask", [0, longformer.UNDER_A_MASK])
def test_windowed_attention_gives_what_transformers_gives(bert, under_a_mask, monkeypatch):
    """With global projections of their own, queries of several lengths, and padding; its softmax is single precision."""
    monkeypatch.setattr(longformer, "UNDER_A_MASK", under_a_mask)
    torch.manual_seed(2)
    theirs, own = (converted(bert, WINDOW, 32).double() for _ in range(2))
    for name, weight in theirs.state_dict().items():
        if "_global" in name:
            weight.copy_(torch.randn_like(weight) * 0.3)
    own.load_state_dict(theirs.state_dict())
    theirs.register_forward_pre_hook(longformer._global_attention, with_kwargs=True)
    given = inputs(TOKENS - 2)  # no multiple of the window, nor of its half
    given["token_type_ids"][0, QUERY - 2:QUERY] = 1
    with torch.no_grad():
        states = [model(**given, output_hidden_states=True).hidden_states[-1] for model in (theirs, as_studied(own))]
    seen = given["attention_mask"].bool()
    assert torch.allclose(states[0][seen], states[1][seen], atol=1e-5)
    assert not torch.allclose(states[1][seen], converted(bert, WINDOW, 32).double()(
        **given, output_hidden_states=True).hidden_states[-1][seen], atol=1e-3)
