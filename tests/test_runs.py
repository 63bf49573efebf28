import pandas as pd
import pytest

from helpers.data.runs import COLUMNS, cut, ranked, read_trec, to_trec


def run_of(*rows):
    return pd.DataFrame(rows, columns=COLUMNS)


RUN = run_of(("q2", "a", 1.5), ("q2", "b", 0.5), ("q1", "c", 2.0))
TREC = "q2 Q0 a 1 1.5 book\nq2 Q0 b 2 0.5 book\nq1 Q0 c 1 2.0 book\n"  # by hand: the order of the queries is kept


@pytest.mark.parametrize("rows, depth, expected", [
    ([("q", "d10", 1.0), ("q", "d9", 1.0), ("q", "d1", 1.0), ("q", "z", 2.0)], None, "z d9 d10 d1"),  # as trec_eval: texts
    ([("q2", "a", 1.0), ("q1", "b", 9.0), ("q2", "c", 2.0)], None, "c a b"),  # queries in the order of their first row
    ([("q1", "b", 1.0), ("q1", "a", 1.0), ("q1", "c", 1.0), ("q2", "d", 1.0)], 2, "c b d")])  # cut after ties are broken
def test_ties_are_broken_by_document_id_and_every_query_is_cut(rows, depth, expected):
    run = ranked(run_of(*rows), depth)
    assert run["doc_id"].tolist() == expected.split() and run.index.tolist() == [*range(len(run))]


def test_a_run_as_text_and_its_head():
    assert to_trec(RUN) == TREC
    assert to_trec(RUN[:0]) == ""
    assert to_trec(RUN, tag="bm25").splitlines()[0] == "q2 Q0 a 1 1.5 bm25"
    assert cut(RUN, 1).to_numpy().tolist() == [["q2", "a", 1.5], ["q1", "c", 2.0]]
    pd.testing.assert_frame_equal(cut(RUN, 10), RUN)


def test_single_precision_scores_survive_the_round_trip(tmp_path):
    run = ranked(run_of(("q", "a", 0.1), ("q", "b", 0.3)).astype({"score": "float32"}))
    (tmp_path / "run.trec").write_text(to_trec(run))
    assert " 0.3 book\n" in to_trec(run)  # not 0.30000001192092896
    assert read_trec(tmp_path / "run.trec")["score"].astype("float32").tolist() == run["score"].tolist()
