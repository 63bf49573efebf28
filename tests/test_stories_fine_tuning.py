"""The chapters on fine-tuning: what they say follows the values. Differences are constant over the queries where a test
reads the words, so that interval and p are known: of 8 equal differences the permutation test's p is 2 / 2^8 = 0.008."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

import toys
from helpers.evaluation.verdicts import AGREES, DISAGREES, SMALL, UNTESTED
from helpers.pages import identity, training
from helpers.reranking.aggregation import windows_of
from helpers.steps import ledger
from helpers.stories import (
    candidates,
    distillation,
    epochs,
    grid,
    parameters,
    seeds,
    unjudged_pairs,
)
from helpers.systems.evaluated import over_seeds
from helpers.systems.recipe import recipe
from helpers.systems.reranking_experiment import RerankingExperiment
from helpers.systems.student import Student
from helpers.systems.zero_shot import ZERO_SHOT
from tables import cells, evidence, verdicts_of
from toys import Value, of_values, run_of

TRIAL = RerankingExperiment(None, None)  # of which nothing is known but how many candidates it has
CHOSEN = recipe(warm_up=0)


@pytest.fixture(autouse=True)
def nobody_knows(monkeypatch):
    """No system knows its articles, unless a test says so."""
    monkeypatch.setattr(identity, "knows_articles", lambda *systems_bed_and_candidates: "")


def system(shift=0.0, recall=0.0, **more):
    """A toy whose RR@10 is shifted, and whose recall has a shift of its own."""
    return toys.system(shift, shifts={"R@10": recall}, **more)


def log_of(loss=0.5, evaluation=0.6, **more):
    """A training's log: the losses fall from 0.9 and 0.8 to the given ones."""
    lines = [{"step": 10, "loss": 0.9}, {"step": 10, "eval_loss": 0.8}, {"step": 20, "loss": loss},
             {"step": 20, "eval_loss": evaluation}]
    return {"pairs": 1200, "positives": 300.0, "evaluation_pairs": 80, "steps": 20, "parameters": 22_000_000,
            "trained_parameters": 22_000_000, "log": lines} | more


# ---- training ----

def test_a_curve_takes_the_lines_that_have_it():
    log = log_of()
    assert training.curve(log, "eval_loss").to_dict() == {10: 0.8, 20: 0.6}
    assert training.curve(log, "soft").empty
    assert training.final(log, "loss") == 0.5
    log["log"].append({"step": 20, "eval_loss": 0.55})  # a training's last step is evaluated twice
    assert training.final(log, "eval_loss") == 0.55
    curves = {name: line.to_dict() for name, line in training.loss_curves(log, ", seed 1").items()}
    assert curves == {"training loss, seed 1": {10: 0.9, 20: 0.5}, "evaluation loss, seed 1": {10: 0.8, 20: 0.55}}


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


# ---- parameters ----

def test_four_trainings_differ_in_what_is_adjusted():
    over = parameters.models(CHOSEN, 0.5, 0.3, [1, 2])
    assert {name: [model.seed for model in own] for name, own in over.items()} == {
        parameters.ALL: [1, 2], parameters.HEAD: [1, 2], parameters.POOLER: [1], parameters.NOISY: [1]}
    models = {name: own[0] for name, own in over.items()}
    kept = {name: (model.trainable, model.learning_rate, model.dropout) for name, model in models.items()}
    assert kept == {parameters.ALL: (None, CHOSEN.learning_rate, 0.0), parameters.HEAD: ("head", 0.5, 0.0),
                    parameters.POOLER: ("pooler", 0.5, 0.0), parameters.NOISY: ("head", 0.5, 0.3)}
    assert all(model.new_head for model in models.values())
    assert len({model.model.key for model in models.values()}) == 4


LEARNED = {parameters.HEAD: log_of(evaluation=0.1)}


def adjusted(every=0.5, head=0.25, pooler=0.25, noisy=0.25, base=0.0):
    values = {parameters.ALL: every, parameters.HEAD: head, parameters.POOLER: pooler, parameters.NOISY: noisy, "BM25": base,
              ZERO_SHOT: 0.0}
    return {name: system(shift) for name, shift in values.items()}


@pytest.mark.parametrize("every, head, verdict", [(0.5, 0.25, AGREES), (0.25, 0.5, DISAGREES), (0.25, 0.25, SMALL)])
def test_all_parameters_are_judged_against_the_output_layer(every, head, verdict):
    shown = parameters.claims_table(adjusted(every, head, pooler=0.0, noisy=0.75), LEARNED, TRIAL, False)
    assert verdicts_of(shown) == {"all-parameters-beat-task-specific": verdict, "head-alone-reaches-bm25": DISAGREES}


