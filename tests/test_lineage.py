"""Which trainings lie behind a system of the book."""

from dataclasses import replace

from helpers.systems.evaluated import Evaluation, pretrainings, trainings
from helpers.systems.recipe import recipe
from helpers.systems.reranking_experiment import RerankingExperiment
from helpers.systems.testbed import Testbed


def scored(seed, **settings):
    trial = RerankingExperiment.of_bm25(Testbed("almanac", "passage", queries=4), candidates=5)
    return trial, replace(recipe(warm_up=0), seed=seed, **settings).scores(trial.bed, trial.run, 5)


def test_a_model_rests_on_its_training_and_bm25_on_none():
    trial, one = scored(1)
    assert len(trainings(one)) == 1
    assert trainings(one) != trainings(scored(2)[1])
    assert trainings(trial.run) == pretrainings(one) == frozenset()
    assert trainings(object()) == frozenset()


def test_a_start_that_is_not_trained_further_is_no_training():
    assert trainings(scored(1, epochs=0)[1]) == frozenset()


def test_what_two_systems_share_cancels():
    def system(step):
        return Evaluation("x", None, None, step).trainings()

    trial, one = scored(1)
    assert system(one) == system(scored(1)[1])
    lead = Evaluation("x", None, None, one, also=(scored(2)[1], trial.run))
    assert len(lead.trainings()[0]) == 2
