"""The load test: what clients count, and the whole of it as a trial."""

from dataclasses import replace

import pytest

from helpers.networks import backbone
from press.bench import serve, work
from press.bench.serve import NAMES, Load, load, measure, served

pytestmark = pytest.mark.slow


@pytest.fixture
def tiny(folder, store):
    """A trial on the four documents, with its steps computed."""
    made = work.trial(str(folder), "document")
    made = replace(made, queries=3, searched=3, model=replace(made.model, candidates=3, batch_size=2, max_length=32))
    serve.prepare(made)
    return made


def test_a_load_is_a_rate_with_its_median_and_its_slowest():
    told = Load(2.0, [0.1, 0.2, 0.3, 0.4], refused=1).as_json()
    assert (told["answers"], told["per_second"], told["p50"], told["refused"]) == (4, 2.0, 0.25, 1)
    assert 0.39 < told["p99"] <= 0.4
    assert Load(2.0, [], refused=3).as_json()["per_second"] == 0


def test_every_contender_answers_and_is_measured(tiny, monkeypatch):
    monkeypatch.setattr(serve, "find_spec", lambda name: None)
    section = measure(tiny, 1)
    assert section["missing"] == ["LanceDB with its cross-encoder re-ranker"]
    assert list(section["contenders"]) == list(NAMES[:3])
    for loads in section["contenders"].values():
        assert list(loads) == ["1", "4"]
        assert all(one["answers"] >= 1 and one["refused"] == 0 for one in loads.values())
    assert len(section["memory"]["MiB"]) == 2


def test_lancedb_answers_too(tiny, tmp_path):
    pytest.importorskip("lancedb", reason="LanceDB is compared if it is installed")
    from transformers import AutoModelForSequenceClassification

    backbone.resolve("packaged:0").build(AutoModelForSequenceClassification, num_labels=1).save_pretrained(tmp_path)
    backbone.resolve("packaged").tokenizer().save_pretrained(tmp_path)
    with served(NAMES[-1], tiny, str(tmp_path)) as port:
        assert load(port, ["why does bread turn brown", "iron"], 2, requests=4).refused == 0
