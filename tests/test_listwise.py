"""Groups, their losses, and a training that goes on where it was stopped."""

import json
from dataclasses import replace
from math import log

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from helpers.data.collection_base import Text
from helpers.data.windows import WHOLE
from helpers.networks import backbone
from helpers.reranking import groups, listwise
from helpers.reranking.groups import answered_groups, groups_compared, groups_in_common, labelled_groups, ranked_groups
from helpers.reranking.listwise import early_stopping
from helpers.reranking.losses import total
from helpers.systems.recipe import recipe, with_general_text
from helpers.systems.rerankers import ListwiseReranker
from helpers.systems.testbed import Testbed
from toys import qrels_of, run_of

TEXT = Text("d1", "Bread", "Why it turns brown. Sugars and proteins react in the heat, it is said. Steam helps.")


# ---- pseudo-queries ----

def test_a_text_gives_its_title_with_its_heading_and_spans_of_long_sentences():
    assert groups.heading(TEXT) == "Bread Why it turns brown"
    spans = groups.spans_of(TEXT, 20, np.random.default_rng(1))
    assert all(span in "sugars and proteins react in the heat, it is said" for span in spans)
    assert {len(span.split()) for span in spans} <= set(range(4, 11))
    assert groups.spans_of(Text("d2", "", "Iron rusts. Oil helps."), 2, np.random.default_rng(1)) == []
    four = Text("d3", "", "Rust. Wet iron rusts fast.")
    assert groups.spans_of(four, 9, np.random.default_rng(1)) == ["wet iron rusts fast"] * 9


# ---- groups ----

def test_stretches_of_sixty_places():
    draws = np.array([groups.stretched(60, 4, np.random.default_rng(n)) for n in range(200)])
    assert draws.min(axis=0).tolist() == [0, 2, 7, 21]
    assert [set(draws[:, 0]), set(draws[:, 1])] == [{0, 1}, {2, 3, 4, 5, 6}]
    assert groups.stretched(3, 3, np.random.default_rng(1)) == [0, 1, 2]


def test_a_query_with_too_few_texts_gives_no_group():
    frame = groups.teacher_groups.definition.function(run_of(q1="abc", q2="ab"), 3, 1)
    assert frame.to_numpy().tolist() == [["q1", "a#0", 0, 0.0], ["q1", "b#0", 0, -1.0], ["q1", "c#0", 0, -2.0]]


def test_another_model_scores_groups_as_a_run_and_its_answers_take_the_teachers_place():
    groups = groups_of(q2=["a#0", "b#0"], q1=["c#0", "a#0"]).assign(label=0, teacher=[0.5, 0.75, 0.25, 0.125])
    run = ranked_groups.definition.function(groups)
    assert run.to_numpy().tolist() == [["q2", "b", 0.75], ["q2", "a", 0.5], ["q1", "c", 0.25], ["q1", "a", 0.125]]
    answers = pd.DataFrame([("q1", "a#0", 4.0), ("q2", "a#0", -1.0), ("q2", "b#0", 2.0), ("q1", "c#0", 3.0)], columns=run.columns)
    answered = answered_groups.definition.function(groups, answers)
    assert answered.drop(columns="teacher").equals(groups.drop(columns="teacher"))
    assert answered["teacher"].tolist() == [-1.0, 2.0, 3.0, 4.0]
    with pytest.raises(KeyError):  # a pair without an answer
        answered_groups.definition.function(groups, answers.iloc[1:])


