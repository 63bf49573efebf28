import random

import pandas as pd

from helpers.data.runs import COLUMNS, cut, ranked, read_trec, to_trec


def run_of(*rows):
    return pd.DataFrame(rows, columns=COLUMNS)


RUN = run_of(("q2", "a", 1.5), ("q2", "b", 0.5), ("q1", "c", 2.0))
TREC = "q2 Q0 a 1 1.5 book\nq2 Q0 b 2 0.5 book\nq1 Q0 c 1 2.0 book\n"  # by hand: the order of the queries is kept


def test_ties_are_broken_by_document_id():
    run = ranked(run_of(("q", "d10", 1.0), ("q", "d9", 1.0), ("q", "d1", 1.0), ("q", "z", 2.0)))
    assert run["doc_id"].tolist() == ["z", "d9", "d10", "d1"]  # as trec_eval: texts, descending


def test_queries_stay_in_the_order_of_their_first_row():
    run = ranked(run_of(("q2", "a", 1.0), ("q1", "b", 9.0), ("q2", "c", 2.0)))
    assert run.to_numpy().tolist() == [["q2", "c", 2.0], ["q2", "a", 1.0], ["q1", "b", 9.0]]
    assert run.index.tolist() == [0, 1, 2]


def test_depth_cuts_every_query_after_the_ties_are_broken():
    run = ranked(run_of(("q1", "b", 1.0), ("q1", "a", 1.0), ("q1", "c", 1.0), ("q2", "d", 1.0)), depth=2)
    assert run["doc_id"].tolist() == ["c", "b", "d"]


def test_a_run_as_text_and_its_head():
    assert to_trec(RUN) == TREC
    assert to_trec(RUN, tag="bm25").splitlines()[0] == "q2 Q0 a 1 1.5 bm25"
    assert cut(RUN, 1).to_numpy().tolist() == [["q2", "a", 1.5], ["q1", "c", 2.0]]
    pd.testing.assert_frame_equal(cut(RUN, 10), RUN)


def test_the_round_trip_is_exact(tmp_path):
    random.seed(7)
    scores = (random.random(), -random.random() * 1e-12, 0.1 + 0.2, 1 / 3, 1e300)  # with ties
    rows = [(f"q{query}", f"d{doc}", random.choice(scores)) for query in (3, 1, 2) for doc in range(100)]
    run = ranked(run_of(*rows))
    (tmp_path / "run.trec").write_text(to_trec(run))
    pd.testing.assert_frame_equal(read_trec(tmp_path / "run.trec"), run, check_exact=True)


def test_single_precision_scores_survive_the_round_trip(tmp_path):
    run = ranked(run_of(("q", "a", 0.1), ("q", "b", 0.3)).astype({"score": "float32"}))
    (tmp_path / "run.trec").write_text(to_trec(run))
    assert " 0.3 book\n" in to_trec(run)  # not 0.30000001192092896
    assert read_trec(tmp_path / "run.trec")["score"].astype("float32").tolist() == run["score"].tolist()


def test_an_empty_run_is_a_run(tmp_path):
    (tmp_path / "run.trec").write_text("")
    run = read_trec(tmp_path / "run.trec")
    assert (len(run), list(run.columns)) == (0, COLUMNS)
    assert to_trec(run) == ""
