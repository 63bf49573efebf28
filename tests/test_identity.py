"""What a system rests on and remembers: its trainings, its articles. Tables and curves of trainings: their losses beside the
study's, and their cost."""

from dataclasses import replace
from math import isnan
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.evaluation.identity import by_query, identity_gap, without_rivals
from helpers.evaluation.significance import TrainingNoise, paired
from helpers.pages import training
from helpers.pages.training import identity_table, knows_articles
from helpers.steps import ledger
from helpers.systems.evaluated import Evaluation, RerankingExperiment, trainings
from helpers.systems.recipe import recipe
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZERO_SHOT
from tables import cells
from toys import Bed, Value, of_values, qrels_of, run_of, system

# ---- articles that are known ----

SPLITS = {"t1": "train", "t2": "train", "d1": "dev", "c1": "test"}
QRELS = qrels_of(q1={"c1": 3}, q2={"t2": 1})


@pytest.fixture
def bed(monkeypatch):
    """One query, answered by c1, of a collection that is split by article."""
    monkeypatch.setattr("helpers.pages.training.splits_of", lambda collection: SPLITS)
    made = Bed(q1="c1")
    made.source, made.splits = SimpleNamespace(split_by_article=True), ("test",)
    return made


def test_the_gap_is_taken_within_queries_over_what_nobody_judged():
    scores = run_of(q1={"t1": 1.0, "d1": 0.0, "c1": 9.0}, q2={"t1": 0.0, "d1": 0.0, "t2": 7.0}, q3={"t2": 0.0})
    shown = identity_gap(by_query(scores, QRELS, SPLITS.get, "test"))
    assert (shown.seen, shown.neither) == (pytest.approx(1 / 3), 0.0)  # of three texts and of two
    # centred: q1 .5 and -.5, elsewhere 0; the spread over five texts is the root of .1
    assert shown.gap == pytest.approx((0.5 / 3 + 0.25) / 0.1**0.5)


def test_scores_that_are_all_alike_have_no_gap_and_one_kind_alone_has_none_to_show():
    alike = run_of(q1={"t1": 1.0, "d1": 1.0})
    assert identity_gap(by_query(alike, QRELS, SPLITS.get, "test")).gap == 0
    assert isnan(identity_gap(by_query(alike, QRELS, SPLITS.get, "dev")).neither)


def test_a_system_that_knows_more_of_its_articles_than_an_untrained_one_is_named(bed, monkeypatch):
    monkeypatch.setattr(Evaluation, "trainings", lambda self: (frozenset({"a training"}),))
    ranks = {"knows": ["t1", "c1", "d1"], "fair": ["d1", "c1", "t1"]}
    knows, fair = (of_values([0.5], queries=["q1"], run=run_of(q1=order)) for order in ranks.values())
    assert knows_articles(knows, fair, bed, 20) == (
        "the model knows which articles it was trained on: its gap exceeds that of the encoder without training by +4.000 "
        "[4.000, 4.000] standard deviations")
    assert knows_articles(fair, knows, bed, 20) == ""
    assert knows_articles(fair, fair, bed, 20) == ""


def test_rivals_from_train_articles_are_left_out_and_answers_stay():
    run = run_of(q1=["t1", "c1", "d1"], q2=["t2", "d1"])
    kept = without_rivals(run, qrels_of(q1={"c1": 3, "t1": 1}, q2={"t2": 2}), SPLITS.get, 2)
    assert kept["doc_id"].tolist() == ["c1", "d1", "t2", "d1"]


@pytest.mark.parametrize("excused, shown", [((), ["yes", "", ""]), (("BM25",), ["no", "", ""])])
def test_a_trained_system_is_said_to_know_its_articles_unless_one_that_is_not_has_the_gap_too(excused, shown, bed, monkeypatch):
    seen, fair = ["t1", "c1", "d1"], ["c1", "d1", "t1"]
    systems = {name: of_values([0.5], queries=["q1"], run=run_of(q1=order)) for name, order in (
        ("trained", seen), ("BM25", seen), (f"{ZERO_SHOT} MiniLM", fair))}
    of = {True: (frozenset({"key"}),), False: (frozenset(),)}
    monkeypatch.setattr(type(systems["BM25"]), "trainings", lambda own: of[own is systems["trained"]])
    assert [row[4] for row in cells(identity_table(systems, bed, 20, *excused))[1:]] == shown


def test_a_page_shows_scores_gap_and_the_measure_without_rivals(bed):
    system = of_values([0.5], queries=["q1"], run=run_of(q1=["t1", "c1", "d1"]))
    encoder = of_values([0.5], queries=["q1"], run=run_of(q1=["c1", "d1", "t1"]))
    shown = identity_table({"BM25": system, f"{ZERO_SHOT} MiniLM": encoder}, bed, 20)
    # scores 0 and -2 of t1 and d1, a gap of two spreads; the answer stands second, and first without t1
    assert [text in shown.html for text in ("dev articles", ">+0.000<", ">−2.000<", "+2.000", "0.500", "1.000")] == [True] * 6
    bed.source.split_by_article = False
    assert "share their texts" in identity_table({"BM25": system}, bed, 20).markdown


