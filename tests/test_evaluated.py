from dataclasses import dataclass, field, replace

import pandas as pd
import pytest

from helpers.evaluation import published
from helpers.pages.fragments import Fragment
from helpers.pages.results import beside_published, seeds_text
from helpers.reranking.aggregation import AGGREGATIONS
from helpers.systems.evaluated import MEASURES, RerankingExperiment, evaluate, evaluate_seeds, together, values_of
from helpers.systems.recipe import Student
from helpers.systems.zero_shot import ZeroShotReranker, zero_shot_in
from toys import Bed, Value, of_values, run_of

BED = Bed(q1="d1", q2="d2")


def test_the_zero_shot_encoder_is_called_by_its_backbone(monkeypatch):
    monkeypatch.setattr(ZeroShotReranker, "scores", lambda self, bed, run, candidates: Scorer({"d1#0": 1}).scores(bed, run, 1))
    trial = RerankingExperiment(BED, Value(Scorer({"d1": 1}).scores(BED, None, 1).value()), measures=("RR@10",))
    systems = {"BM25": trial.baseline(), **trial.zero_shot("hub:google-bert/bert-base-uncased@main")}
    assert list(systems) == ["BM25", "zero-shot bert-base-uncased"]
    assert zero_shot_in(systems) is systems["zero-shot bert-base-uncased"]
    assert ZeroShotReranker("packaged:0").label == "zero-shot MiniLM (layers 0)"


@dataclass
class Scorer:
    """Gives each window the score that it was made with; remembers what it was asked."""

    scores_of: dict
    calls: list = field(default_factory=list)

    def scores(self, bed, run, candidates):
        self.calls.append((bed, run, candidates))
        rows = [(query, window, score) for query in ("q1", "q2") for window, score in self.scores_of.items()]
        return Value(pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]))


@pytest.fixture
def trial():
    return RerankingExperiment(BED, Value(run_of(q1=["d1", "d2"], q2=["d3"]), key="run"), candidates=20)


# One window of d1 is the best of all, but on average d1 is below d2.
WINDOWS = {"d1#0": 0.9, "d1#1": 0.1, "d2#0": 0.6}


@pytest.mark.parametrize("aggregation, expected", [("mean", [0.5, 1.0]), ("max", [1.0, 0.5]), ("first", [1.0, 0.5]),
                                                   ("sum", [1.0, 0.5])])
def test_window_scores_are_aggregated_as_the_trial_says(trial, aggregation, expected):
    system = replace(trial, aggregation=aggregation).of("x", Scorer(WINDOWS))
    assert system.values["RR@10"].tolist() == expected


def test_an_evaluation_has_label_measures_run_and_source(trial):
    system = trial.of("seed 7", Scorer(WINDOWS))
    assert system.label == "seed 7"
    assert tuple(system.values.columns) == MEASURES
    assert system.source.value()["doc_id"].tolist() == list(WINDOWS) * 2
    assert system.run[system.run["query_id"] == "q1"]["doc_id"].tolist() == ["d2", "d1"]
    assert tuple(replace(trial, measures=("RR@1",)).of("x", Scorer(WINDOWS)).values.columns) == ("RR@1",)


def test_the_baseline_is_the_first_stage_itself(trial):
    system = trial.baseline()
    assert system.label == "BM25"
    assert system.values["RR@10"].tolist() == [1.0, 0.0]
    assert system.source is trial.run
    assert trial.baseline("BM25, tuned").label == "BM25, tuned"


def test_several_models_are_averaged_query_by_query(trial, monkeypatch):
    turned = {"d1#0": 0.9, "d2#0": 0.1}  # d1 first: 1 and 1/2, where WINDOWS give 1/2 and 1
    monkeypatch.setitem(AGGREGATIONS, "own", lambda scores: scores.mean())  # a reader's own function
    trial = replace(trial, aggregation="own")
    both = trial.over_seeds("x", [Scorer(WINDOWS), Scorer(turned), Scorer(turned)])
    assert both.values["RR@10"].tolist() == pytest.approx([2.5 / 3, 2 / 3])
    assert both.seed_means["RR@10"].tolist() == [0.75, 0.75, 0.75]
    assert both.label == "x"


