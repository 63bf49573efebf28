import math
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.reranking.distillation_trainer import AttentionScores, DistillationTrainer
from helpers.reranking.losses import attention, hidden, matched_layers, projection, soft
from helpers.systems.recipe import Student
from helpers.systems.rerankers import ListwiseReranker, WarmUp
from toys import bert


def sides(**given):
    """What the student and the teacher give for a batch."""
    return [SimpleNamespace(**{name: torch.as_tensor(side)}) for name, both in given.items() for side in both]


def test_a_soft_loss_by_hand():
    # teacher ln 3: probability 3/4; student 0: probability 1/2, so the loss is ln 2 whatever the teacher says
    assert soft(*sides(logits=([0.0], [math.log(3)])), 1.0).item() == pytest.approx(math.log(2))
    # student ln 3 too: the entropy of (3/4, 1/4); at twice the temperature the same of twice the logits
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert soft(*sides(logits=[[math.log(3)]] * 2), 1.0).item() == pytest.approx(entropy)
    assert soft(*sides(logits=[[2 * math.log(3)]] * 2), 2.0).item() == pytest.approx(entropy)


def test_squared_errors_count_real_tokens_and_sum_layers():
    random = np.random.default_rng(4)
    student, teacher = random.normal(size=(2, 3, 2, 5, 4))  # side, layer, batch, tokens, dimensions
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], dtype=bool)
    expected = sum(((student[n] - teacher[n])[mask] ** 2).mean() for n in range(3))
    found = hidden(*sides(hidden_states=(student, teacher)), torch.tensor(mask), (0, 1), torch.nn.Identity())
    assert found.item() == pytest.approx(expected, rel=1e-5)


def test_the_states_of_a_narrower_student_are_widened_and_no_others():
    student, teacher = torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 2, 3)
    narrow, same, wider = (SimpleNamespace(config=SimpleNamespace(hidden_size=size)) for size in (2, 2, 3))
    assert list(projection(narrow, same).parameters()) == []
    wide = projection(narrow, wider)
    assert wide.weight.shape == (3, 2)
    torch.nn.init.constant_(wide.weight, 2.0)  # 1 + 1, twice
    assert hidden(*sides(hidden_states=(student, teacher)), torch.ones(1, 2, dtype=torch.bool), (), wide).item() == 16.0


def test_the_attention_loss_counts_pairs_of_real_tokens():
    random = np.random.default_rng(5)
    student, teacher = random.normal(size=(2, 2, 2, 3, 4, 4))  # side, layer, batch, heads, tokens, tokens
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], dtype=bool)
    scores = {name: SimpleNamespace(layers=partial(torch.tensor, side)) for name, side in
              (("student", student), ("teacher", teacher))}
    both = np.broadcast_to((mask[:, :, None] & mask[:, None])[:, None], student[0].shape)
    expected = sum(((student[n] - teacher[n])[both] ** 2).mean() for n in range(2))
    assert attention(torch.tensor(mask), (0, 1), scores).item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("student, teacher, expected", [(3, 6, [1, 3, 5]), (2, 6, [2, 5]), (6, 6, [0, 1, 2, 3, 4, 5]),
                                                        (4, 6, [0, 2, 3, 5]), (1, 12, [11])])
def test_layers_are_matched_evenly_and_the_last_with_the_last(student, teacher, expected):
    assert matched_layers(student, teacher) == expected


@pytest.mark.slow
def test_attention_scores_are_those_before_the_softmax():
    from transformers import AutoModel

    model = backbone.resolve("packaged:0,1").build(AutoModel, attn_implementation="eager").eval()
    scores = AttentionScores(model)
    with torch.no_grad():
        out = model(input_ids=torch.tensor([[101, 2054, 2003, 102]]), output_attentions=True)
    for before, after in zip(scores.layers(), out.attentions, strict=True):
        assert before.shape == (1, 12, 4, 4)
        assert torch.allclose(before.softmax(-1), after, atol=1e-5)


@pytest.fixture
def teacher(tiny):
    return replace(tiny, backbone="packaged:0,1")


