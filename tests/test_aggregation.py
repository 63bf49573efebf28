"""From windows to documents: aggregations, the re-ranked run, summed scores."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from helpers.data.texts import Texts
from helpers.data.windows import WindowTokens, pair_ids, query_ids, windows
from helpers.networks import backbone
from helpers.networks.inference import load_scorer, probabilities
from helpers.reranking.aggregation import AGGREGATIONS, aggregate, reranked
from helpers.retrieval import fusion
from helpers.steps import numerics
from helpers.systems.pipeline import Pipeline, SummedReranker
from helpers.systems.rerankers import WarmUp
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZeroShotReranker
from press.rerankers import RERANKERS
from toys import run_of

# q2 before q1; of a the windows stand as 2, 0, 1, and b has one window only. Eighths: the sums are exact.
WINDOWS = run_of(q2={"a#2": 0.125, "b#0": 0.5, "a#0": 0.25, "a#1": 0.75}, q1={"a#0": 1.0, "c#1": 0.5, "c#0": 0.875})

BY_HAND = {
    "mean": [("q2", "b", 0.5), ("q2", "a", 0.375),  # (0.125 + 0.25 + 0.75) / 3
             ("q1", "a", 1.0), ("q1", "c", 0.6875)],  # (0.5 + 0.875) / 2
    "max": [("q2", "a", 0.75), ("q2", "b", 0.5), ("q1", "a", 1.0), ("q1", "c", 0.875)],
    "first": [("q2", "b", 0.5), ("q2", "a", 0.25), ("q1", "a", 1.0), ("q1", "c", 0.875)],  # window 0 alone
    "sum": [("q2", "a", 1.125), ("q2", "b", 0.5), ("q1", "c", 1.375), ("q1", "a", 1.0)]}


@pytest.mark.parametrize("how", AGGREGATIONS)
def test_aggregations_by_hand(how):
    assert [tuple(row) for row in aggregate(WINDOWS, how).to_numpy()] == BY_HAND[how]


def test_window_ten_comes_after_window_nine_and_a_document_id_may_have_a_hash_itself():
    scores = run_of(q={"a#10": 0.75, "a#9": 0.25})  # as texts 10 is before 9
    assert aggregate(scores, "first")["score"].tolist() == [0.25]
    frame = run_of(q={"x#1#0": 0.25, "x#1#1": 0.75, "x#2#0": 0.5})
    assert [tuple(row) for row in aggregate(frame, "max").to_numpy()] == [("q", "x#1", 0.75), ("q", "x#2", 0.5)]


def test_documents_that_were_not_scored_follow_in_their_old_order():
    windows, run = run_of(q1={"b#0": 0.2, "b#1": 0.6, "a#0": 0.3}), run_of(q1={"a": 9, "b": 8, "d": 7, "c": 7}, q2={"a": 1})
    result = reranked.definition.function(windows, "mean", run)
    assert list(zip(result["query_id"], result["doc_id"], strict=True)) == [
        ("q1", "b"), ("q1", "a"), ("q1", "d"), ("q1", "c"), ("q2", "a")]
    assert result["score"].tolist()[:2] == pytest.approx([0.4, 0.3])
    assert result.loc[result["query_id"] == "q1", "score"].is_monotonic_decreasing
    assert result.loc[2:3, "score"].max() < 0.3  # below what the model scored


# ---- re-ranking ----

def test_the_seed_decides_the_head(tiny, store):
    heads = [load_file(replace(tiny, seed=seed).model.value() / "model.safetensors")["classifier.weight"] for seed in (1, 2)]
    assert not torch.equal(*heads)


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


@pytest.mark.slow
def test_the_input_is_cls_query_sep_window_sep(tokenizer):
    query = query_ids(tokenizer, ["brown bread"], limit=1)[0]
    assert len(query) == 1
    ids, types = pair_ids(tokenizer, query, 8, np.arange(5000, 5010))
    assert ids == [101, *query, 102, 5000, 5001, 5002, 5003, 102]  # 8 tokens: the window is cut to 4
    assert types == [0, 0, 0, 1, 1, 1, 1, 1]


@pytest.mark.slow
def test_tokens_of_windows_are_those_of_their_text(folder, store):
    bed, encoder = Testbed(str(folder), words=6, overlap=2), backbone.resolve("packaged:0")
    reader = WindowTokens(bed.tokens(encoder).value(), bed.store.value())
    tokenizer = encoder.tokenizer()
    for text in Texts(bed.store.value()):
        pieces = list(windows(text, 6, 2))
        assert list(reader.windows_of(text.doc_id)) == [w.window_id for w in pieces]
        for window in pieces:
            assert reader[window.window_id].tolist() == tokenizer(window.text, add_special_tokens=False)["input_ids"]


# ---- summed scores ----

class Scores:
    """A re-ranker that gives one query's two windows these scores."""

    def __init__(self, first, second):
        self.run = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["d#0", "d#1"], "score": [first, second]})

    def scores(self, bed, run, candidates):
        return self.run


@pytest.mark.parametrize("weight, first, second", [(0.5, 0.0, 0.0), (0.75, 0.5, -0.5), (1.0, 1.0, -1.0)])
def test_the_scores_are_standardised_and_weighted(monkeypatch, weight, first, second):
    """(4, 2) and (0.1, 0.3) are (1, -1) and (-1, 1) in standard deviations."""
    monkeypatch.setattr("helpers.systems.pipeline.z_scored", fusion.z_scored.definition.function)
    found = SummedReranker(Scores(4.0, 2.0), Scores(0.1, 0.3), weight).scores(None, None, 20).set_index("doc_id")["score"]
    assert found["d#0"] == pytest.approx(first)
    assert found["d#1"] == pytest.approx(second)


def test_the_pipeline_and_the_command_line_sum_the_base_and_its_teacher():
    default = next(iter(RERANKERS.values())).made()
    assert default == Pipeline().model == SummedReranker()
    assert (default.first, default.second, default.weight) == (WarmUp(), ZeroShotReranker(), 0.5)


@pytest.mark.slow
def test_bread_turns_brown_by_browning(store):
    (best,) = Pipeline(aggregation="max", candidates=5).search("why does bread turn brown", "almanac/16", k=1).itertuples()
    assert best.title == "Browning, Braising and Sous Vide"
