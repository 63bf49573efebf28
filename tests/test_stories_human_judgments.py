"""The chapter on human judgments: what two differences say together, and the tables that have them side by side."""

from types import SimpleNamespace

from helpers.evaluation.significance import Interval, Paired
from helpers.stories import human_judgments as story
from tables import cells
from toys import system


def test(mean, p):
    return Paired(Interval(mean, mean - 0.1, mean + 0.1), Interval(mean, mean - 0.1, mean + 0.1), p, p, 8, 0.05)


test.__test__ = False  # what pytest collects by its name


def test_a_finding_travels_if_both_sides_are_sure_of_one_direction():
    sure, unsure, opposite = test(0.2, 0.01), test(0.2, 0.2), test(-0.2, 0.01)
    said = {(one, other): story.travels(one, other) for one in (sure, unsure, opposite) for other in (sure, unsure, opposite)}
    assert said[sure, sure] == "yes, higher" and said[opposite, opposite] == "yes, lower"
    assert said[sure, opposite] == "no: higher at home, lower there"
    assert said[sure, unsure] == "sure at home alone: higher" and said[unsure, opposite] == "sure there alone: lower"
    assert said[unsure, unsure] == "sure on neither"


def test_every_finding_has_both_differences_and_its_row():
    sides = {"home": dict.fromkeys(story.FINDINGS, test(0.2, 0.01)), "there": dict.fromkeys(story.FINDINGS, test(-0.1, 0.01))}
    rows = cells(story.findings_table(sides))
    assert [row[0] for row in rows[1:]] == list(story.FINDINGS)
    assert rows[1][1].startswith("+0.200") and rows[1][3].startswith("−0.100") and rows[1][5].startswith("no:")
    shown = story.findings_figure(sides).html
    assert f"{story.TAUGHT}, there: −0.100" in shown and "home, with its interval" in shown
    signs = story.signs(sides)
    assert not signs[story.TAUGHT] and signs["the encoder that taught the re-ranker ranks above it"]


def test_systems_are_compared_with_bm25():
    systems = {"BM25": system(0.0), story.RERANKER: system(0.1)}
    for one in systems.values():
        one.values["nDCG@10"] = one.values["Judged@10"] = one.values["RR@10"]
    rows = cells(story.systems_table("Systems", systems, "RR@10"))
    assert rows[1][0] == "BM25" and rows[1][4] == "baseline" and rows[2][4].startswith("+0.1")


def test_the_first_three_runs_have_roles_and_others_their_names(monkeypatch):
    monkeypatch.setattr(story, "external_run", lambda file, queries, depth: (file, queries, depth))
    files = ["run.bm25.txt", "run.rm3.txt", "run.tas-b.txt", "run.splade.txt"]
    runs = story.runs(None, SimpleNamespace(query_step="asked"), 10, "data/own", files)
    assert list(runs) == [story.BM25, story.FEEDBACK, story.DENSE, "splade"]
    assert runs["splade"] == ("data/own/run.splade.txt", "asked", 10)
