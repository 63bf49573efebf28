from helpers.retrieval.fusion import MEASURE, consistency, consistency_at_depth, means
from toys import run_of

factors = consistency.definition.function


def by_depth(run, reference, depths):
    table = factors(run, reference, depths)
    return table.set_index(["query_id", "depth"])[MEASURE].to_dict()


def test_the_factor_of_known_lists():
    run, reference = run_of(q="abcd", r="xyzw"), run_of(q="dca", r="pqrs")
    assert by_depth(run, reference, [1, 2, 4]) == {("q", 1): 1.0, ("q", 2): 0.5, ("q", 4): 0.75,
                                                   ("r", 1): 0.0, ("r", 2): 0.0, ("r", 4): 0.0}
    assert means(factors(run, reference, [1, 2, 4])).to_dict() == {1: 0.5, 2: 0.25, 4: 0.375}


def test_ranks_in_the_reference_do_not_matter_but_its_cut_does():
    run = run_of(q="ab")
    assert by_depth(run, run_of(q="xyzba"), [2]) == {("q", 2): 1.0}
    assert by_depth(run, run_of(q="xyzb"), [2]) == {("q", 2): 0.5}


def test_a_short_list_counts_with_what_it_has():
    assert by_depth(run_of(q="ab"), run_of(q="a"), [1, 2, 100]) == {("q", 1): 1.0, ("q", 2): 0.5, ("q", 100): 0.5}


def test_a_query_without_documents_has_no_factor_and_lowers_no_mean():
    table = factors(run_of(q="ab"), run_of(q="ab", nothing_here="c"), [2])
    assert table["query_id"].tolist() == ["q"]
    assert means(table).to_dict() == {2: 1.0}


def test_a_query_that_the_reference_lacks_has_factor_0():
    assert by_depth(run_of(q="ab", r="ab"), run_of(q="ab"), [2]) == {("q", 2): 1.0, ("r", 2): 0.0}


def test_the_values_at_one_depth_are_indexed_by_query():
    table = factors(run_of(q="ab", r="xb"), run_of(q="a", r="x"), [1, 2])
    assert consistency_at_depth(table, 2)[MEASURE].to_dict() == {"q": 0.5, "r": 0.5}
    assert consistency_at_depth(table, 1)[MEASURE].to_dict() == {"q": 1.0, "r": 1.0}
    assert consistency_at_depth(table, 2).index.name == "query_id"