def test_the_output_layer_alone_reaches_bm25_within_the_margin():
    assert verdicts_of(parameters.claims_table(adjusted(head=0.02), LEARNED, TRIAL, False))["head-alone-reaches-bm25"] == AGREES
    judged = verdicts_of(parameters.claims_table(adjusted(head=0.02), LEARNED, TRIAL, True))  # of a body that had judged pairs
    assert judged == {"all-parameters-beat-task-specific": AGREES, "head-alone-reaches-bm25": UNTESTED}


def test_an_output_layer_that_learned_nothing_carries_no_verdict():
    guessing = {parameters.HEAD: log_of(evaluation=0.56)}  # a quarter of the pairs is relevant: a constant guess has 0.5623
    assert set(verdicts_of(parameters.claims_table(adjusted(), guessing, TRIAL, False)).values()) == {UNTESTED}


@pytest.mark.parametrize("own, every, noise, expected", [
    ({}, 0.2, 0.3, [True, True, True, True]),
    ({"noisy": 0.7}, 0.4, 0.2, [False, False, False, False])])
def test_the_discussion_of_parameters_rests_on_losses_and_ranks(own, every, noise, expected):
    logs = {parameters.ALL: log_of(loss=every), parameters.HEAD: log_of(0.3, 0.25), parameters.NOISY: log_of(evaluation=noise)}
    systems = adjusted(**own) | {ZERO_SHOT: system(0.6)}
    signs = parameters.signs(systems, logs)
    assert list(signs.values()) == expected
    assert all(type(holds) is bool for holds in signs.values())


# ---- epochs ----

@dataclass(frozen=True)
class Trained:
    """Stands for a re-ranker that was trained."""

    seed: int
    logged: str = "{}"
    epochs: int = 6
    stop_early: bool = False
    backbone: str = "packaged"

    @property
    def log(self):
        return Value(json.loads(self.logged))


class Bench:
    """Stands for a trial: a model's seed decides its RR@10, and early stopping adds 0.25."""

    def zero_shot(self, backbone):
        return {ZERO_SHOT: system()}

    def of(self, label, model):
        return replace(system(model.seed / 8 + (0.25 if model.stop_early else 0)), label=label)

    def over_seeds(self, label, models):
        runs = [self.of(label, model) for model in models]
        return over_seeds(label, runs) if len(runs) > 1 else runs[0]

    def baseline(self):
        return replace(system(), label="BM25")


def test_each_length_is_trained_with_each_seed_and_the_longest_is_watched():
    models = epochs.models(CHOSEN, [6, 1, 3], [5, 7], patience=2)
    assert list(models) == ["1", "3", "6"]
    assert [(m.epochs, m.seed, m.patience) for system in models.values() for m in system] == [
        (1, 5, None), (1, 7, None), (3, 5, None), (3, 7, None), (6, 5, 2), (6, 7, 2)]
    assert [system[0].evaluations for system in models.values()] == [3, 9, 18]


def test_every_length_and_the_stopped_longest_are_evaluated():
    systems = epochs.evaluations(Bench(), {"3": [Trained(1), Trained(3)], "6": [Trained(0), Trained(2)]})
    means = {name: system.values["RR@10"].mean() for name, system in systems.items()}
    assert means == {"BM25": 0.25, "3": 0.5, "6": 0.375, epochs.STOPPED: 0.625, ZERO_SHOT: 0.25}
    assert [len(systems[name].seed_means) for name in ("3", "6", epochs.STOPPED)] == [2, 2, 2]


def of_lengths(one=0.5, three=0.25, six=0.0, stopped=0.125):
    values = {"BM25": 0.0, "1": one, "3": three, "6": six, epochs.STOPPED: stopped, ZERO_SHOT: 0.0}
    return {name: system(shift) for name, shift in values.items()}


@pytest.mark.parametrize("one, three, six, verdict", [(0.25, 0.0, 0.125, AGREES), (0.125, 0.5, 0.25, DISAGREES),
                                                      (0.25, 0.0, 0.25, SMALL)])
def test_the_longest_training_is_judged_against_the_shortest(one, three, six, verdict):
    assert verdicts_of(epochs.claims_table(of_lengths(one, three, six), TRIAL)) == {"six-epochs-worse-than-three": verdict}


def test_the_table_of_early_stopping_has_a_row_for_each_of_the_longest_trainings():
    first = json.dumps({"steps": 1200, "stopped_at": None, "best_step": 1100})
    second = json.dumps({"steps": 1200, "stopped_at": 700, "best_step": 500})
    systems = {"3": [Trained(9)], "6": [Trained(1, first), Trained(2, second)]}
    shown = epochs.stopping_table(epochs.stopped_and_not(systems, Bench()))
    assert cells(shown)[1:] == [["seed 1", "1,200", "not at all", "1,100", "5.5", "0.375", "0.625"],
                                ["seed 2", "1,200", "700", "500", "2.5", "0.500", "0.750"]]
    assert "Early stopping in the trainings of 6 epochs" in shown.html