# ---- trainings ----

def scored(seed, **settings):
    trial = RerankingExperiment.of_bm25(Testbed("almanac", "passage", queries=4), candidates=5)
    return trial, replace(recipe(warm_up=0), seed=seed, **settings).scores(trial.bed, trial.run, 5)


def test_a_model_rests_on_its_training_and_bm25_on_none():
    trial, one = scored(1)
    assert len(trainings(one)) == 1
    assert trainings(one) != trainings(scored(2)[1])
    assert trainings(trial.run) == frozenset()


def test_a_start_that_is_not_trained_further_is_no_training():
    assert trainings(scored(1, epochs=0)[1]) == frozenset()


def test_what_two_systems_share_cancels():
    def system(step):
        return Evaluation("x", None, None, step).trainings()

    trial, one = scored(1)
    assert system(one) == system(scored(1)[1])
    lead = Evaluation("x", None, None, one, also=(scored(2)[1], trial.run))
    assert len(lead.trainings()[0]) == 2


# ---- what is computed once ----

def test_a_comparison_is_remembered_with_its_noise():
    ours, theirs = np.array([0.5, 1.0, 0.25]), np.array([0.25, 0.5, 0.5])
    first = paired(ours, theirs)
    assert paired(ours.copy(), theirs) is first
    assert paired(ours, theirs, noise=TrainingNoise(0.1, 3)) is not first
    ours[0] = 0.75  # changed in place: another question
    assert paired(ours, theirs).difference.mean != first.difference.mean


def log_of(loss=0.5, evaluation=0.6, **more):
    """A training's log: the losses fall from 0.9 and 0.8 to the given ones."""
    lines = [{"step": 10, "loss": 0.9}, {"step": 10, "eval_loss": 0.8}, {"step": 20, "loss": loss},
             {"step": 20, "eval_loss": evaluation}]
    return {"pairs": 1200, "positives": 300.0, "evaluation_pairs": 80, "steps": 20, "parameters": 22_000_000,
            "trained_parameters": 22_000_000, "log": lines} | more


def test_a_curve_takes_the_lines_that_have_it():
    log = log_of()
    assert training.curve(log, "eval_loss").to_dict() == {10: 0.8, 20: 0.6}
    assert training.curve(log, "soft").empty
    assert training.final(log, "loss") == 0.5
    log["log"].append({"step": 20, "eval_loss": 0.55})  # a training's last step is evaluated twice
    assert training.final(log, "eval_loss") == 0.55
    curves = {name: line.to_dict() for name, line in training.loss_curves(log).items()}
    assert curves == {"training loss": {10: 0.9, 20: 0.5}, "evaluation loss": {10: 0.8, 20: 0.55}}


def test_losses_stand_beside_those_of_the_thesis():
    shown = training.losses_beside("5.3", {"3": (log_of(0.0123, 0.0456), system()), "12": (log_of(), system())})
    header, three, twelve = cells(shown)
    assert header == ["training", "Final Eval Loss, published", "Final Eval Loss, measured", "Final Training Loss, published",
                      "Final Training Loss, measured"]
    assert three == ["3", "0.0193", "0.0456", "0.0186", "0.0123"]
    assert twelve == ["12", "", "0.6000", "", "0.5000"]  # the study did not train for twelve epochs
    assert 'href="#step-0123456789"' in shown.html


def test_the_cost_of_a_model_is_the_seconds_of_training_and_of_scoring(monkeypatch):
    machine = {"cpu": "A CPU", "cores": 4, "threads": 2}
    log = Value(log_of(), manifest={"inputs": [{"step": "cross_encoder", "seconds": 4000.0}], "seconds": 0.1})
    scored = Value(manifest={"seconds": 12.3, "machine": machine})
    monkeypatch.setitem(ledger.USED, scored.key, {"source": "recorded"})
    shown = training.cost({"seed 1": log}, {"seed 1": replace(system(), source=scored), "BM25": system()})
    assert cells(shown)[1:] == [["seed 1", "20", "67 min", "12 s", "A CPU, 2 threads of 4 cores", "recorded"]]


@pytest.mark.parametrize("loss, learned", [(0.57, False), (0.54, False), (0.53, True), (0.1, True)])
def test_a_constant_guess_is_no_learning(loss, learned):
    # a quarter of the pairs is relevant: -(ln(1/4) / 4 + 3 ln(3/4) / 4) = 0.5623, and 0.95 of it 0.5342
    assert training.untrained(log_of(evaluation=loss)) != learned
