"""Two re-rankers as one: scores by hand, and what the command line takes by default."""

import pandas as pd
import pytest

from helpers.retrieval import fusion
from helpers.systems.pipeline import Pipeline, SummedReranker
from helpers.systems.rerankers import WarmUp
from helpers.systems.zero_shot import ZeroShotReranker
from press.search_command import RERANKERS


class Scores:
    """A re-ranker that gives one query's two windows these scores."""

    def __init__(self, first, second):
        self.run = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["d#0", "d#1"], "score": [first, second]})

    def scores(self, bed, run, candidates):
        return self.run


@pytest.mark.parametrize("weight, first, second", [(0.5, 0.0, 0.0), (0.75, 0.5, -0.5), (1.0, 1.0, -1.0)])
def test_the_scores_are_standardised_and_weighted(monkeypatch, weight, first, second):
    """(4, 2) and (0.1, 0.3) are (1, -1) and (-1, 1) in standard deviations."""
    monkeypatch.setattr("helpers.systems.pipeline.z_scored", fusion.z_scored.definition.function)
    found = SummedReranker(Scores(4.0, 2.0), Scores(0.1, 0.3), weight).scores(None, None, 20).set_index("doc_id")["score"]
    assert found["d#0"] == pytest.approx(first)
    assert found["d#1"] == pytest.approx(second)


def test_the_pipeline_and_the_command_line_sum_the_base_and_its_teacher():
    default = next(iter(RERANKERS.values()))()
    assert default == Pipeline().model == SummedReranker()
    assert (default.first, default.second, default.weight) == (WarmUp(), ZeroShotReranker(), 0.5)


@pytest.mark.slow
def test_bread_turns_brown_by_browning(store):
    (best,) = Pipeline(aggregation="max", candidates=20).search("why does bread turn brown", k=1).itertuples()
    assert best.title == "Browning, Braising and Sous Vide"