def test_negatives_are_taken_from_the_lists_in_turns_and_once():
    assert sorted(groups.mixed([[1, 2], [2, 1]], 5, np.random.default_rng(1))) == [1, 2]
    drawn = groups.mixed([range(10), range(10, 20)], 4, np.random.default_rng(1))
    assert sorted(number // 10 for number in drawn) == [0, 0, 1, 1]


def labelled(folder, words, runs, size, seed=1, qrels=None, embeddings=()):
    """Groups of the folder's train queries, of the candidates in runs."""
    bed = Testbed(str(folder), splits=("train",), words=words, overlap=0)
    return labelled_groups.definition.function(bed.query_frame, bed.qrels if qrels is None else qrels, 1, runs, bed.store.value(),
                                               bed.tokens(backbone.resolve("packaged")).value(), size, 40, seed, *embeddings)


@pytest.mark.parametrize("taught, ids", [(True, {"d1#0", "d3#0", "d4#0"}), (False, {"d1#0", "d2#0", "d3#0", "d4#0"})])
def test_what_the_teacher_puts_above_the_relevant_text_is_no_negative(taught, ids, folder, store, tmp_path):
    np.save(tmp_path / "passages.npy", np.array([[0.5], [0.9], [0.1], [0.2]], dtype=np.float32))  # d1 is relevant, d2 above it
    np.save(tmp_path / "queries.npy", np.ones((3, 1), dtype=np.float32))
    run = run_of(q1=["d1", "d2", "d3", "d4"])
    frame = labelled(folder, WHOLE, [run], len(ids), embeddings=[tmp_path, tmp_path] if taught else ())
    assert set(frame["window_id"]) == ids
    assert frame.iloc[0].tolist() == ["q1", "d1#0", 1, 0.5 if taught else 0.0]
    assert frame["label"].sum() == 1


def test_what_the_teacher_scores_as_high_as_the_relevant_text_may_be_a_negative(folder, store, tmp_path):
    np.save(tmp_path / "passages.npy", np.array([[0.5], [0.5], [0.1], [0.2]], dtype=np.float32))
    np.save(tmp_path / "queries.npy", np.ones((3, 1), dtype=np.float32))
    frame = labelled(folder, WHOLE, [run_of(q1=["d1", "d2"])], 2, embeddings=[tmp_path, tmp_path])
    assert frame["window_id"].tolist() == ["d1#0", "d2#0"]


def test_of_a_text_with_several_windows_any_may_be_drawn(folder, store):
    drawn = {labelled(folder, 6, [run_of(q1=["d1", "d2"])], 2, seed)["window_id"][0] for seed in range(20)}
    assert drawn > {"d1#0", "d1#1"}


def test_the_bi_encoder_has_a_part_where_negatives_or_a_loss_need_it():
    study = ListwiseReranker(losses={"bce": 1.0}, negatives="bm25")
    assert not study.taught
    assert replace(study, losses={"kl": 1.0}).taught
    assert replace(study, negatives="both").taught


def groups_of(**texts):
    """Groups by query, windows of texts, the relevant one first."""
    rows = [(query, window, int(place == 0), 0.0) for query, own in texts.items() for place, window in enumerate(own)]
    return pd.DataFrame(rows, columns=["query_id", "window_id", "label", "teacher"])


def test_general_text_comes_between_the_base_and_the_labels():
    model = recipe(queries=40, warm_up=100)
    one = with_general_text(model, "dictionaries", 30)
    assert (one.start.collection, one.start.first, one.start.start) == ("dictionaries", 30, model.start)
    assert replace(one, start=model.start) == model


def test_groups_are_kept_of_the_queries_that_others_have_and_compared_by_their_texts():
    first = groups_of(q1=["a#0", "b#0"], q2=["a#0", "c#0"], q3=["d#0", "b#0"])
    second = groups_of(q3=["d#1", "b#2"], q1=["b#0", "c#0"])
    assert groups_in_common.definition.function(first, second).equals(groups_of(q1=["a#0", "b#0"], q3=["d#0", "b#0"]))
    rows = groups_compared.definition.function(first, second).to_numpy().tolist()
    assert rows == [["queries", 3, 2, 2], ["relevant texts", 3, 2, 1], ["negatives", 3, 2, 1]]  # d for q3; b for q3, not b for q1


@pytest.mark.parametrize("negatives", ["bm25", "dense", "random"])
def test_beside_another_only_the_source_of_negatives_differs(negatives, folder):
    one = ListwiseReranker(collection=str(folder), unit="document", losses={"bce": 1.0}, negatives=negatives)
    other = replace(one, negatives="dense", candidates=2)
    both = replace(one, beside=other), replace(other, beside=one)
    assert [model.groups.name for model in both] == ["groups_in_common"] * 2
    (mine, theirs), again = (model.groups.arguments.values() for model in both)
    assert [step.key for step in again] == [theirs.key, mine.key]
    assert mine.arguments["passages"].key == theirs.arguments["passages"].key  # the same teacher leaves texts out of both
    assert one.groups.key == mine.key or negatives != "dense"


def test_another_source_of_negatives_draws_the_same_relevant_texts(folder, store):
    qrels = qrels_of(**dict.fromkeys(("q1", "q2", "q3"), {"d1": 1, "d2": 1}))
    runs = [run_of(q1=["d3"], q2=["d4"], q3=["d3", "d4"]), run_of(q1=["d4", "d3"], q2=["d4", "d3"], q3=["d4"])]
    for seed in range(5):
        first, second = (labelled(folder, WHOLE, [run], 2, seed, qrels) for run in runs)
        assert groups_compared.definition.function(first, second)["both"].tolist()[:2] == [3, 3]


# ---- losses ----

@pytest.mark.parametrize("weights, scores, teacher, value", [
    ({"lce": 1}, [[0, 0], [log(3), 0]], [[0, 0], [0, 0]], (log(2) + log(4 / 3)) / 2),
    ({"bce": 1}, [[0, 0, 0]], [[0, 0, 0]], log(2)),
    ({"bce": 1}, [[log(3), -log(3)]], [[0, 0]], log(4 / 3)),
    ({"kl": 1}, [[log(3), 0]], [[0, 0]], 0.5 * log(2 / 3) + 0.5 * log(2)),
    ({"kl": 1}, [[5, 3]], [[2, 0]], 0),
    ({"margin_mse": 1}, [[2, 0, 1]], [[1, 0, 0]], 0.5),
    ({"centred_mse": 1}, [[3, 1]], [[10, 10]], 1),
    ({"duo": 1}, [[log(3), -log(3)], [0, -log(3)]], [[0, 0], [0, 0]], -(3 * log(0.75) + log(0.5)) / 4),  # both orders
    ({"lce": 2, "centred_mse": 0.5}, [[0, 0]], [[1, -1]], 2 * log(2) + 0.5)])
def test_losses_by_hand(weights, scores, teacher, value):
    student, target = (torch.tensor(rows, dtype=torch.float32) for rows in (scores, teacher))
    assert float(total(weights, student, target)) == pytest.approx(value, abs=1e-6)


# ---- training ----

@pytest.fixture
def training(trained):
    settings = {"losses": {"lce": 1.0, "kl": 1.0}, **ListwiseReranker(
        batch_size=2, epochs=1, evaluation_queries=1, evaluations=2, learning_rate=1e-3).settings(listwise.ListwiseTraining)}
    return lambda name, kept, **changes: trained(listwise.listwise_cross_encoder, name, kept, **settings | changes)


@pytest.mark.slow
def test_the_loss_falls_and_word_embeddings_stay(training):
    log_ = json.loads((training("model", "none", temperature=1e9) / "log.json").read_text())
    assert (log_["steps"], log_["pairs"], log_["positives"], log_["evaluation_pairs"]) == (5, 22, 11, 2)
    losses = [line["eval_loss"] for line in log_["log"]]
    assert losses[-1] < losses[0]
    assert losses[0] == pytest.approx(log(2), abs=0.1), "a hot teacher favours no text, so kl adds nothing to a new head's lce"
    assert log_["parameters"] - log_["trained_parameters"] == 30522 * 384


@pytest.mark.slow
def test_a_model_is_kept_without_the_backbones_embeddings_and_comes_back_with_them(training):
    from transformers import AutoModel, AutoModelForSequenceClassification

    folder = training("lean", "none")
    kept = load_file(folder / "model.safetensors")
    assert "bert.embeddings.word_embeddings.weight" not in kept
    model = backbone.Backbone("", str(folder)).build(AutoModelForSequenceClassification)
    whole = dict(model.named_parameters())
    assert all((whole[name] == weight.float()).all() for name, weight in kept.items())
    original = backbone.resolve("packaged:0").build(AutoModel)
    assert (model.get_input_embeddings().weight == original.get_input_embeddings().weight).all()
    with pytest.raises(ValueError, match="BertModel has no"):
        backbone.Backbone("", str(folder)).build(AutoModel)
    own = backbone.Backbone("", str(training("words", "none", trainable="everything"))).build(AutoModelForSequenceClassification)
    assert not (own.get_input_embeddings().weight == original.get_input_embeddings().weight).all(), "kept where adjusted"


@pytest.mark.slow
@pytest.mark.parametrize("trainable, free", [("head", {"classifier"}), ("pooler", {"classifier", "bert.pooler"})])
def test_under_a_new_head_what_is_frozen_stays_as_it_was(training, trainable, free):
    start = training("start", "a")
    kept, made = (load_file(folder / "model.safetensors")
                  for folder in (start, training("head", "b", start=start, trainable=trainable, new_head=True)))
    moved = {name for name in kept if not (kept[name] == made[name]).all()}
    assert {".".join(name.split(".")[:len(name.split(".")) // 2]) for name in moved} == free
    assert 0.015 < float(made["classifier.weight"].float().std()) < 0.025  # BERT's initial deviation is 0.02


@pytest.mark.slow
@pytest.mark.parametrize("dropout, alike", [(0.5, False), (0.0, True)])
def test_a_frozen_body_keeps_its_dropout_in_training(dropout, alike):
    from transformers import AutoModelForSequenceClassification

    torch.manual_seed(1)
    model = backbone.resolve("packaged:0").build(AutoModelForSequenceClassification, num_labels=1, hidden_dropout_prob=dropout,
                                                 attention_probs_dropout_prob=0.0)
    listwise.adjust(model, "head")
    model.train()
    body, inputs = model.base_model, {"input_ids": torch.tensor([[101, 2054, 2003, 102]])}
    states = [body(**inputs).last_hidden_state for _ in range(2)]
    assert torch.equal(*states) == alike
    assert not states[0].requires_grad  # frozen all the same
    model.eval()
    assert torch.equal(body(**inputs).last_hidden_state, body(**inputs).last_hidden_state)


@pytest.mark.parametrize("queries, wanted, count", [(5, 3, 1), (19, 5, 1), (20, 5, 2), (100, 5, 5)])
def test_a_tenth_of_the_queries_is_held_out_at_most_and_one_at_least(queries, wanted, count):
    held = groups.held_out(queries, wanted, 1)
    assert len(held) == count
    assert set(held) <= set(range(queries)) and held.tolist() == sorted(set(held))


def test_seeds_share_the_queries_that_are_held_out():
    base = ListwiseReranker(seed=3)
    assert [(model.seed, model.held_out_seed) for model in base.over_seeds([3, 4])] == [(3, None), (4, 3)]
    assert base.over_seeds([4])[0].over_seeds([3])[0] == base


@pytest.mark.parametrize("patience, losses, kept, stopped_at", [
    (1, [0.5], [10], None),
    (1, [0.5, 0.4, 0.3], [10, 20, 30], None),
    (1, [0.5, 0.6, 0.1], [10], 20),  # the lower loss comes too late
    (2, [0.5, 0.6, 0.1], [10, 30], None),
    (2, [0.5, 0.6, 0.7, 0.1, 0.8, 0.9], [10], 30),
    (2, [0.5, 0.6, 0.4, 0.6, 0.3], [10, 30, 50], None),  # a lower loss starts the count anew
    (2, [0.5, 0.6, 0.4, 0.6, 0.7, 0.1], [10, 30], 50),
    (1, [0.5, 0.5], [10], 20),  # as low is not lower
])
def test_the_lowest_loss_is_kept_until_patience_runs_out(patience, losses, kept, stopped_at):
    log = [{"step": 10.0 * number, "eval_loss": loss} for number, loss in enumerate([0.1, *losses])]
    best = [early_stopping(log[:number], patience)["best_step"] for number in range(2, len(log) + 1)]
    assert [step for number, step in enumerate(best, start=1) if step == 10 * number] == kept
    assert early_stopping(log, patience) == {"best_step": kept[-1], "stopped_at": stopped_at}


@pytest.fixture
def longer(tiny):
    return replace(tiny, epochs=4, evaluations=4, learning_rate=1e-3)


def weights(folder):
    return load_file(folder / "model.safetensors")


def test_the_training_is_the_same_whether_or_not_it_is_stopped_early(longer):
    whole = replace(longer, patience=1)
    early = replace(whole, stop_early=True)
    assert early.training.key == whole.training.key == whole.model.key
    assert early.log.key == whole.log.key
    assert early.model.key != whole.model.key
    assert whole.training.key != longer.training.key
    assert replace(longer, patience=2).training.key != whole.training.key


@pytest.mark.parametrize("patience", [1, 9])
def test_the_log_says_where_the_loss_is_lowest_and_where_the_training_would_end(longer, store, patience):
    log = replace(longer, patience=patience).log.value()
    losses = {line["step"]: line["eval_loss"] for line in log["log"] if line["step"]}
    seen = {step: loss for step, loss in losses.items() if log["stopped_at"] is None or step <= log["stopped_at"]}
    assert log["best_step"] == min(seen, key=seen.get)
    assert log["stopped_at"] in {None, *losses}
    assert patience < 9 or log["stopped_at"] is None  # fewer evaluations than that
    assert max(losses) == log["steps"]  # the training went on to its end


def test_the_stopped_model_is_a_whole_one_of_other_weights_unless_the_last_was_best(longer, store):
    whole = replace(longer, patience=1)
    early = replace(whole, stop_early=True).model.value()
    assert {file.name for file in early.iterdir()} >= {"model.safetensors", "config.json", "tokenizer.json"}
    log, kept, last = whole.log.value(), weights(early), weights(whole.model.value())
    assert set(kept) == set(last)
    assert torch.equal(kept["classifier.weight"], last["classifier.weight"]) == (log["best_step"] == log["steps"])
