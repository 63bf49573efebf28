from dataclasses import replace

import faiss
import pytest

from helpers.costs import latency
from helpers.costs.latency import folder_size, milliseconds
from helpers.retrieval.indexes import text_index
from helpers.steps import rebuild
from helpers.systems.first_stages import STAGES, DeepCT, FirstStages, first_stages, repbert
from helpers.systems.testbed import Testbed
from test_bi_encoder import TOPICS, passages  # noqa: F401

slow = pytest.mark.slow


@pytest.fixture
def bed(passages):  # noqa: F811
    return Testbed(str(passages))


@pytest.fixture
def recipes(passages):  # noqa: F811
    passages = str(passages)
    encoder = replace(repbert(passages, "passage", "packaged:0", 0, 1, batch_size=2), max_length=32, evaluation_queries=1)
    return FirstStages(encoder, DeepCT(passages, backbone="packaged:0", max_length=32, k1=1.2))


def test_the_models_share_queries_backbone_and_seed():
    made = first_stages("almanac", "passage", "packaged:0", 70, 5, "study", 9)
    for model in (made.repbert, made.deepct):
        assert (model.collection, model.unit, model.backbone) == ("almanac", "passage", "packaged:0")
        assert (model.queries, model.seed) == (70, 9)
    assert (made.repbert.epochs, made.repbert.learning_rate, made.repbert.dropout, made.deepct.epochs) == (5, 3e-6, 0.1, 1)
    assert (repbert().epochs, repbert(training="study").epochs) == (2, 36)
    assert made.generator is None
    assert first_stages(generator="hub:a/b@1").generator.generator == "hub:a/b@1"


def test_each_name_is_a_run_of_its_own_over_its_index_or_embeddings(recipes, bed):
    keys = {name: recipes.run(name, bed, 5).key for name in STAGES if name != "doctttttquery"}
    assert len(set(keys.values())) == len(keys)
    assert keys["bm25"] == bed.bm25(1.2, 0.75, 5).key
    assert keys["repbert"] == recipes.repbert.run(bed, 5).key
    assert keys["untrained"] == recipes.repbert.zero_shot().run(bed, 5).key
    assert keys["deepct"] == recipes.deepct.run(bed, 5).key
    searched = {name: recipes.searched(name, bed).key for name in ("bm25", "deepct", "repbert", "minilm")}
    assert searched == {"bm25": text_index(bed.store).key, "deepct": recipes.deepct.index(bed).key,
                        "repbert": recipes.repbert.embeddings(bed).key, "minilm": recipes.zero_shot.embeddings(bed).key}


def test_a_published_run_is_read_and_neither_searched_nor_timed(recipes, bed, tmp_path, store):
    file = tmp_path / "run.theirs.txt"
    file.write_text("q1 Q0 p4 1 2.0 x\nq1 Q0 p1 2 1.0 x\nq9 Q0 p1 1 1.0 x\n")
    assert recipes.run(str(file), bed, 1).value()["doc_id"].tolist() == ["p4"]
    assert recipes.searched(str(file), bed) is None
    assert recipes.latencies([str(file)], bed, 5, 1, 1) is None


def test_milliseconds_are_those_of_an_item(monkeypatch):
    monkeypatch.setattr(latency, "clocked", lambda work: (float(sum(work())), None))
    assert milliseconds(lambda item: item + 1, [1.0, 2.0]) == 2500.0
    assert milliseconds(lambda item: item, []) == 0.0


def test_the_size_is_that_of_all_files_but_the_manifest(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a").write_bytes(b"123")
    (tmp_path / "b").write_bytes(b"12")
    (tmp_path / "manifest.json").write_bytes(b"1234567")
    assert folder_size.definition.function(tmp_path) == {"bytes": 5}


@slow
def test_every_stage_ranks_and_is_timed(recipes, bed, store):
    names = ["bm25", "deepct", "repbert", "untrained", "minilm"]
    step = recipes.latencies(names, bed, 99, timed=9, rounds=2)  # more texts and queries than there are
    threads = faiss.omp_get_max_threads()
    result = step.value()
    assert faiss.omp_get_max_threads() == threads
    assert result["queries"] == len(TOPICS) and set(result["stages"]) == set(names)
    for name in names:
        run = recipes.run(name, bed, 2).value()
        assert run.groupby("query_id").size().max() <= 2
        assert "p2" in set(run.loc[run["query_id"] == "q2", "doc_id"])
        times = result["stages"][name]
        assert all(len(rounds) == 2 and min(rounds) > 0 for rounds in times.values())
        assert ("encode" in times) == (name not in ("bm25", "deepct"))
        assert folder_size(recipes.searched(name, bed)).value()["bytes"] > 1000
    assert rebuild(step.recipe()).key == step.key
