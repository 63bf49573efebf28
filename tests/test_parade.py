"""PARADE by hand: from the states of windows to a document, and what is learned. Pairs of texts: the pairwise stage, its
candidates, its cost."""

import json
from dataclasses import replace
from math import log

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from helpers.data.collection import open_collection
from helpers.data.collection_base import Text
from helpers.data.texts import split_of, splits_of
from helpers.data.windows import doc_of, pair_ids
from helpers.encoders import bi_encoder as module
from helpers.reranking import parade
from helpers.reranking.aggregation import aggregate
from helpers.reranking.duo import DUOS, compared, duo_groups, duo_scores, in_pairs, order_by
from helpers.reranking.losses import total
from helpers.reranking.parade import DOCUMENTS, HEAD, STATES, Documents, group_run
from helpers.systems.recipe import PairwiseReranker, Parade, duobert, recipe
from helpers.systems.testbed import Testbed
from toys import qrels_of, run_of

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
    # the vector in front is read, which sees the windows in no order; the inner layer is four times as wide, as BERT's
    assert torch.allclose(network(states, torch.ones_like(mask)), network(states[:, [2, 0, 1]], torch.ones_like(mask)), atol=1e-5)
    assert network.layers.layers[0].linear1.out_features == 4 * 24
    assert torch.allclose(network(states, mask), network.train()(states, mask), atol=1e-5)  # no dropout


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


N = np.nan
PAIRS = np.array([[N, 0.9, 0.6], [0.2, N, 0.5], [0.4, 0.7, N]])  # 0.5 is no win; p_ij and p_ji need not add up to 1
BY_HAND = {"sum": [1.5, 0.7, 1.1], "sample": [1.5, 0.7, 1.1], "binary": [2, 0, 1], "min": [0.6, 0.2, 0.4], "max": [0.9, 0.5, 0.7]}


@pytest.mark.parametrize("how", DUOS)
def test_aggregations_by_hand(how):
    assert duo_scores(PAIRS, how) == pytest.approx(BY_HAND[how])


def test_what_was_not_compared_does_not_count():
    assert duo_scores(np.array([[N, 0.9, N], [0.2, N, N], [N, N, N]]), "sum") == pytest.approx([0.9, 0.2, 0])


def test_all_ordered_pairs_or_some_drawn_without_replacement():
    assert compared(3, "sum", 1) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    drawn = compared(10, "sample", 4)
    assert [sum(i == document for i, _ in drawn) for document in range(10)] == [4] * 10
    assert len(set(drawn)) == 40 and all(i != j for i, j in drawn)
    assert compared(10, "sample", 4) == drawn != compared(10, "sample", 4, seed=2)
    assert compared(1, "sum", 1) == [] == compared(0, "sum", 1)


# ---- what it reads and learns ----

def test_an_input_holds_the_query_and_both_texts_cut_at_the_same_length(tokenizer):
    start, end = tokenizer.cls_token_id, tokenizer.sep_token_id
    assert pair_ids(tokenizer, [5, 6], 11, np.array([7, 8, 9]), np.array([1])) == (
        [start, 5, 6, end, 7, 8, end, 1, end], [0, 0, 0, 0, 1, 1, 1, 1, 1])


def test_a_group_pairs_the_relevant_text_with_each_other_in_both_orders():
    groups = pd.DataFrame({"query_id": ["q1"] * 3, "window_id": ["a#0", "b#0", "c#0"], "label": [1, 0, 0], "teacher": 9.0})
    assert duo_groups.definition.function(groups).to_numpy().tolist() == [
        ["q1", "a#0", "b#0", 1, 0.0], ["q1", "a#0", "c#0", 1, 0.0], ["q1", "b#0", "a#0", 0, 0.0], ["q1", "c#0", "a#0", 0, 0.0]]


def test_the_others_meet_each_other_with_the_teachers_probability():
    groups = pd.DataFrame({"query_id": ["q1"] * 3, "window_id": ["a#0", "b#0", "c#0"], "label": [1, 0, 0],
                           "teacher": [0.9, 0.5 * log(3), 0.0]})
    pairs = duo_groups.definition.function(groups, 0.5)
    assert pairs[["window_id", "other_id"]].to_numpy().tolist() == [
        ["a#0", "b#0"], ["a#0", "c#0"], ["b#0", "a#0"], ["c#0", "a#0"], ["b#0", "c#0"], ["c#0", "b#0"]]
    assert pairs["teacher"].tolist() == pytest.approx([1, 1, 0, 0, 0.75, 0.25])
    scores = torch.tensor([[log(3), 0.0, -log(3), 0.0, 0.0, log(3)]])  # p: .75, .5, .25, .5, .5, .75
    expected = -(log(0.75) + log(0.5) + log(0.75) + log(0.5) + log(0.5) + 0.25 * log(0.75) + 0.75 * log(0.25)) / 6
    targets = torch.tensor([pairs["teacher"]], dtype=torch.float32)
    assert float(total({"soft_bce": 1.0}, scores, targets)) == pytest.approx(expected)