@pytest.mark.parametrize("long, short, stopped, kept, expected", [
    (log_of(0.1, 0.7), log_of(0.2, 0.6), [700, 900], 0.375, [True, True, True, False, True, True]),
    (log_of(0.3, 0.5), log_of(0.2, 0.6), [700, None], 0.0, [False, False, False, False, False, False])])
def test_the_discussion_of_epochs_rests_on_losses_and_on_early_stopping(long, short, stopped, kept, expected):
    longest = [(Trained(seed, json.dumps({"stopped_at": step})), system(0.25), system(kept)) for seed, step in enumerate(stopped)]
    assert list(epochs.signs(of_lengths(stopped=kept), {"1": short, "6": long}, longest).values()) == expected


# ---- seeds ----

def runs(*shifts, **others):
    fixed = {"BM25": system(0.125), ZERO_SHOT: system()}
    return {**fixed, **{str(place): system(shift, **others) for place, shift in enumerate(shifts, start=1)}}


def varied():
    """Three runs of four queries whose components are not zero."""
    tables = {"1": [0.5, 1.0, 0.25, 0.0], "2": [0.25, 0.5, 0.25, 0.0], "3": [0.5, 0.5, 0.0, 0.25]}
    return {"BM25": of_values([0.0, 0.25, 0.0, 0.0]), **{name: of_values(v) for name, v in tables.items()}}


def test_a_model_a_seed_with_a_new_head_and_the_same_held_out_queries():
    models = seeds.models(CHOSEN, [1, 7])
    assert {name: (model.seed, model.held_out_seed, model.new_head) for name, model in models.items()} == {
        "1": (1, None, True), "2": (7, 1, True)}


def test_runs_are_ordered_from_the_best_and_others_left_out():
    assert seeds.ordered(runs(0.0, 0.5, 0.25)) == ["2", "3", "1"]


def losses(systems):
    """Logs of the runs: the later a run, the higher its loss."""
    return {name: log_of(0.5, 0.5 + 0.1 * int(name)) for name in systems if name.isdigit()}


DIFFER, LOSS = "seeds-differ-noticeably", "loss-does-not-predict-ranking"


def test_best_and_worst_are_picked_by_half_of_the_queries_and_judged_by_the_others():
    systems = runs(0.25, 0.5, 0.0)
    shown = seeds.claims_table(systems, losses(systems), TRIAL)
    assert verdicts_of(shown)[DIFFER] == AGREES and "4 queries" in evidence(shown)[DIFFER]
    assert "of just these trained models" in shown.html
    turned = {"1": of_values([0.5, 0.0] * 4), "2": of_values([0.0, 0.5] * 4)}  # best by what picks, worst by the rest
    assert verdicts_of(seeds.claims_table(systems | turned, losses(systems), TRIAL))[DIFFER] == DISAGREES


@pytest.mark.parametrize("first, last, verdict", [(0.25, 0.25, AGREES), (0.5, 0.25, DISAGREES), (0.0, 0.25, AGREES)])
def test_the_runs_of_lowest_and_highest_loss_are_compared(first, last, verdict):
    systems = runs(first, 0.9, last)
    assert verdicts_of(seeds.claims_table(systems, losses(systems), TRIAL))[LOSS] == verdict


def test_nothing_is_concluded_from_models_that_know_their_articles(monkeypatch):
    monkeypatch.setattr(identity, "knows_articles", lambda system, *others: "it knows" if system.label == "2" else "")
    systems = {name: replace(own, label=name) for name, own in runs(0.25, 0.5, 0.0).items()}
    shown = seeds.claims_table(systems, losses(systems), TRIAL)  # the best is run 2; losses are lowest of 1, highest of 3
    assert verdicts_of(shown) == {DIFFER: UNTESTED, LOSS: DISAGREES}
    assert "it knows" in shown.html


def test_one_seed_is_not_compared_with_itself():
    assert verdicts_of(seeds.claims_table(runs(0.25), losses(runs(0.25)), TRIAL)) == {DIFFER: UNTESTED, LOSS: UNTESTED}


def test_the_discussion_of_seeds_rests_on_the_components():
    far = {str(run): of_values([value] * 8) for run, value in enumerate((0.2, 0.5, 0.8), start=1)}
    near = {str(run): of_values([0.0, 0.1 * run, 1.0, 1.0 - 0.1 * run] * 2) for run in (1, 2)}
    for systems, holds in ((far, False), (near, True)):
        signs = seeds.signs(systems)
        assert list(signs.values()) == [not holds, holds, holds, holds, holds]
        assert all(type(own) is bool for own in signs.values())
    assert seeds.signs(runs(0.25)) == {}


