"""PARADE by hand: from the states of windows to a document, and what is learned."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from helpers.data.collection import open_collection
from helpers.data.texts import split_of, splits_of
from helpers.reranking import parade
from helpers.reranking.aggregation import aggregate
from helpers.reranking.parade import DOCUMENTS, HEAD, STATES, Documents, group_run
from helpers.systems.recipe import Parade, recipe
from helpers.systems.testbed import Testbed

HEAD_OF_TWO = {"weight": np.array([[2.0, -1.0]], np.float32), "bias": np.array([0.5], np.float32)}


@pytest.fixture
def kept(tmp_path):
    """Two documents of a query, of two windows and of one."""
    np.save(tmp_path / STATES, np.array([[1, 4], [3, 2], [0, 1]], np.float16))
    pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "windows": [2, 1]}).to_csv(tmp_path / DOCUMENTS, index=False)
    np.savez(tmp_path / HEAD, **HEAD_OF_TWO)
    return tmp_path


def test_documents_are_padded_and_masked(kept):
    states, mask = Documents(kept)[np.array([0, 1])]
    assert states.tolist() == [[[1, 4], [3, 2]], [[0, 1], [0, 0]]] and mask.tolist() == [[True, True], [True, False]]


@pytest.mark.parametrize(("how", "scores"), [  # 2 x first - second + 0.5 of a state; windows score -1.5, 4.5 and -0.5
    ("avg", [2 * 2 - 3 + 0.5, -0.5]), ("max", [2 * 3 - 4 + 0.5, -0.5]), ("attn", [1.5, -0.5]),  # attention begins as a mean
    ("firstp", [-1.5, -0.5]), ("maxp", [4.5, -0.5])])
def test_every_aggregation_by_hand(how, scores, kept):
    assert parade.network(how, HEAD_OF_TWO)(*Documents(kept)[np.array([0, 1])]).tolist() == pytest.approx(scores)


def test_attention_weighs_windows_by_a_softmax():
    states, mask = torch.tensor([[[1.0, 4.0], [3.0, 2.0], [9.0, 9.0]]]), torch.tensor([[True, True, False]])
    weights = np.exp([1.0, 3.0]) / np.exp([1.0, 3.0]).sum()
    expected = weights @ np.array([[1.0, 4.0], [3.0, 2.0]])
    assert parade.attended(states, mask, torch.tensor([1.0, 0.0]))[0].tolist() == pytest.approx(expected.tolist())


def test_the_transformer_does_not_see_what_is_padded():
    head = {"weight": np.arange(24, dtype=np.float32)[None], "bias": np.zeros(1, np.float32)}
    torch.manual_seed(1)
    network, states = parade.network("transformer", head).eval(), torch.randn(1, 3, 24)
    other = torch.cat([states[:, :2], torch.randn(1, 1, 24)], 1)
    mask = torch.tensor([[True, True, False]])
    assert torch.allclose(network(states, mask), network(other, mask), atol=1e-5)
    assert not torch.allclose(network(states, mask), network(states, torch.ones_like(mask)), atol=1e-5)


def test_groups_become_runs():
    groups = pd.DataFrame({"query_id": ["q1"] * 2, "window_id": ["a#0", "b#0"], "label": [1, 0]})
    assert group_run.definition.function(groups).to_numpy().tolist() == [["q1", "a", 0.0], ["q1", "b", -1.0]]


@pytest.mark.parametrize(("epochs", "best"), [(0, 0), (8, 8)])
def test_the_weights_of_the_lowest_held_out_loss_are_kept(epochs, best, tmp_path):
    random, queries = np.random.default_rng(1), [f"q{n}" for n in range(40)]
    states = random.normal(size=(80, 2)) + np.array([[3.0, 0.0], [-3.0, 0.0]] * 40)  # the first of each pair is relevant
    np.save(tmp_path / STATES, states.astype(np.float16))
    frame = pd.DataFrame({"query_id": np.repeat(queries, 2), "doc_id": ["a", "b"] * 40})
    frame.assign(windows=1).to_csv(tmp_path / DOCUMENTS, index=False)
    np.savez(tmp_path / HEAD, weight=np.zeros((1, 2), np.float32), bias=np.zeros(1, np.float32))
    (tmp_path / "model").mkdir()
    parade.parade.definition.function(tmp_path, frame.assign(score=0.0), "max", {"bce": 1.0}, 0.05, epochs, 10, 1,
                                      folder=tmp_path / "model", checkpoints=tmp_path / "none")
    log = parade.parade_log.definition.function(tmp_path / "model")["log"]
    assert log[0]["eval_loss"] == pytest.approx(np.log(2)) and min(log, key=lambda line: line["eval_loss"])["epoch"] == best
    run = parade.parade_run.definition.function(tmp_path, tmp_path / "model")
    won = (run.groupby("query_id").head(1)["doc_id"] == "a").mean()
    assert won > 0.95 if epochs else set(run["score"]) == {0.0}


@pytest.mark.slow
def test_states_are_of_train_articles_and_the_best_window_scores_as_the_reader_does(store):
    reader = recipe("almanac/16", "document", "packaged:0", 40, 24, size=4)
    model = Parade(reader=reader, how="maxp", epochs=0, held_out=4)
    splits = splits_of(open_collection("almanac/16"))
    assert {split_of(doc_id, splits) for doc_id in model.groups.value()["doc_id"]} == {"train"}
    bed = Testbed("almanac/16", "document", queries=3)
    run = bed.bm25(1.2, 0.75, 4)
    own = model.run(bed, run, 4).value().set_index(["query_id", "doc_id"])["score"]
    known = aggregate(reader.start.scores(bed, run, 4).value(), "max").set_index(["query_id", "doc_id"])["score"]
    assert np.allclose(own, known[own.index], atol=0.02)  # states are kept in half precision
    assert json.loads((model.model.value() / parade.LOG).read_text())["how"] == "maxp"


@pytest.mark.slow
def test_both_learn_on_from_the_aggregation_over_the_states_as_they_were(store):
    reader = replace(recipe("almanac/16", "document", "packaged:0", 40, 24, size=4, learning_rate=1e-3), batch_size=2)
    frozen = Parade(reader=reader, how="attn", epochs=2, learning_rate=1e-2, held_out=4)
    whole, bed = replace(frozen, whole=6), Testbed("almanac/16", "document", queries=3)
    before, after = (model.log.value()["log"] for model in (frozen, whole))
    assert after[0]["eval_loss"] == pytest.approx(min(line["eval_loss"] for line in before), abs=0.01)
    assert (after[0]["epoch"], after[-1]["step"], whole.log.value()["groups"]) == (0, 3, 6)
    assert after[-1]["eval_loss"] != pytest.approx(after[0]["eval_loss"], abs=1e-3)
    old, new = (load_file(folder.value() / "model.safetensors") for folder in (reader.start.model, whole.both))
    moved = {name for name in old if not torch.equal(old[name], new[name])}
    assert any("attention" in name for name in moved) and not any("word_embeddings" in name for name in moved)
    run = bed.bm25(1.2, 0.75, 4)
    one, other = (model.run(bed, run, 4).value().set_index(["query_id", "doc_id"])["score"] for model in (frozen, whole))
    assert not np.allclose(one, other[one.index], atol=1e-3)
