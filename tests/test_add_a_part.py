"""A loss, an aggregation and a first stage are added by a function or a small class and one line of a registry."""

from dataclasses import dataclass

import pytest
import torch

from helpers.encoders.bi_encoder import LOSSES, BiEncoderTraining
from helpers.encoders.models import BiEncoderModel
from helpers.registry import call
from helpers.reranking.aggregation import AGGREGATIONS, aggregate
from helpers.retrieval.indexes import window_index
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.first_stages import STAGES, Lexical, first_stages
from helpers.systems.testbed import Testbed
from toys import run_of


def pairwise(similarity, positive, own, temperature):
    """The mean of log(1 + e^(n - p)) over the triplets."""
    difference = (similarity - similarity.gather(1, positive[:, None])) / temperature
    return torch.nn.functional.softplus(difference)[own].mean()


@dataclass(frozen=True)
class Pieces(Lexical):
    """BM25 over pieces of the texts."""

    words: int = 50

    def index(self, bed):
        return window_index(bed.store, self.words, 0)


def test_a_loss(monkeypatch):
    monkeypatch.setitem(LOSSES, "pairwise", pairwise)
    assert BiEncoder(loss="pairwise").loss == "pairwise"
    model = BiEncoderModel(torch.nn.Identity(), BiEncoderTraining(loss="pairwise"))
    assert model._loss is pairwise
    value = call(LOSSES["pairwise"], similarity=torch.tensor([[1.0, 0.0]]), positive=torch.tensor([0]), margin=1.0,
                 own=torch.tensor([[False, True]]), relevant=None, temperature=0.5)
    assert value.item() == pytest.approx(0.126928)  # log(1 + e^-2)


def test_an_aggregation(monkeypatch):
    monkeypatch.setitem(AGGREGATIONS, "second best", lambda scores: float(scores.nlargest(2).iloc[-1]))  # or the only one
    windows = run_of(q={"a#0": 0.75, "a#1": 0.25, "a#2": 0.5, "b#0": 0.625})
    assert list(map(tuple, aggregate(windows, "second best").to_numpy())) == [("q", "b", 0.625), ("q", "a", 0.5)]


def test_a_first_stage(monkeypatch):
    monkeypatch.setitem(STAGES, "pieces", lambda recipes: Pieces(words=30))
    recipes, bed = first_stages(), Testbed("almanac", "passage", queries=20)
    run = recipes.run("pieces", bed, 5)
    assert (run.name, run.arguments["k1"], run.arguments["index"].key) == ("bm25_run", 1.2, window_index(bed.store, 30, 0).key)
    assert recipes.searched("pieces", bed).key == window_index(bed.store, 30, 0).key
    timed = recipes.latencies(["pieces", "bm25"], bed, 5, 1, 1)
    assert list(timed.arguments["lexical"]) == ["pieces", "bm25"] and timed.arguments["dense"] == {}