def test_the_components_are_those_of_the_runs_alone():
    parts = seeds.variance_components(varied())
    assert (parts.seeds, parts.queries) == (3, 4)
    assert seeds.variance_components(runs(0.25)) is None


def test_the_spread_is_shown_with_its_text():
    html = seeds.spread_figure(runs(0.25, 0.0)).html
    assert "BM25 0.375. run 1: 0.500 [" in html  # BM25 is the wave of mean 0.25 and 0.125 more
    assert "; run 2: 0.250 [" in html
    assert "one deviation of runs" in html
    assert "one deviation of runs" not in seeds.spread_figure(runs(0.25)).html
    assert "Published: run 1: 0.571, run 2: 0.560, run 3: 0.564, run 4: 0.565." in html


def test_every_pair_of_runs_is_compared():
    rows = cells(seeds.pairs_table(varied()))[1:]
    assert [row[0] for row in rows] == ["run 1 and run 3", "run 1 and run 2", "run 3 and run 2"]
    # 1 and 3 differ by 0, 0.5, 0.25, -0.25: mean 0.125, variance 0.3125 / 3, so 7.849 x 6.667 = 52.3
    # 1 and 2 by 0.25, 0.5, 0, 0: mean 0.1875, variance (0.0039 + 0.0977 + 2 x 0.0352) / 3, so 7.849 x 1.630 = 12.8
    # 3 and 2 by 0.25, 0, -0.25, 0.25: mean 0.0625, variance 0.1719 / 3, so 7.849 x 14.67 = 115.1
    assert [row[1][:6] for row in rows] == ["+0.125", "+0.188", "+0.062"]
    assert [row[3] for row in rows] == ["53", "13", "116"]
    assert [row[2] for row in rows] == ["0.750", "0.500", "1.000"]
    assert cells(seeds.pairs_table(runs(0.25, 0.25)))[1][3] == "no difference"


# ---- grid ----

GRID = {name: model for name, model in grid.models(CHOSEN, [1e-4, 3e-4], [1, 3], [2, 4]).items()
        if name in ("0.0001, 1 epoch, batch 16", "0.0003, 1 epoch, batch 16", "0.0001, 3 epochs, batch 32")}
A, C, B = GRID


def searched(losses=(0.5, 0.4, 0.6), shifts=(0.25, 0.125, 0.0)):
    points = (A, B, C)[:len(losses)]
    logs = {point: log_of(evaluation=loss) for point, loss in zip(points, losses, strict=True)}
    systems = {point: system(shift) for point, shift in zip(points, shifts, strict=True)}
    return grid.results({point: GRID[point] for point in points}, logs, systems), systems


def test_the_grid_is_every_combination():
    models = grid.models(CHOSEN, [1e-4, 3e-4], [1, 3], [2, 4])
    assert len(models) == 8
    for name, model in models.items():
        assert name == f"{model.learning_rate:g}, {model.epochs} epoch{'s'[model.epochs == 1:]}, batch {8 * model.batch_size}"
    assert len({model.training.key for model in models.values()}) == 8


@pytest.mark.parametrize("losses, shifts, expected", [
    ((0.4, 0.6, 0.5), (0.0, 0.25, 0.125), [True, False, False]), ((0.6, 0.5, 0.4), (0.0, 0.25, 0.25), [False, True, True])])
def test_the_discussion_of_the_grid_rests_on_loss_and_ranking(losses, shifts, expected):
    signs = grid.signs(*searched(losses, shifts))
    assert list(signs.values()) == expected


def test_results_are_a_row_a_setting():
    table, _ = searched()
    assert list(table.index) == [A, B, C]
    assert table.loc[[B]].to_numpy().tolist() == [[3e-4, "1 epoch, batch 16", 0.4, 0.375]]
    assert table.columns.tolist() == ["learning rate", "epochs and batch size", "evaluation loss", "RR@10"]


def test_the_choice_stands_beside_the_studys():
    table, systems = searched()
    rows = cells(grid.choice_table(GRID, table, systems))[1:]
    assert rows == [["Learning Rate", "1e-06, 5e-06, 1e-05, 5e-05", "5e-06", "0.0001, 0.0003", "0.0003"],
                    ["Epochs", "3, 4", "3", "1, 3", "1"], ["Batch Size", "16, 32, 64", "16", "16, 32", "16"]]


# ---- candidates and distillation ----

def timed(rates):
    """A timing of 4 queries in three rounds: retrieval takes no time, and each size has its queries a minute."""
    sizes = {size: {"parameters": 1, "seconds": [240 / value for value in values]} for size, values in rates.items()}
    return {"queries": 4, "windows": 9, "device": "cpu", "retrieval": [0.0, 0.0, 0.0], "sizes": sizes}


