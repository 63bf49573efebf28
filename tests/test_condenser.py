"""The Condenser head: what it sees, what it leaves behind; whole-word masking; pre-training that goes on where it stopped."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from helpers.networks.backbone import Backbone
from helpers.networks.encoder import build
from helpers.pretraining.heads import Condenser
from helpers.pretraining.masking import IGNORED, Masked, WholeWordMasking, batch, corpus, spans
from helpers.pretraining.training import OUTPUT, MaskedTraining, pretrained
from toys import bert


def condenser(early=1, head_layers=2):
    torch.manual_seed(6)
    return Condenser(bert(), early, head_layers).eval()


IDS = torch.tensor([[2, 11, 12, 13, 14, 3], [2, 21, 22, 3, 0, 0]])
MASK = (IDS > 0).long()
LABELS = torch.tensor([[-100, 31, -100, 33, -100, -100], [-100, -100, 32, -100, -100, -100]])


def test_the_head_sees_late_states_only_through_cls():
    model = condenser()
    late, early = (states.detach().requires_grad_() for states in model.states(IDS, MASK))
    model.condensed(late[:, :1], early, MASK)[:, 1:].sum().backward()  # every token that the head guesses
    assert late.grad[:, 0].abs().sum() > 0
    assert late.grad[:, 1:].abs().max() == 0
    assert early.grad[:, 0].abs().max() == 0  # the early [CLS] gives way to the late one
    assert early.grad[MASK.bool()].abs().sum() > 0


def test_padding_changes_nothing_in_the_head():
    model = condenser()
    late, early = model.states(IDS[1:, :4], MASK[1:, :4])
    alone = model.condensed(late[:, :1], early, MASK[1:, :4])
    late, early = model.states(IDS, MASK)
    assert torch.allclose(model.condensed(late[:, :1], early, MASK)[1, :4], alone[0], atol=1e-5)


@torch.no_grad()
def test_the_loss_is_the_sum_of_both_parts():
    model = condenser()
    out = model(IDS, MASK, LABELS)
    table = model.encoder.embeddings.word_embeddings.weight
    late, early = model.states(IDS, MASK)
    truth = torch.tensor([31, 33, 32])
    late_scores = model.output(late, table)[LABELS != IGNORED]
    head_scores = model.output(model.condensed(late[:, :1], early, MASK), table)[LABELS != IGNORED]
    by_hand = [-scores.log_softmax(-1)[torch.arange(3), truth] for scores in (late_scores, head_scores)]
    assert out["loss"] == pytest.approx(float(by_hand[0].mean() + by_hand[1].mean()), rel=1e-5)
    assert out["parts"][:, 0].tolist() == pytest.approx([float(by_hand[0][:2].sum()), float(by_hand[0][2])], rel=1e-5)
    assert out["parts"][:, 1].tolist() == [float((late_scores.argmax(-1) == truth)[:2].sum()),
                                           float((late_scores.argmax(-1) == truth)[2:].sum())]
    assert out["parts"][:, 3].tolist() == pytest.approx([float(by_hand[1][:2].sum()), float(by_hand[1][2])], rel=1e-5)
    assert out["parts"][:, 2].tolist() == out["parts"][:, 5].tolist() == [2, 1]
    swapped = model.condensed(late[[1, 0], :1], early, MASK)  # each text with the other's [CLS]
    other = [-scores.log_softmax(-1)[torch.arange(3), truth] for scores in (model.output(swapped, table)[LABELS != IGNORED],)][0]
    assert out["parts"][:, 4].tolist() == pytest.approx([float(other[:2].sum()), float(other[2])], rel=1e-5)


@torch.no_grad()
def test_a_head_without_late_cls_is_indifferent_to_the_late_layers():
    model = condenser()
    model._late_cls = False
    before = model(IDS, MASK, LABELS)["parts"]
    for weight in model.encoder.encoder.layer[2].parameters():
        weight += torch.randn_like(weight)
    after = model(IDS, MASK, LABELS)["parts"]
    assert torch.equal(before[:, 3:], after[:, 3:]) and not torch.equal(before[:, 0], after[:, 0])


@torch.no_grad()
def test_a_head_with_masks_of_its_own_sees_embeddings_and_guesses_its_own_pieces():
    model = condenser(early=0)
    own, wanted = IDS.clone(), torch.full_like(IDS, IGNORED)
    own[0, 3], wanted[0, 3] = 4, 12
    parts = model(IDS, MASK, LABELS, own, wanted)["parts"]
    late, table = model.states(IDS, MASK)[0], model.encoder.embeddings.word_embeddings.weight
    head = model.output(model.condensed(late[:, :1], model.encoder.embeddings(own), MASK), table)
    assert parts[:, 3].tolist() == pytest.approx([-float(head[0, 3].log_softmax(-1)[12]), 0.0], rel=1e-5)
    assert parts[:, 5].tolist() == [1, 0] and parts[:, 2].tolist() == [2, 1]


def test_the_output_is_tied_to_the_embeddings():
    model = condenser(head_layers=0)
    before = model(IDS, MASK, LABELS)["parts"][:, 0].clone()
    assert not any(weight.shape == (50, 16) for name, weight in model.output.named_parameters())  # no table of its own
    with torch.no_grad():
        model.encoder.embeddings.word_embeddings.weight[31] *= 3  # a piece that is guessed and never read
    assert model(IDS, MASK, LABELS)["parts"][0, 0] != before[0]


VOCABULARY = 40
CONTINUES = np.zeros(VOCABULARY, dtype=bool)
CONTINUES[30:] = True  # ids 30 to 39 continue a word
MASKING = WholeWordMasking(CONTINUES, 4, np.arange(5, VOCABULARY), 0.15)


def test_words_are_masked_whole():
    text = np.array([5, 30, 31, 6, 7, 32, 8, 9, 10, 33])
    word = np.array([0, 0, 0, 1, 2, 2, 3, 4, 5, 5])
    for seed in range(200):
        read, labels = MASKING(text, np.random.default_rng(seed))
        chosen = labels != IGNORED
        assert len(set(word[chosen])) == 1  # 15 % of six words
        assert (chosen == np.isin(word, word[chosen])).all()
        assert (labels[chosen] == text[chosen]).all() and (read[~chosen] == text[~chosen]).all()
        assert (read[chosen] == 4).all() or not (read[chosen] == 4).any()  # one fate a word


def test_shares_of_masked_random_and_kept_words():
    generator = np.random.default_rng(3)
    text = np.arange(5, 30)
    counts = np.zeros(4)
    for _ in range(2000):
        read, labels = MASKING(text, generator)
        chosen = labels != IGNORED
        counts += [chosen.sum(), (read[chosen] == 4).sum(), (read[chosen] == text[chosen]).sum(), len(text)]
    assert counts[0] / counts[3] == pytest.approx(4 / 25)  # 15 % of 25 words, rounded
    assert counts[1] / counts[0] == pytest.approx(0.8, abs=0.02)
    assert counts[2] / counts[0] == pytest.approx(0.1, abs=0.015)  # a random piece is the same one in three of a hundred


def test_a_text_cut_within_a_word_and_a_short_one():
    read, labels = MASKING(np.array([30, 31]), np.random.default_rng(1))
    assert (labels == [30, 31]).all()
    assert (MASKING(np.array([7]), np.random.default_rng(1))[1] == [7]).all()  # at least one word


def masked(texts, batch_size=2, seed=1, **more):
    return Masked(texts, MASKING, batch_size, seed, (2, 3), **more)


def test_an_epoch_reads_every_text_once_in_an_order_of_its_own():
    data = masked([np.full(n, 10) for n in range(1, 12)])
    orders = []
    for epoch in (0, 1):
        data.epoch = epoch
        orders.append(data.order().tolist())
        assert sorted(orders[-1]) == list(range(11))
        assert sorted(len(data[n]["input_ids"]) for n in range(11)) == [n + 2 for n in range(1, 12)]
    assert orders[0] != orders[1]


def test_masks_depend_on_epoch_and_text_alone():
    data = masked([np.arange(5, 30) for _ in range(4)])
    evaluation = [data[n] for n in range(4)]
    data.epoch = 3
    later = [data[n] for n in range(4)]
    data.epoch = 2
    _ = [data[n] for n in range(4)]
    data.epoch = 3
    assert [data[n] for n in range(4)] == later
    data.epoch = -1
    assert [data[n] for n in range(4)] == evaluation
    assert evaluation[0]["labels"] != evaluation[1]["labels"]  # equal texts, other masks


def test_the_heads_own_masks_leave_the_others_as_they_are():
    plain, both = (masked([np.arange(5, 30)], **more) for more in ({}, {"head_masking": replace(MASKING, mlm_probability=0.5)}))
    assert {name: both[0][name] for name in plain[0]} == plain[0]
    made = batch([both[0]], 0)
    assert int((made["head_labels"] != IGNORED).sum()) == 12 and int((made["labels"] != IGNORED).sum()) == 4
    assert set(batch([plain[0]], 0)) == {"input_ids", "attention_mask", "labels"}


def test_long_texts_are_cut_and_remainders_dropped():
    class Tokens(dict):
        def windows_of(self, doc_id):
            return [f"{doc_id}#0"]

    pieces = spans(["a", "b"], Tokens({"a#0": np.arange(25), "b#0": np.arange(5)}), 12)
    assert [len(ids) for ids in pieces] == [10, 10]  # 5 left over of a, and b, are shorter than 8
    assert pieces[1].tolist() == list(range(10, 20))


def made(bed, encoder, texts, epochs=3, head_layers=2, start=None, seed=1, dropout=0.1):
    return pretrained(texts, bed.store, bed.tokens(encoder), encoder, 1, head_layers, start, **vars(MaskedTraining(
        epochs=epochs, learning_rate=1e-3, batch_size=8, dropout=dropout, max_length=20, evaluation_texts=4, seed=seed)))


def test_the_first_texts_alone_may_be_read(folder_of_texts):
    bed, _, _ = folder_of_texts
    assert corpus(bed.store, 3).value()["doc_id"].tolist() == ["p0", "p1", "p2"]
    assert corpus(bed.store, 1000).value()["doc_id"].nunique() == 40


def test_the_saved_model_is_its_backbone_and_the_head_is_dropped(folder_of_texts):
    from transformers import AutoModel

    bed, encoder, texts = folder_of_texts
    folder = made(bed, encoder, texts).value()
    names = set(load_file(folder / "model.safetensors"))
    assert names == set(load_file(f"{encoder.source}/model.safetensors"))
    assert not any("head" in name or "output.transform" in name for name in names)
    loaded = AutoModel.from_pretrained(folder, use_safetensors=True, add_pooling_layer=False)
    ours = build(Backbone("", str(folder)))
    states = [model.eval()(input_ids=IDS[:1]).last_hidden_state for model in (loaded, ours)]
    assert torch.equal(*states)
    log = json.loads((folder / "log.json").read_text())
    assert log["parameters"] == sum(p.numel() for p in loaded.parameters()) < log["parameters_in_training"]


def test_losses_fall_and_continuing_keeps_the_head_and_begins_where_it_ended(folder_of_texts):
    bed, encoder, texts = folder_of_texts
    first = made(bed, encoder, texts, dropout=0.0)
    evaluated = [line for line in json.loads((first.value() / "log.json").read_text())["log"] if "eval_late" in line]
    assert len(evaluated) == 4  # before the training and after each epoch
    before, ended = evaluated[0], evaluated[-1]
    assert ended["eval_late"] < before["eval_late"] and ended["eval_head"] < before["eval_head"]
    on = made(bed, encoder, texts, epochs=1, start=first, dropout=0.0)
    began = json.loads((on.value() / "log.json").read_text())["log"][0]
    assert began["step"] == 0 and began["eval_head"] == pytest.approx(ended["eval_head"], rel=1e-3)
    assert set(load_file(on.value() / OUTPUT)) == set(load_file(first.value() / OUTPUT))
    plain = made(bed, encoder, texts, head_layers=0)
    assert not any(name.startswith("head.") for name in load_file(plain.value() / OUTPUT))
