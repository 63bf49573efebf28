"""The load test: what clients count, and the whole of it as a trial."""

import pytest

from press.bench import serve
from press.bench.serve import NAMES, Load, load, measure, served
from press.bench.work import trial

pytestmark = pytest.mark.slow


def test_a_load_is_a_rate_with_its_median_and_its_slowest():
    told = Load(2.0, [0.1, 0.2, 0.3, 0.4], refused=1).as_json()
    assert (told["answers"], told["per_second"], told["p50"], told["refused"]) == (4, 2.0, 0.25, 1)
    assert 0.39 < told["p99"] <= 0.4
    assert Load(2.0, [], refused=3).as_json()["per_second"] == 0


def test_every_contender_answers_and_is_measured(folder, store, monkeypatch):
    scale = trial(str(folder), "document")
    monkeypatch.setattr(serve, "find_spec", lambda name: None)
    section = measure(scale, 1)
    assert section["missing"] == ["LanceDB with its cross-encoder re-ranker"]
    assert list(section["contenders"]) == list(NAMES[:3])
    for loads in section["contenders"].values():
        assert list(loads) == ["1", "4"]
        assert all(one["answers"] >= 1 and one["refused"] == 0 for one in loads.values())
    assert len(section["memory"]["MiB"]) == 2


def test_lancedb_answers_too(folder, store, tmp_path):
    pytest.importorskip("lancedb", reason="LanceDB is compared if it is installed")
    scale = trial(str(folder), "document")
    model = scale.model.model.value()
    from helpers.networks import backbone
    if not (model / "tokenizer.json").exists():
        backbone.resolve("packaged").tokenizer().save_pretrained(model)
    with served(NAMES[-1], scale, str(model)) as port:
        assert load(port, ["why does bread turn brown", "iron"], 2, requests=4).refused == 0