@pytest.mark.parametrize("loss, learned", [(0.57, False), (0.54, False), (0.53, True), (0.1, True)])
def test_a_constant_guess_is_no_learning(loss, learned):
    # a quarter of the pairs is relevant: -(ln(1/4) / 4 + 3 ln(3/4) / 4) = 0.5623, and 0.95 of it 0.5342
    assert training.untrained(log_of(evaluation=loss)) != learned


WINDOWS = run_of(q1={"a#0": 0.1, "a#1": 0.3, "b#0": 0.9, "c#1#0": 0.5}, q2={"b#0": 0.6, "a#0": 0.7, "b#1": 0.2})
RUN = run_of(q1=["a", "b", "c#1"], q2="ba")


@pytest.mark.parametrize("depth, kept", [(1, [0, 1, 4, 6]), (2, [0, 1, 2, 4, 5, 6]), (3, range(7)), (99, range(7))])
def test_windows_are_kept_of_the_first_candidates_of_each_query(depth, kept):
    result = windows_of(WINDOWS, RUN, depth)
    assert result.equals(WINDOWS.iloc[kept].reset_index(drop=True))


@pytest.mark.parametrize("depth, nearest", [(20, 20), (19, 20), (1, 10), (999, 40), (15, 10), (30, 20), (31, 40)])
def test_the_nearest_number_of_candidates_is_the_smaller_of_two(depth, nearest):
    assert candidates.nearest(dict.fromkeys([40, 10, 20]), depth) == nearest


class Ranking(RerankingExperiment):
    """A trial that scores windows itself, and has the recall of the first stage at every depth."""

    def __init__(self):
        super().__init__(toys.Bed(q1="b", q2="b"), Value(RUN), aggregation="max", measures=("RR@10", "R@10"))
        object.__setattr__(self, "depths", [])

    def scores(self, bed, run, depth):
        self.depths.append(depth)
        return Value(WINDOWS, manifest={"seconds": 14.0})


def test_all_depths_are_taken_from_one_scoring_of_the_largest():
    trial = Ranking()
    systems = candidates.evaluations(trial, [trial], [3, 1, 2])
    assert trial.depths == [3]
    assert {depth: system.label for depth, system in systems.items()} == {1: "R = 1", 2: "R = 2", 3: "R = 3"}
    ranked = [system.run["doc_id"].tolist() for system in systems.values()]
    assert ranked == [["a", "b"], ["b", "a", "a", "b"], ["b", "c#1", "a", "a", "b"]]
    assert candidates.means(systems, "RR@10").to_dict() == {1: 0.5, 2: 0.75, 3: 0.75}
    assert candidates.means(systems, "RR@10").name == "RR@10"


def test_the_curves_have_a_slider_and_what_the_thesis_prints():
    trial = Ranking()
    html = candidates.figure(candidates.evaluations(trial, [trial], [1, 2]), trial).html
    assert "R@10: 0.500 at 1, " in html and "published: 0.710 at 10, 0.765 at 20" in html
    assert html.count("nr-slider") == 1 and "ceiling of R@10" in html


def test_the_table_of_depths_has_ceiling_windows_and_seconds():
    trial = Ranking()
    systems = candidates.evaluations(trial, [trial], [1, 2])
    rows = cells(candidates.table(trial, systems))[1:]
    assert [row[0] for row in rows] == ["R = 1", "R = 2"]
    assert [row[1][:5] for row in rows] == ["0.500", "0.750"]
    # BM25 has b first for one query, second for the other; 4 and 6 of the 7 windows, which took 14 s, are read for two queries
    assert [row[3:] for row in rows] == [["0.500", "2", "4.0 s"], ["1.000", "3", "6.0 s"]]


def depths(ten=(0.0, 0.0), twenty=(0.25, 0.0), hundred=(0.25, 0.5)):
    """Systems by R, each of RR@10 and R@10."""
    return {depth: system(mean, recall=recall) for depth, (mean, recall) in {10: ten, 20: twenty, 100: hundred}.items()}


RAISE, NOT_RAISE = "more-candidates-raise-recall", "more-candidates-do-not-raise-mrr"


@pytest.mark.parametrize("twenty, hundred, verdicts", [((0.25, 0.0), (0.25, 0.5), (AGREES, AGREES)),
                                                       ((0.0, 0.5), (0.5, 0.25), (DISAGREES, DISAGREES)),
                                                       ((0.5, 0.25), (0.0, 0.25), (SMALL, AGREES))])
def test_recall_and_rank_are_judged_from_twenty_on(twenty, hundred, verdicts):
    middle = tuple(np.mean([twenty, hundred], axis=0))
    systems = depths(ten=(0.9, 0.9), twenty=twenty, hundred=hundred) | {50: system(middle[0], recall=middle[1])}
    assert verdicts_of(candidates.claims_table(systems, system(), TRIAL)) == dict(zip((RAISE, NOT_RAISE), verdicts, strict=True))


