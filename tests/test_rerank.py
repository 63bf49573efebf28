from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from helpers.data.texts import Texts
from helpers.data.windows import WindowTokens, pair_ids, query_ids, windows
from helpers.networks import backbone
from helpers.networks.inference import load_scorer, probabilities
from helpers.reranking.aggregation import aggregate
from helpers.steps import numerics
from helpers.systems.testbed import Testbed

pytestmark = pytest.mark.slow


def test_a_model_learns_and_logs(tiny, store):
    log = tiny.log.value()
    assert (log["steps"], log["pairs"], log["positives"], log["evaluation_pairs"]) == (4, 8, 4, 2)
    assert [line["step"] for line in log["log"] if "eval_loss" in line] == [0, 2, 4]
    folder = tiny.model.value()
    assert {file.name for file in folder.iterdir()} >= {"model.safetensors", "config.json", "tokenizer.json", "log.json"}
    assert not list(folder.rglob("*.bin"))  # safetensors only


def test_the_seed_decides_the_head(tiny, store):
    heads = [load_file(replace(tiny, seed=seed).model.value() / "model.safetensors")["classifier.weight"] for seed in (1, 2)]
    assert not torch.equal(*heads)


def test_scores_do_not_depend_on_the_order_or_the_company(tiny, store):
    model = load_scorer(tiny.model.value())
    random = np.random.default_rng(1)
    inputs = [(random.integers(1000, 5000, size=n).tolist(), [0] * n) for n in random.integers(5, 40, size=60)]
    scores = probabilities(model, inputs)
    backwards = probabilities(model, inputs[::-1])[::-1]
    alone = np.concatenate([probabilities(model, [one]) for one in inputs[:5]])
    assert np.allclose(scores, backwards, atol=1e-4)
    assert np.allclose(scores[:5], alone, atol=5e-3)  # padding changes the rounding of bf16, not the value


def test_bf16_agrees_with_fp32_and_does_not_make_ties(tiny, store, monkeypatch):
    random = np.random.default_rng(2)
    inputs = [(random.integers(1000, 5000, size=30).tolist(), [0] * 30) for _ in range(200)]
    scores = {}
    for kind in ("fp32", "bf16"):
        monkeypatch.setattr(numerics, "dtype", lambda kind=kind: kind)
        scores[kind] = probabilities(load_scorer(tiny.model.value()), inputs)
    assert np.abs(scores["fp32"] - scores["bf16"]).max() < 0.02
    assert len(set(scores["bf16"].tolist())) > 150


def test_every_window_of_the_candidates_is_scored(tiny, folder, store):
    bed = Testbed(str(folder), words=6, overlap=2)
    scores = tiny.scores(bed, bed.bm25(1.2, 0.75, 10), candidates=1).value()
    assert scores[scores["query_id"] == "q1"]["doc_id"].str.split("#").str[0].unique().tolist() == ["d1"]
    assert len(scores[scores["query_id"] == "q1"]) == 4
    assert scores["score"].between(0, 1).all()
    assert aggregate(scores, "mean")["doc_id"].tolist() == ["d1", "d2"]


def test_the_input_is_cls_query_sep_window_sep(tokenizer):
    query = query_ids(tokenizer, ["brown bread"], limit=1)[0]
    assert len(query) == 1
    ids, types = pair_ids(tokenizer, query, np.arange(5000, 5010), max_length=8)
    assert ids == [101, *query, 102, 5000, 5001, 5002, 5003, 102]  # 8 tokens: the window is cut to 4
    assert types == [0, 0, 0, 1, 1, 1, 1, 1]


def test_tokens_of_windows_are_those_of_their_text(folder, store):
    bed, encoder = Testbed(str(folder), words=6, overlap=2), backbone.resolve("packaged:0")
    reader = WindowTokens(bed.tokens(encoder).value(), bed.store.value())
    tokenizer = encoder.tokenizer()
    for text in Texts(bed.store.value()):
        pieces = list(windows(text, 6, 2))
        assert list(reader.windows_of(text.doc_id)) == [w.window_id for w in pieces]
        for window in pieces:
            assert reader[window.window_id].tolist() == tokenizer(window.text, add_special_tokens=False)["input_ids"]
