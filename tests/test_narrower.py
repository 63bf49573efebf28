"""A narrower encoder that is taught by a wider one, and the re-ranker that starts as it."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from helpers.data.windows import WHOLE
from helpers.errors import BadInput
from helpers.evaluation.comparable import model_name
from helpers.networks import backbone
from helpers.networks.imitation import projection, squared_error
from helpers.networks.scoring import load_scorer, logits
from helpers.pretraining.narrower_model import Pair, narrowed, principal_components
from helpers.reranking.listwise import ListwiseTraining, listwise_cross_encoder
from helpers.systems.listwise_reranker import ListwiseReranker, WarmUp
from helpers.systems.narrower import Narrower
from helpers.systems.testbed import Testbed


@pytest.fixture(scope="module")
def teacher():
    from transformers import BertConfig, BertModel

    torch.manual_seed(1)
    config = BertConfig(vocab_size=40, hidden_size=12, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
                        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return BertModel(config, add_pooling_layer=False).eval()


def test_principal_components_keep_what_varies():
    rows = torch.tensor([[3.0, 0.0, 5.0], [-3.0, 1.0, 5.0], [3.0, 1.0, 5.0], [-3.0, 0.0, 5.0]])  # third: a constant
    found = principal_components(rows, 2)
    assert found.T @ found == pytest.approx(torch.eye(2), abs=1e-6)
    assert found.abs() == pytest.approx(torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), abs=1e-6)


def test_a_narrower_student_keeps_depth_and_heads_and_begins_with_its_teachers_words(teacher):
    student = narrowed(teacher, 8)
    own, its = student.config, teacher.config
    assert (own.hidden_size, own.intermediate_size) == (8, 32)
    assert (own.num_hidden_layers, own.num_attention_heads) == (its.num_hidden_layers, its.num_attention_heads)
    assert its.hidden_size == 12  # the teacher's own is not touched
    words = teacher.embeddings.word_embeddings.weight
    assert torch.allclose(student.embeddings.word_embeddings.weight, words @ principal_components(words, 8))


@pytest.mark.parametrize("width", [0, 12, 24, 7])
def test_a_width_that_its_heads_cannot_share_is_named(teacher, width):
    with pytest.raises(BadInput, match=rf"a width of {width}.*multiple of 2 \(the heads\) below 12"):
        narrowed(teacher, width)


def test_the_loss_is_the_squared_error_of_widened_states_at_real_tokens(teacher):
    pair, ids = Pair(narrowed(teacher, 8), teacher), torch.tensor([[1, 2, 3, 0], [4, 5, 6, 7]])
    mask = torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]])
    with torch.no_grad():
        loss = float(pair(ids, mask)["loss"])
        states = [model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
                  for model in (pair.student, teacher)]
    wide = pair.widen.weight.detach().numpy()  # (12, 8)
    real = mask.bool().numpy()
    expected = sum(np.mean((own.numpy()[real] @ wide.T - its.numpy()[real]) ** 2) for own, its in zip(*states, strict=True))
    assert loss == pytest.approx(expected, rel=1e-4)
    assert not any(name.startswith("_teacher") for name, _ in pair.named_parameters())


def test_states_of_one_width_need_no_projection():
    same, narrow = SimpleNamespace(config=SimpleNamespace(hidden_size=12)), SimpleNamespace(config=SimpleNamespace(hidden_size=8))
    assert list(projection(same, same).parameters()) == []
    assert projection(narrow, same).weight.shape == (12, 8)


def test_a_squared_error_by_hand():
    kept = torch.tensor([[[True], [False]]])
    student, its = torch.tensor([[[1.0, 2.0], [9.0, 9.0]]]), torch.tensor([[[0.0, 0.0], [0.0, 0.0]]])
    assert float(squared_error([student, student], [its, student], kept)) == 2.5  # (1 + 4) / 2, and nothing


def test_a_narrower_reranker_starts_from_a_warm_up_of_its_own():
    model = ListwiseReranker(start=WarmUp()).on("packaged/264")
    assert (model.backbone, model.start.backbone, model.start.width) == ("packaged", "packaged", 264)
    assert model.start.origin.key == Narrower(width=264).model.key
    assert WarmUp().origin is None
    with pytest.raises(BadInput, match="the backbone packaged/264 needs a warm-up"):
        ListwiseReranker().on("packaged/264")


@pytest.mark.parametrize("spec, expected, name", [
    ("packaged", ("packaged", 0), "MiniLM"), ("packaged/264", ("packaged", 264), "MiniLM (264 wide)"),
    ("packaged:0,1/96", ("packaged:0,1", 96), "MiniLM (layers 0,1, 96 wide)"), ("./models/264", ("./models/264", 0), "264"),
    ("packaged:0,1", ("packaged:0,1", 0), "MiniLM (layers 0,1)")])
def test_a_width_stands_behind_the_packaged_backbone_alone(spec, expected, name):
    assert backbone.width_of(spec) == expected
    assert model_name(spec) == name


@pytest.mark.slow
def test_it_learns_its_teachers_states_and_a_re_ranker_starts_as_it(folder, store, tmp_path):
    made = Narrower(width=24, texts=str(folder), unit="document", articles="", backbone="packaged:0", steps=12, batch_size=2)
    log = json.loads((made.model.value() / "log.json").read_text())
    losses = [line["eval_loss"] for line in log["log"] if "eval_loss" in line]
    assert log["steps"] == 12
    assert losses[-1] < losses[0]
    bed, encoder = Testbed(str(folder), splits=("train",), words=WHOLE, overlap=0), backbone.resolve("packaged:0")
    groups = pd.DataFrame({"query_id": np.repeat(["q1", "q2", "q3"], 2), "window_id": ["d1#0", "d2#0"] * 3, "label": [1, 0] * 3,
                           "teacher": [0.8, 0.1] * 3})
    settings = ListwiseReranker(batch_size=1, evaluation_queries=1, evaluations=1)
    for name in ("model", "checkpoints"):
        (tmp_path / name).mkdir()
    listwise_cross_encoder.definition.function(
        groups, bed.query_frame, bed.store.value(), bed.tokens(encoder).value(), encoder, {"lce": 1.0}, start=made.model.value(),
        folder=tmp_path / "model", checkpoints=tmp_path / "checkpoints", **settings.settings(ListwiseTraining))
    scorer = load_scorer(tmp_path / "model")
    assert scorer.config.hidden_size == 24
    assert np.isfinite(logits(scorer, [([101, 7, 102, 9, 102], [0, 0, 0, 1, 1])])).all()