def test_the_discussion_of_candidates_rests_on_means_and_on_the_ceiling():
    trial = Ranking()
    rising = {depth: system(mean, recall=mean) for depth, mean in {1: 0.0, 2: 0.5, 4: 0.6}.items()}
    assert list(candidates.signs(rising, trial).values()) == [True, True, False]
    late = {depth: system(mean, recall=0.75) for depth, mean in {1: 0.0, 2: 0.1, 4: 0.6}.items()}
    signs = candidates.signs(late, trial)
    assert list(signs.values()) == [False, False, True]
    assert all(type(holds) is bool for holds in signs.values())


# ---- distillation ----

WHOLE = Student(recipe(), layers=(0, 1, 2))


def test_teacher_students_and_ablations_are_named():
    models = distillation.models(recipe(), "packaged:0,1,2", ["soft", "hidden", "attention", "hard"])
    assert list(models) == [distillation.TEACHER, distillation.PLAIN, distillation.DISTILLED, distillation.HARD_ONLY,
                            "distilled without the teacher's answers", "distilled without hidden states",
                            "distilled without attention", "distilled without judgments"]
    assert models[distillation.TEACHER] == recipe()
    plain = models[distillation.PLAIN]
    assert {(model.backbone, model.taught_by) for model in (plain, plain.start)} == {("packaged:0,1,2", "packaged")}
    assert models[distillation.DISTILLED] == WHOLE
    weights = {name: (model.hard, model.soft, model.hidden, model.attention) for name, model in models.items()
               if isinstance(model, Student)}
    assert list(weights.values()) == [
        (1, 1, 1, 0.02), (1, 0, 0, 0), (1, 0, 1, 0.02), (1, 1, 0, 0.02), (1, 1, 1, 0), (0, 1, 1, 0.02)]
    assert list(distillation.models(recipe(), "packaged:0,1,2", []).items()) == list(models.items())[:4]


def taught(teacher=0.25, plain=0.0, distilled=0.375, hard=0.125, **ablations):
    values = {"BM25": 0.0, distillation.TEACHER: teacher, distillation.PLAIN: plain, distillation.DISTILLED: distilled,
              distillation.HARD_ONLY: hard, ZERO_SHOT: 0.0, **ablations}
    return {name: system(shift) for name, shift in values.items()}


TRAINED = (distillation.TEACHER, distillation.DISTILLED, distillation.HARD_ONLY)
TAUGHT, BEATS = "distilled-students-beat-plain-students", "distilled-student-beats-teacher"
NEAR = "small-student-near-its-teacher"


@pytest.mark.parametrize("name, hard, distilled, verdicts", [
    ("L6-H768", 0.0, 0.375, {TAUGHT: AGREES, BEATS: AGREES, NEAR: UNTESTED}),
    ("L6-H768", 0.25, 0.125, {TAUGHT: DISAGREES, BEATS: DISAGREES, NEAR: UNTESTED}),
    ("L3-H384", 0.25, 0.25, {TAUGHT: SMALL, BEATS: UNTESTED, NEAR: AGREES}),
    ("L3-H384", 0.0, 0.125, {TAUGHT: AGREES, BEATS: UNTESTED, NEAR: DISAGREES}),
    ("L1-H384", 0.0, 0.125, {TAUGHT: AGREES, BEATS: UNTESTED, NEAR: UNTESTED})])
def test_the_distilled_student_is_judged_by_its_own_start_and_what_the_study_says_of_its_shape(name, hard, distilled, verdicts):
    systems, logs = taught(hard=hard, distilled=distilled), dict.fromkeys(TRAINED, log_of(0.3, 0.4))
    assert verdicts_of(distillation.claims_table(systems, logs, name, TRIAL)) == verdicts


@pytest.mark.parametrize("warmed, control, verdict", [(0.5, 0.25, AGREES), (0.25, 0.5, DISAGREES)])
def test_a_student_that_judges_pairs_already_carries_the_verdicts(warmed, control, verdict):
    own = {distillation.WARMED: warmed, distillation.CONTROL: control}
    systems = taught(hard=0.5, distilled=0.25, **own)
    logs = dict.fromkeys([*TRAINED, *own], log_of(0.3, 0.4))
    assert verdicts_of(distillation.claims_table(systems, logs, "L3-H384", TRIAL))[TAUGHT] == verdict
    header, taught_or_not, *others = cells(distillation.teaching(systems, ["packaged:0,1,2"]))
    assert taught_or_not[3][:6] == f"{'+' if warmed > control else '−'}0.250"
    assert len(others) == 2
    assert "no such student" in distillation.teaching(taught(), ["packaged:0,1,2"]).markdown


