"""What the chapters on RepBERT share: names of first stages, the rows of table 1, and a re-ranker over each one's candidates."""

from dataclasses import dataclass, field

from helpers.data.runs import cut
from helpers.evaluation import published
from helpers.pages import stages
from toys import Bed, Value, run_of, system


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
