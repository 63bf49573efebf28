from dataclasses import replace

import pytest

from helpers.evaluation import published
from helpers.pages.fragments import Fragment
from helpers.pages.results import beside_published, seeds_text
from helpers.systems.evaluated import together, values_of
from toys import of_values


def test_seeds_are_averaged_for_each_query_and_their_means_kept_and_some_queries_taken():
    both = together("s", [of_values([1.0, 0.0, 0.5], "a"), of_values([0.5, 0.5, 0.5], "b")])
    assert both.values["RR@10"].tolist() == [0.75, 0.25, 0.5]
    assert both.seed_means["RR@10"].tolist() == [0.5, 0.5]
    part = both.on(["q2", "q0"])
    assert part.values["RR@10"].to_dict() == {"q2": 0.5, "q0": 0.75}
    assert part.seed_means["RR@10"].tolist() == [0.75, 0.5]  # on these queries
    assert (part.label, part.source, len(both.values)) == ("s", both.source, 3)
    with pytest.raises(KeyError):
        both.on(["q9"])
    triplets = [replace(of_values([1.0, 0.0], name), unit="triplets") for name in "ab"]
    assert together("s", triplets).unit == "triplets"


def test_the_variation_over_seeds_is_the_standard_deviation_of_their_means():
    both = together("s", [of_values([0.2, 0.4], "a"), of_values([0.4, 0.6], "b")])  # means 0.3 and 0.5: sd 0.1 * sqrt(2)
    assert seeds_text(both, "RR@10") == ", sd 0.141 over 2 seeds"
    assert seeds_text(of_values([0.2, 0.4], "a"), "RR@10") == ""


def test_the_comparison_pairs_queries_by_their_ids():
    ours = of_values([1.0, 0.5], "a")
    theirs = replace(ours, values=ours.values.iloc[::-1])
    assert ours.against(theirs, "RR@10").difference.mean == 0


def test_values_of_gives_a_column_a_system():
    frame = values_of({"x": of_values([1.0, 0.5], "x"), "y": of_values([0.0, 0.25], "y")}, ["y", "x"], "RR@10")
    assert frame.columns.tolist() == ["y", "x"]
    assert frame.loc["q1"].tolist() == [0.25, 0.5]


def test_published_and_measured_stand_side_by_side_with_a_verdict():
    base, better = [0.5, 0.25, 0.0, 1.0] * 10, [1.0, 0.5, 0.25, 1.0] * 10
    printed = [entry.cell for entry in (published.value("steensland2021", "5.1", row, "MRR@10") for row in ("BERT-Mean", "BM25"))]
    judged = Fragment(data={"claims": [{"printed": printed, "verdict": "agrees"}]})
    shown = beside_published("steensland2021", "5.1", "MRR@10", "RR@10",
                             {"BM25": of_values(base, "BM25"), "BERT-Mean": of_values(better, "BERT-Mean"),
                              "Other": of_values(base, "Other")}, "BM25", judged)
    assert "0.571†" in shown.html  # published, with its mark
    assert "0.688" in shown.html  # measured (1 + 0.5 + 0.25 + 1) / 4
    assert "+0.250" in shown.html  # measured effect; published +0.054
    assert "+0.054" in shown.html
    assert 'href="#step-0123456789"' in shown.html
    lines = {line["row"]: line for line in shown.data["values"]}
    assert lines["BERT-Mean"]["verdict"] == "agrees"  # the claim's word
    assert lines["Other"]["verdict"] is None  # the study has no such row
    figure = shown.html[shown.html.index("<figure"):shown.html.index("</figure")]
    assert "BERT-Mean, measured: +0.250" in figure and "Other" not in figure


def test_rows_of_the_study_that_were_not_measured_are_shown_as_not_run():
    systems = {"BM25": of_values([0.1, 0.2, 0.0], "BM25"), "BERT-Mean": of_values([0.3, 0.4, 0.5], "BERT-Mean")}
    shown = beside_published("steensland2021", "5.1", "MRR@10", "RR@10", systems, "BM25", rows_are="ranker")
    assert shown.html.index("BERT-Mean") < shown.html.index("BERT-Max")
    assert "not tested" in shown.html[shown.html.index("BERT-Max"):]
    assert "0.560" in shown.html  # the published value all the same
    assert "differences from ranker = BM25" in shown.html
    assert [line["row"] for line in shown.data["values"]] == ["BM25", "BERT-Mean"]
    part = beside_published("steensland2021", "5.1", "MRR@10", "RR@10", systems, "BM25", whole=False)
    assert "BERT-Max" not in part.html and "BERT-Mean" in part.html


def test_many_rows_that_were_not_measured_are_folded():
    systems = {"BM25": of_values([0.1, 0.2, 0.0], "BM25"), "BERT / Avg": of_values([0.3, 0.4, 0.5], "BERT / Avg")}
    shown = beside_published("david2020", "4.2", "MRR@10", "RR@10", systems, "BM25")
    head, fold, _ = shown.html.split("<details")
    assert "ELECTRA" not in head and "The study&#x27;s 15 other rows, whose systems are not run here" in fold
    assert all(f"{name} / Max" in fold for name in ("BERT", "ALBERT", "ELECTRA")) and fold.count("not tested") == 15


def test_a_part_of_a_systems_values_and_its_lead_over_a_system_without_seeds_are_taken_run_by_run():
    both, base = together("s", [of_values([1.0, 0.5], "a"), of_values([0.5, 1.0], "b")]), of_values([0.5, 0.25], "base")
    firsts = both.mapped(lambda values: values == 1)
    assert [run.values["RR@10"].tolist() for run in firsts.runs] == [[1.0, 0.0], [0.0, 1.0]]
    assert firsts.values["RR@10"].tolist() == [0.5, 0.5]  # and not whether the mean of both is a first place
    lead = both.less(base)
    assert [run.values["RR@10"].tolist() for run in lead.runs] == [[0.5, 0.25], [0.0, 0.75]]
    assert lead.values["RR@10"].tolist() == [0.25, 0.5] and lead.also[-1] is base.source