def test_a_student_of_another_shape_is_compared_under_its_own_name():
    narrow = {distillation.called(name, "L6-H256"): value for name, value in
              ((distillation.WARMED, 0.75), (distillation.CONTROL, 0.5))}
    systems = taught(teacher=0.25, **{distillation.WARMED: 0.5, distillation.CONTROL: 0.5}, **narrow)
    specs = ["packaged:0,1,2", "packaged/256"]
    rows = {row[0]: row[3][:6] for row in cells(distillation.teaching(systems, specs))[1:]}
    assert list(rows) == ["taught, and without a teacher", "taught, and the teacher", "without a teacher, and the teacher",
                          "L6-H256: taught, and without a teacher", "L6-H256: taught, and the teacher",
                          "L6-H256: without a teacher, and the teacher"]
    assert list(rows.values()) == ["+0.000", "+0.250", "+0.250", "+0.250", "+0.500", "+0.250"]
    assert list(distillation.narrower_signs(systems, specs).values()) == [True, True]
    low = systems | {distillation.called(distillation.WARMED, "L6-H256"): system(0.0)}
    assert list(distillation.narrower_signs(low, specs).values()) == [False, False]
    assert distillation.narrower_signs(systems, specs[:1]) == distillation.narrower_signs(taught(), specs) == {}


def test_a_narrower_student_learns_all_but_attention_from_a_warm_up_of_its_own():
    models = distillation.warmed(recipe(), ["packaged:0,1,2", "packaged/256"], [1, 2])
    students, controls = (models[distillation.called(name, "L6-H256")] for name in (distillation.WARMED, distillation.CONTROL))
    assert controls == [distillation.judgments_alone(student) for student in students]
    assert [(student.start.width, student.attention, student.seed) for student in students] == [(256, 0.0, 1), (256, 0.0, 2)]
    assert all(student.hidden and student.soft for student in students)


def test_students_with_a_warm_up_of_their_own_have_controls_that_differ_in_the_teacher_alone():
    students, controls = distillation.warmed(recipe(), ["packaged:0,1,2"], [1, 2]).values()
    assert controls == [replace(student, soft=0.0, hidden=0.0, attention=0.0) for student in students]
    assert [(student.start.backbone, student.seed, student.learning_rate) for student in students] == [
        ("packaged:0,1,2", 1, 5e-5), ("packaged:0,1,2", 2, 5e-5)]
    assert distillation.warmed(recipe(warm_up=0), ["packaged:0,1,2"], [1]) == {}


@pytest.mark.parametrize("idle, near", [(distillation.DISTILLED, UNTESTED), (distillation.HARD_ONLY, AGREES)])
def test_a_student_that_learned_nothing_gets_no_verdict(idle, near):
    logs = dict.fromkeys(TRAINED, log_of(0.3, 0.4)) | {idle: log_of(0.5, 0.56)}
    systems = taught(teacher=0.25, distilled=0.25)
    assert verdicts_of(distillation.claims_table(systems, logs, "L3-H384", TRIAL)) == {
        TAUGHT: UNTESTED, BEATS: UNTESTED, NEAR: near}


@pytest.mark.parametrize("values, loss, expected", [
    ({"distilled without attention": 0.125}, 0.56, [False, False, False, True]),
    ({"teacher": 0.5, "plain": 0.4, "distilled without hidden states": 0.375}, 0.3, [True, True, True, False])])
def test_the_discussion_of_distillation_rests_on_the_order_of_the_students(values, loss, expected):
    logs = {distillation.HARD_ONLY: log_of(0.5, loss)}
    assert list(distillation.signs(taught(**values), logs).values()) == expected


def test_answers_on_unjudged_pairs_and_their_controls_differ_in_one_thing_each():
    teacher = recipe()
    trained = unjudged_pairs.models(teacher, "packaged:0,1,2", 7_000, [1, 2])
    answered, scored, judged = trained.values()
    start = teacher.on("packaged:0,1,2").start
    assert [(own.seed, own.held_out_seed, own.start, own.learning_rate) for own in answered] == [
        (1, None, start, 5e-5), (2, 1, start, 5e-5)]
    assert scored == [replace(own, reranker=None, temperature=0.05) for own in answered]
    assert answered[0].bed.query_step.key != start.bed.query_step.key
    assert {own.taught_by for own in (start, answered[0])} == {"packaged"}
    assert judged == [replace(control, start=own) for control, own in zip(
        distillation.warmed(teacher, ["packaged:0,1,2"], [1, 2])[distillation.CONTROL], answered, strict=True)]
    assert unjudged_pairs.models(teacher, "packaged:0,1,2", 0, [1]) == {}
    assert unjudged_pairs.models(recipe(warm_up=0), "packaged:0,1,2", 7_000, [1]) == {}


UNJUDGED = {unjudged_pairs.ANSWERED: 0.25, unjudged_pairs.SCORED: 0.125, unjudged_pairs.THEN_JUDGED: 0.5}


