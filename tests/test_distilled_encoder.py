"""A student that is taught the states of the whole encoder: its loss by hand, what it reads, and that it learns."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from helpers.encoders import training
from helpers.encoders.models import Taught, squared_error
from helpers.encoders.training import StateTraining, distilled_encoder
from helpers.networks.encoder import Encoder, build
from helpers.networks.fine_tuning import training_log
from helpers.pages.training import curve
from helpers.systems.bi_encoder import BiEncoder, DistilledEncoder
from helpers.systems.testbed import SplitTestbed

QUERIES = pd.DataFrame({"query_id": ["q1", "q2"], "text": ["w1 w2", "w3"]})
TRAINING = StateTraining(steps=30, batch_size=8, learning_rate=1e-3, max_length=12, evaluations=3, evaluation_texts=4)


def test_the_loss_is_a_mean_over_the_tokens_of_a_text_and_then_over_texts():
    wanted = torch.zeros(2, 3, 2)
    states = torch.tensor([[[1.0, 3.0], [0.0, 0.0], [2.0, 0.0]],  # 5, 0 and 2: 7/3
                           [[4.0, 2.0], [9.0, 9.0], [9.0, 9.0]]])  # 10, and padding
    mask = torch.tensor([[1, 1, 1], [1, 0, 0]])
    assert squared_error(states, wanted, mask).item() == pytest.approx((7 / 3 + 10) / 2)
    assert squared_error(states, states, mask).item() == 0
    doubled = squared_error(2 * states, states, mask)  # their cosine would be 1
    assert doubled.item() == pytest.approx((7 / 3 + 10) / 2)


class Table(torch.nn.Module):
    """Stands for an encoder: a state for each token, whatever is around it."""

    def __init__(self, *states):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(states))

    def forward(self, input_ids, attention_mask):
        return type("Output", (), {"last_hidden_state": self.weight[input_ids]})


def test_a_teacher_has_no_dropout_and_no_gradient_and_is_none_of_the_weights():
    student, teacher = Table([0.0, 0.0], [1.0, 1.0]), Table([0.0, 0.0], [3.0, 1.0])
    pair = Taught(student, teacher).train()
    loss = pair(torch.tensor([[1, 0]]), torch.tensor([[1, 0]]))["loss"]
    assert loss.item() == pytest.approx((2**2 + 0) / 2)
    loss.backward()
    assert student.weight.grad.tolist() == [[0, 0], [-2, 0]]
    assert not teacher.training and teacher.weight.grad is None
    assert list(pair.state_dict()) == ["student.weight"]


def test_a_student_learns_its_teachers_states_and_loads_as_an_encoder(folder_of_texts):
    bed, whole, _ = folder_of_texts
    cut = replace(whole, layers=(1,))
    step = distilled_encoder.definition.function
    folder = bed.store.value().parent / "student"
    folder.mkdir()
    step(QUERIES, bed.store.value(), bed.tokens(cut).value(), cut, **vars(TRAINING), folder=folder,
         checkpoints=folder / "kept")
    log = training_log.definition.function(folder)
    losses = curve(log, "eval_loss")
    assert losses.index.tolist() == [0, 10, 20, 30]  # the first before any step
    assert losses.iloc[-1] < losses.iloc[1] < losses.iloc[0]
    assert (log["texts"], log["evaluation_texts"], log["steps"]) == (38, 4, 30)  # forty passages, two queries
    assert log["trained_parameters"] < log["parameters"] < log["teacher_parameters"]
    before, after = build(cut).state_dict(), load_file(folder / "model.safetensors")
    kept = {name for name in after if torch.equal(after[name], before[name])}
    assert kept == {name for name in after if name.startswith("embeddings.")}
    rows = [[2, 5, 6, 3], [2, 7, 3]]
    vectors = {name: Encoder(layers, model, "mean", False, False).vectors(rows, 0)
               for name, layers, model in (("whole", whole, None), ("cut", cut, None), ("taught", cut, folder))}
    errors = {name: np.square(vectors[name] - vectors["whole"]).mean() for name in ("cut", "taught")}
    assert errors["taught"] < errors["cut"]


def test_one_text_is_not_enough(monkeypatch, tmp_path):
    monkeypatch.setattr(training, "WholeTexts", lambda tokens, store: type("Texts", (list,), {"at": list.__getitem__})())
    monkeypatch.setattr(training, "query_ids", lambda tokenizer, texts, limit: [[5]])
    backbone = SimpleNamespace(tokenizer=lambda: SimpleNamespace(cls_token_id=1, sep_token_id=2))
    with pytest.raises(ValueError, match="1 texts: at least two are wanted"):
        distilled_encoder.definition.function(QUERIES, tmp_path, tmp_path, backbone, **vars(TRAINING), folder=tmp_path,
                                              checkpoints=tmp_path)


def test_a_student_reads_all_training_queries_and_the_texts_of_their_articles():
    student = DistilledEncoder("packaged:0,2", "almanac", "passage")
    bed, given = SplitTestbed("almanac", "passage", ("train",)), student.model.arguments
    assert (given["queries"].key, given["store"].key) == (bed.query_step.key, bed.store.key)
    assert "qrels" not in given
    assert (given["steps"], given["batch_size"], given["learning_rate"]) == (700, 32, 5e-4)


def test_a_bi_encoder_of_the_student_starts_as_it_and_is_it_without_a_training():
    student = DistilledEncoder()
    made = student.of(BiEncoder(pooling="max"))
    assert (made.backbone, made.pooling) == (student.backbone, "max")
    assert made.zero_shot().model.key == student.model.key
    assert made.model.arguments["start"].key == student.model.key
    assert made.model.key != replace(made, start=None).model.key