def test_all_depths_are_taken_from_one_scoring_of_the_largest():
    run, model = Value(run_of(q1=["d1", "d2"], q2=["d3", "d2"])), Scorer({"d1#0": 0.1, "d2#0": 0.6, "d3#0": 0.9})
    systems = RerankingExperiment(Bed(q1="d2", q2="d3"), run).at_depths([model], [2, 1])
    assert [candidates for *_, candidates in model.calls] == [2]
    assert {depth: system.label for depth, system in systems.items()} == {1: "R = 1", 2: "R = 2"}
    assert [system.run["doc_id"].tolist() for system in systems.values()] == [["d1", "d3"], ["d2", "d1", "d3", "d2"]]
    assert [system.values["RR@10"].tolist() for system in systems.values()] == [[0.0, 1.0], [1.0, 1.0]]


@pytest.mark.slow
def test_of_rankings_that_no_page_shows_the_values_alone_are_kept(tiny, bed):
    trial = RerankingExperiment(bed, bed.bm25(0.9, 0.4, 10), candidates=2)
    (seen,), (unseen,) = (trial.at_depths([tiny], [2], shown).values() for shown in (True, False))
    assert unseen.values.equals(seen.values[list(unseen.values)])
    assert (seen.source.name, unseen.source.name, len(unseen.run)) == ("window_scores", "run_measures", 0)


@pytest.mark.parametrize("candidates, depth", [(20, 100), (100, 100), (150, 150)])
def test_a_trial_on_bm25_has_the_studys_settings_and_enough_candidates(bed, candidates, depth):
    made = RerankingExperiment.of_bm25(bed, candidates, "max")
    assert made == RerankingExperiment(bed, made.run, candidates, "max")
    assert made.run.key == bed.bm25(1.2, 0.75, depth).key


@pytest.mark.slow
def test_a_reranker_and_its_student_are_tried_on_the_same_candidates(tiny, bed):
    trial = RerankingExperiment(bed, bed.bm25(0.9, 0.4, 10), candidates=2)
    base, tuned, student, one = (trial.baseline(), trial.of("x", tiny), trial.of("y", Student(tiny, layers=(0,))),
                                   trial.of("z", tiny, 1))
    for system in (base, tuned, student, one):
        assert system.values.index.tolist() == ["q1", "q2", "q3"]
        assert system.values.loc["q3"].eq(0).all()  # stop words alone: no candidates
    assert tuned.source.key == tiny.scores(bed, trial.run, 2).key
    assert student.source.key != tuned.source.key
    candidates = [set(system.run[system.run["query_id"] == "q1"]["doc_id"]) for system in (tuned, student, one)]
    assert candidates == [{"d1", "d4"}, {"d1", "d4"}, set(base.run[base.run["query_id"] == "q1"]["doc_id"].head(1))]


def test_of_a_system_over_seeds_the_first_ranking_is_kept_and_the_values_of_the_others(bed):
    rankings = [bed.bm25(k1, 0.75, 10) for k1 in (1.2, 0.9)]
    both = evaluate_seeds("x", rankings, bed, ["RR@10"])
    assert [(run.source.name, run.source.key == ranking.key) for run, ranking in zip(both.seeds, rankings, strict=True)] == [
        ("bm25_run", True), ("run_measures", False)]
    assert both.run.equals(rankings[0].value())
    each = [evaluate("x", ranking, bed, ["RR@10"]).values for ranking in rankings]
    assert [run.values.equals(values) for run, values in zip(both.seeds, each, strict=True)] == [True, True]
    assert evaluate_seeds("x", rankings[:1], bed, ["RR@10"]).seeds == ()


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