def test_a_student_learns_from_its_teacher_and_logs_each_part(teacher, store):
    student = Student(teacher, layers=(0,))
    log = student.log.value()
    parts = [line for line in log["log"] if "loss" in line]
    assert parts
    for line in parts:
        weighted = sum(getattr(student, name) * line[name] for name in ("hard", "soft", "hidden", "attention"))
        assert line["loss"] == pytest.approx(weighted, rel=1e-2)
    assert log["parameters"] < teacher.log.value()["parameters"]
    assert (student.model.value() / "model.safetensors").exists()


def test_a_student_starts_as_its_teachers_layers(teacher, store):
    still = replace(teacher, learning_rate=1e-12)  # bf16 weights would not move either way
    student = load_file(Student(still, layers=(1,), learning_rate=1e-12).model.value() / "model.safetensors")
    whole = load_file(still.model.value() / "model.safetensors")
    name = "attention.self.query.weight"
    assert torch.allclose(student[f"bert.encoder.layer.0.{name}"], whole[f"bert.encoder.layer.1.{name}"].float(), atol=1e-6)
    assert torch.allclose(student["classifier.weight"], whole["classifier.weight"].float(), atol=1e-6)


def test_a_student_may_start_as_another_model_with_an_order_of_its_own(teacher, store):
    start = replace(teacher, seed=3)
    student = Student(teacher, start=start, learning_rate=1e-12, seed=2)
    kept, its = (load_file(model.value() / "model.safetensors") for model in (student.model, start.model))
    name = "bert.encoder.layer.1.attention.self.query.weight"
    assert torch.allclose(kept[name], its[name].float(), atol=1e-6)
    assert not any("widen" in name for name in kept)
    assert student.model.key != replace(student, seed=None).model.key != Student(teacher, learning_rate=1e-12).model.key


@pytest.mark.slow
def test_what_widens_a_narrower_student_learns_with_it(tmp_path):
    from transformers import TrainingArguments

    student, teacher = (bert(True, num_hidden_layers=1, hidden_size=4 * heads, num_attention_heads=heads) for heads in (2, 3))
    pairs = [{"input_ids": [2, n, 3], "attention_mask": [1, 1, 1], "labels": float(n % 2)} for n in range(4, 12)]
    arguments = TrainingArguments(str(tmp_path), max_steps=8, per_device_train_batch_size=4, learning_rate=0.01, use_cpu=True,
                                  report_to=[], save_strategy="no", disable_tqdm=True, bf16=False)
    trainer = DistillationTrainer(model=student, args=arguments, train_dataset=pairs)
    trainer.teach(teacher, {"hidden": 1.0}, 1.0)
    before, size = student.widen.weight.detach().clone(), student.widen.weight.shape
    trainer.train()
    assert size == (12, 8)
    assert not torch.equal(student.widen.weight, before)
    with pytest.raises(BadInput, match="a student of 2 heads cannot learn the attention of 3"):
        trainer.teach(teacher, {"hidden": 1.0, "attention": 1.0}, 1.0)


def test_the_hard_loss_is_the_teachers_own_on_the_same_held_out_queries(teacher, store):
    still = replace(teacher, learning_rate=1e-12)
    losses = [model.log.value()["log"][-1]["eval_loss"] for model in (still, Student(still, layers=(0, 1), learning_rate=1e-12))]
    assert losses[1] == pytest.approx(losses[0], abs=2e-3)  # binary cross-entropy; a squared error would be a third of it


def test_an_ablation_leaves_out_a_loss_and_the_control_the_teacher():
    student = Student(ListwiseReranker())
    weights = [(own.hard, own.soft, own.hidden, own.attention) for own in (
        student, student.without("soft"), student.without("hidden", "hard"), student.judgments_alone())]
    assert weights == [(1, 1, 1, 0.02), (1, 0, 1, 0.02), (0, 1, 0, 0.02), (1, 0, 0, 0)]


def test_answers_on_unjudged_pairs_and_their_control_differ_in_the_teacher_alone():
    start = ListwiseReranker(start=WarmUp()).on("packaged:0,1,2").start
    scored = start.further(7_000, learning_rate=5e-5)
    answered = replace(scored, reranker=ListwiseReranker(), temperature=1.0)
    assert [own.held_out_seed for own in answered.over_seeds([1, 2])] == [None, 1]
    assert (scored.start, scored.losses, scored.temperature) == (start, {"kl": 1.0}, 0.05)
    assert answered.bed.query_step.key == scored.bed.query_step.key != start.bed.query_step.key
