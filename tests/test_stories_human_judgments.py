"""The chapter on human judgments: what two differences say together, and the tables that have them side by side."""

from dataclasses import replace
from types import SimpleNamespace

from helpers.evaluation.significance import Interval, Paired
from helpers.stories import human_judgments as story
from helpers.systems.recipe import recipe
from tables import cells
from toys import Value, system


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


def test_without_general_text_its_findings_are_left_out():
    systems = {name: system(0.1 * number) for number, name in enumerate(
        [story.BM25, story.FEEDBACK, story.DENSE, story.ENCODER, story.RERANKER, story.FUSED, story.FEW, story.OVER_DENSE])}
    tests = story.compared(SimpleNamespace(measure="RR@10"), systems)
    assert list(tests) == list(story.FINDINGS)
    said = story.signs({"home": tests, "there": tests})
    assert not said[story.HELPS] and not said["general text raises the mean there"]
    more = systems | {story.GENERAL: system(0.9), story.GENERAL_FUSED: system(0.9)}
    both = story.compared(SimpleNamespace(measure="RR@10"), more)
    assert list(both) == [*story.FINDINGS, *story.OF_GENERAL_TEXT] and both[story.HELPS].difference.mean > 0
    assert {name: both[name] for name in tests} == tests, "what is asked later leaves the correction of the first as it was"
    tests = both
    said = story.signs({"home": tests, "there": tests})
    assert said["general text raises the mean there"]
    assert said["general text changes nothing sure at home"] == (tests[story.HELPS].p_permutation >= 0.05)


def test_general_text_comes_between_the_base_and_the_labels():
    class Dev:
        def of(self, label, model):
            return model

        def best_weight(self, model, encoder):
            return 0.5 if model.start.start else 0.25

    model = recipe(queries=40, warm_up=100)
    made = story.kinds(model, "dictionaries", 30, [1, 2], Dev(), None)
    assert [(name, kind.sum, kind.weight) for name, kind in made.items()] == [
        (story.RERANKER, story.FUSED, 0.25), (story.GENERAL, story.GENERAL_FUSED, 0.5)]
    assert made[story.RERANKER].models == [replace(model, seed=seed) for seed in (1, 2)]
    one = made[story.GENERAL].models[1]
    assert (one.start.collection, one.start.first, one.start.start) == ("dictionaries", 30, model.start)
    assert replace(one, start=model.start) == made[story.RERANKER].models[1]
    shown = story.on_dev(made, Dev(), "encoder")
    assert shown == {story.ENCODER: "encoder", story.RERANKER: model, story.GENERAL: replace(one, seed=model.seed)}
    assert list(story.kinds(model, "", 30, [1], Dev(), None)) == [story.RERANKER]


def test_the_base_shows_how_it_learned_from_general_text():
    log = {"log": [{"step": 0, "eval_loss": 0.4}, {"step": 5, "loss": 0.3, "eval_loss": 0.2}]}
    base = SimpleNamespace(log=Value(log))
    kind = story.Kind([SimpleNamespace(start=base)], story.GENERAL_FUSED, 0.5, system())
    assert "Loss of the base over general text" in story.general_losses({story.GENERAL: kind}).html
    assert not story.general_losses({story.RERANKER: kind}).html
    assert not story.general_losses({story.GENERAL: story.Kind([SimpleNamespace(start=None)], "", 0.5, system())}).html


def test_systems_are_compared_with_bm25():
    systems = {"BM25": system(0.0), story.RERANKER: system(0.1)}
    for one in systems.values():
        one.values["nDCG@10"] = one.values["Judged@10"] = one.values["RR@10"]
    rows = cells(story.systems_table("Systems", systems, "RR@10"))
    assert rows[1][0] == "BM25" and rows[1][4] == "baseline" and rows[2][4].startswith("+0.1")


def test_the_first_three_runs_have_roles_and_others_their_names(monkeypatch):
    monkeypatch.setattr(story, "external_run", lambda file, queries, depth, store: (file, queries, depth))
    files = ["run.bm25.txt", "run.rm3.txt", "run.tas-b.txt", "run.splade.txt"]
    runs = story.runs(None, SimpleNamespace(query_step="asked", store=None), 10, "data/own", files)
    assert list(runs) == [story.BM25, story.FEEDBACK, story.DENSE, "splade"]
    assert runs["splade"] == ("data/own/run.splade.txt", "asked", 10)