def test_the_authors_kind_of_pairs_holds_a_relevant_text_and_all_pairs_have_probabilities_as_targets():
    model, own = (duobert(recipe("almanac/16", warm_up=0), among_others=others) for others in (True, False))
    assert (model.temperature, model.losses, own.losses) == (1.0, {"soft_bce": 1.0}, {"duo": 1.0})
    assert model.groups.key != own.groups.key


def test_the_first_are_reordered_and_a_tie_keeps_the_order_before():
    assert order_by([1.0, 2.0, 1.0], 4)[0].tolist() == [1, 0, 2, 3]
    _, scores = order_by([-3.0, -2.0], 4)
    assert scores.tolist() == [-2.0, -3.0, -4.0, -5.0]


def test_a_run_in_pairs():
    pairs = pd.DataFrame([("q1", "abc"[i], "abc"[j], PAIRS[i, j]) for i in range(3) for j in range(3) if i != j],
                         columns=["query_id", "doc_id", "other_id", "probability"])
    run = run_of(q1="bcad", q2="x")
    pairs = pd.concat([pairs, pairs.assign(query_id="q2")])  # a query with one document has no pairs
    ordered = in_pairs.definition.function
    ranked = ordered(pairs, run, "sum", 3, 1)
    assert ranked["doc_id"].tolist() == ["a", "c", "b", "d", "x"]
    assert ordered(pairs, run, "sum", 2, 1)["doc_id"].tolist() == ["c", "b", "a", "d", "x"]  # of the first two alone
    ties = ordered(pairs.assign(probability=0.2), run, "binary", 3, 1)
    assert ties["doc_id"].tolist() == ["b", "c", "a", "d", "x"] and ties["score"].is_unique is False
    assert (ties[ties["query_id"] == "q1"]["score"].diff().dropna() < 0).all()
    with pytest.raises(ValueError, match="query 'q1': not all"):
        ordered(pairs[1:], run, "sum", 3, 1)


@pytest.mark.slow
def test_a_model_learns_from_train_articles_and_scores_all_ordered_pairs(store):
    duo = PairwiseReranker(collection="almanac/16", backbone="packaged:0", queries=24, max_length=48, evaluations=1)
    groups = duo.groups.value()
    splits = splits_of(open_collection("almanac/16"))
    assert {split_of(doc_of(name), splits) for column in ("window_id", "other_id") for name in groups[column]} == {"train"}
    assert groups.groupby("query_id")["label"].agg(list).map(tuple).unique().tolist() == [(1, 1, 1, 0, 0, 0)]
    bed = Testbed("almanac/16", "passage", queries=3)
    pairs = duo.probabilities(bed, bed.bm25(1.2, 0.75, 10), 3).value()
    assert pairs.groupby("query_id").size().tolist() == [6, 6, 6]
    assert pairs["probability"].between(0, 1).all() and pairs["probability"].nunique() > 2


# ---- its candidates ----

RUN = run_of(q1="abc", q2="b")
QRELS = qrels_of(q1={"b": 1, "x": 1, "c": 0, "y": 0, "gone": 1}, q2={"z": 2}, q3="x")


@pytest.mark.parametrize("candidates, min_relevance, expected", [
    (2, 1, {"q1": "abx", "q2": "bz"}),  # missed relevant passages follow the candidates
    (2, 2, {"q1": "ab", "q2": "bz"}),  # only the level counts
    (3, 1, {"q1": "abcx", "q2": "bz"}),  # no candidate stands twice, and a query without candidates (q3) stays out
    (1, 1, {"q1": "abx", "q2": "bz"})])  # a relevant passage beyond the cut comes back
def test_candidates_and_after_them_what_was_missed(candidates, min_relevance, expected, monkeypatch):
    monkeypatch.setattr(module, "Texts", lambda store: {i: Text(i, "", "") for i in "abcxyz"})
    result = module.candidates_with_positives.definition.function(RUN, QRELS, "store", candidates, min_relevance)
    assert list(map(tuple, result[["query_id", "doc_id"]].to_numpy())) == [
        (query, doc) for query, docs in expected.items() for doc in docs]
    assert result.groupby("query_id")["score"].apply(lambda scores: scores.is_monotonic_decreasing).all()
