"""The third stage: what its inferences are, and what its model minds."""

from types import SimpleNamespace

import pandas as pd
import pytest

from helpers.systems.pairwise_reranker import ThirdStage, duobert, inferences
from helpers.systems.recipe import recipe
from helpers.systems.reranking_experiment import RerankingExperiment
from toys import Value, run_of


def test_a_query_costs_what_is_read_alone_and_all_ordered_pairs():
    assert [inferences(20, first) for first in (1, 2, 10)] == [20, 22, 110]
    assert [inferences(20, 10, some) for some in (3, 9, 30)] == [50, 110, 110]


def test_probabilities_are_averaged_by_the_relevance_of_both_texts_over_all_models(bed):
    """Of q1 the document d1 is relevant."""
    columns = ["query_id", "doc_id", "other_id", "probability"]
    models = [SimpleNamespace(probabilities=lambda bed, run, most, found=found: Value(pd.DataFrame(found, columns=columns)))
              for found in ([("q1", "d2", "d1", 0.25), ("q1", "d1", "d2", 0.5), ("q1", "d2", "d3", 0.6)],
                            [("q1", "d2", "d1", 0.75), ("q1", "d1", "d2", 1.0)])]
    trial = RerankingExperiment(bed, Value(run_of(q1=["d2", "d1", "d3"])))
    assert ThirdStage(trial, trial.run, models, 3).by_relevance() == {
        (False, False): pytest.approx(0.6), (False, True): pytest.approx(0.5), (True, False): pytest.approx(0.75)}


def test_the_authors_kind_of_pairs_holds_a_relevant_text():
    mono = recipe("almanac/4", warm_up=0)
    assert (duobert(mono, among_others=True, size=5).losses, duobert(mono).losses) == ({"soft_bce": 1.0}, {"duo": 1.0})
