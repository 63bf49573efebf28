"""What the chapters on RepBERT share: names of first stages, the rows of table 1, and a re-ranker over each one's candidates."""

from dataclasses import dataclass, field, replace

import faiss
import pytest

from helpers.costs import latency
from helpers.costs.latency import folder_size, milliseconds
from helpers.data.runs import cut
from helpers.evaluation import published
from helpers.pages import stages
from helpers.retrieval.indexes import text_index
from helpers.steps import rebuild
from helpers.systems.first_stages import STAGES, DeepCT, FirstStages, first_stages, repbert
from helpers.systems.testbed import Testbed
from test_bi_encoder import TOPICS, passages  # noqa: F401
from toys import Bed, Value, run_of, system

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


def test_the_exact_match_stages_are_those_beside_the_dense_one():
    assert stages.exact_match(["bm25", "deepct", "repbert", "untrained", "minilm"], "repbert") == ["bm25", "deepct"]
    assert stages.exact_match(["bm25", "expansion", "repbert"], "repbert") == ["bm25"]  # the book's own is no system of the study
    assert stages.exact_match(["run.a", "run.b"], "run.b") == ["run.a"]


def test_systems_stand_under_the_names_of_table_1():
    rows = stages.by_rows({"bm25": system(0.0), "repbert": system(0.0), "minilm": system(0.0, "zero-shot BERT"),
                           "run.x.txt": system(0.0, "x")})
    assert list(rows) == ["BM25(Anserini)", "RepBERT", "zero-shot BERT", "x"]
    known = {row for table, row, _ in published.load("zhan2020") if table == stages.TABLE}
    assert {*stages.STUDIED.values()} <= known


def test_a_published_run_in_place_of_repbert_tests_no_claim():
    reasons = stages.stand_in("run.tas-b.txt", "depth")
    assert reasons["first-stages-converge-at-depth"] == "tas-b, which was not trained here, stands for RepBERT"
    assert stages.stand_in("repbert", "depth") == {}


@dataclass
class Scorer:
    """Likes `a` and `b`; remembers what it was asked."""

    depths: list = field(default_factory=list)

    def scores(self, bed, run, candidates):
        self.depths.append(candidates)
        kept = cut(run.value(), candidates)
        return Value(kept.assign(score=kept["doc_id"].isin(["a", "b"]).astype(float), doc_id=kept["doc_id"] + "#0"))


def test_candidates_are_scored_once_and_those_beyond_a_depth_do_not_count():
    scorers, runs = [Scorer(), Scorer()], {"bm25": Value(run_of(q="xa", r="xyb")), "repbert": Value(run_of(q="a", r="b"))}
    found = stages.reranked(runs, Bed(q="a", r="b"), scorers, [3, 1, 2])
    assert [scorer.depths for scorer in scorers] == [[3, 3]] * 2
    means = {key: own.mean("RR@10").mean for key, own in found.items()}
    assert means == {("bm25", 1): 0.0, ("bm25", 2): 0.5, ("bm25", 3): 1.0, **{("repbert", depth): 1.0 for depth in (1, 2, 3)}}
    assert len(found["bm25", 2].seeds) == 2
    assert stages.reranked({"bm25": None}, Bed(q="a", r="b"), scorers, []) == {}