def test_what_answers_on_unjudged_pairs_add_is_compared_with_scores_and_judgments():
    systems = taught(**{distillation.WARMED: 0.25, distillation.CONTROL: 0.375, **UNJUDGED})
    _, *rows = cells(unjudged_pairs.teaching(systems))
    assert [row[3][:6] for row in rows] == ["+0.125", "−0.125", "+0.125", "+0.000", "+0.250"]
    assert unjudged_pairs.teaching(taught()).markdown == ""
    assert unjudged_pairs.table(taught(), {}, {}).markdown == ""
    assert "-p unjudged" in unjudged_pairs.losses({}).markdown


def test_a_teachers_answers_are_told_from_the_encoders_scores():
    assert unjudged_pairs.signs(taught()) == {}
    cases = [taught(teacher=best, **UNJUDGED | {unjudged_pairs.SCORED: scored, distillation.CONTROL: own})
             for best, scored, own in ((0.5, 0.125, 0.0), (0.25, 0.25, 0.375))]
    signs = [list(unjudged_pairs.signs(systems).values()) for systems in cases]
    assert signs == [[True, True, True, True], [False, False, False, False]]


def test_the_ablations_are_compared_with_all_four_losses():
    systems = taught(less=0.375)
    trained = [name for name in systems if name not in ("BM25", ZERO_SHOT)]
    logs = dict.fromkeys(trained, log_of(0.3, 0.4)) | {distillation.PLAIN: log_of(0.3, 0.45)}
    header, *rows = cells(distillation.ablation_table(systems, logs))
    rows = {row[0]: row[1:] for row in rows}
    assert list(rows) == [distillation.PLAIN, distillation.DISTILLED, distillation.HARD_ONLY, "less"]
    assert [row[0] for row in rows.values()] == ["0.450", "0.400", "0.400", "0.400"]
    assert [row[1][:5] for row in rows.values()] == ["0.250", "0.625", "0.375", "0.625"]
    # p 2 / 256 and 1
    assert [row[2:] for row in rows.values()] == [["−0.375 [−0.375, −0.375]", "0.008"], ["", ""],
                                                  ["−0.250 [−0.250, −0.250]", "0.008"], ["+0.000 [+0.000, +0.000]", "1.000"]]
    assert header[-2:] == ["compared with all four losses", "p"]


def test_sizes_and_speed_up_stand_beside_the_studys():
    shapes = {distillation.TEACHER: "6/384/12", distillation.DISTILLED: "3/384/12"}
    speed = timed({"6/384/12": [10.0, 20.0, 30.0], "3/384/12": [50.0, 50.0, 50.0]})
    logs = {distillation.TEACHER: log_of(), distillation.DISTILLED: log_of(parameters=17_000_000)}
    rows = cells(distillation.size_table(logs, speed, shapes))[1:]
    assert rows == [["Teacher", "109 million", "22.0 million", "0.41", "20.0 10.0 to 30.0", "1.0×", "1.0×"],
                    [distillation.DISTILLED, "17 million", "17.0 million", "5.73", "50.0 50.0 to 50.0", "14.0×", "2.5×"]]


def test_the_parts_of_the_loss_are_relative_to_their_first_values():
    log = {"log": [{"step": 1, "loss": 9.0, "hard": 0.5, "soft": 4.0}, {"step": 1, "eval_loss": 0.7},
                   {"step": 2, "loss": 8.0, "hard": 0.25, "soft": 5.0}]}
    lines = {name: line.to_dict() for name, line in distillation.part_curves(log).items()}
    assert lines == {"judgments": {1: 1.0, 2: 0.5}, "the teacher's answers": {1: 1.0, 2: 1.25}}


# ---- findings ----

@pytest.mark.parametrize("finding, words", [
    (lambda: seeds.finding(runs(0.25)), ["one seed"]),
    (lambda: seeds.finding(varied()), ["the study's four 0.011", "The choice of", "a power of 80%"]),
    # ranks 2, 1, 3 of the losses and 3, 2, 1 of RR@10: Spearman's correlation is 1 - 6 x 6 / 24
    (lambda: grid.finding(*searched(losses=(0.5, 0.4, 0.6))), ["place 2 of 3.", "is 0.125 ahead", "is −0.50"]),
    (lambda: grid.finding(*searched(losses=(0.4, 0.5, 0.6))), ["place 1 of 3. Over", "is −1.00"]),
    (lambda: grid.finding(*searched(losses=(0.5, 0.4), shifts=(0.25, 0.125))), ["Fewer than three points"]),
    (lambda: grid.finding(*searched(shifts=(0.0, 0.0, 0.0))), ["all rank alike"])])
def test_a_finding_states_the_differences_of_its_systems(finding, words):
    text = finding().markdown
    assert [word for word in words if word not in text] == []
