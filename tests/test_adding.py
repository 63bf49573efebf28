"""A study is added by its tables, its claims and a name in a list; readers find it in the code by five files. A loss, an
aggregation and a first stage are added by a function or a small class and one line of a registry."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from helpers import paths
from helpers.encoders.bi_encoder import LOSSES, BiEncoderTraining
from helpers.encoders.models import BiEncoderModel
from helpers.evaluation import published
from helpers.pages import claims
from helpers.registry import call
from helpers.reranking.aggregation import AGGREGATIONS, aggregate
from helpers.retrieval.indexes import window_index
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.first_stages import STAGES, Lexical, first_stages
from helpers.systems.testbed import Testbed
from press import generated
from toys import of_values, run_of

TABLES = """
study: toy2026
cite: Toy (2026)
tables:
  - table: "1"
    dataset: msmarco-passage
    split: dev
    entries:
      - {row: new, column: MRR, system: new, measure: RR@10, value: 0.370}
      - {row: old, column: MRR, system: old, measure: RR@10, value: 0.360}
"""
CLAIM = """
  - id: new-beats-old
    study: toy2026
    claim: The new system beats the old one.
    evidence: {table: "1", row: new, column: MRR, against: old}
    measure: RR@10
    direction: higher
    significant: null
    margin: {value: 0.01, because: "half of the published effect, at least 0.01"}
    test: the new system compared with the old one
    chapter: toy
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The toy study in a copy of what is published."""
    folder = Path(shutil.copytree(paths.PUBLISHED, tmp_path / "published"))
    (folder / "toy2026.yaml").write_text(TABLES)
    with (folder / "claims.yaml").open("a") as file:
        file.write(CLAIM)
    monkeypatch.setattr(paths, "PUBLISHED", folder)
    monkeypatch.setattr(published, "STUDIES", (*published.STUDIES, "toy2026"))
    caches = (published.load, claims.load)
    for cache in caches:
        cache.cache_clear()
    yield "toy2026"
    for cache in caches:
        cache.cache_clear()


def test_its_values_are_looked_up_as_printed_and_its_claim_gets_a_verdict_and_a_line_on_the_scoreboard(study):
    assert published.value(study, "1", "new", "MRR").printed == "0.370"
    assert published.everything()[-1].where == "Toy (2026), table 1"
    new, old = of_values([1.0, 0.5, 1.0, 0.5] * 10), of_values([0.5, 0.25, 0.5, 0.25] * 10)
    judged = claims.judge("toy", {"new-beats-old": (new, old)})
    line = judged.data["claims"][0]
    assert line["claim"] == "new-beats-old"
    board = generated.scoreboard([{"page": "toy", **judged.data}])
    assert "Toy (2026)" in board and "The new system beats the old one." in board and line["verdict"] in board


def test_five_files_lead_from_a_query_to_a_measured_list():
    text = (paths.ROOT / "CONTRIBUTING.md").read_text()
    part = text[text.index("## Read the code in this order"):].split("\nThen ")[0]
    files = [paths.PACKAGE / name for name in re.findall(r"^\d\. `([\w/]+\.py)`", part, flags=re.M)]
    assert len(files) == 5
    assert sum(len(file.read_text().splitlines()) for file in files) < 600


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
