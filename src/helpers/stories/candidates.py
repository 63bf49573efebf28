"""What other chapters still take from *Candidates*."""

from collections.abc import Mapping, Sequence

import pandas as pd

from helpers.systems.evaluated import Evaluation
from helpers.systems.reranking_experiment import RerankingExperiment, Scorer

STUDIED = 20  # the number of candidates in all of the study's other experiments


def evaluations(trial: RerankingExperiment, models: Sequence[Scorer], depths: Sequence[int]) -> dict[int, Evaluation]:
    """See `RerankingExperiment.at_depths`."""
    return trial.at_depths(models, depths)


def nearest(systems: Mapping[int, Evaluation], depth: int) -> int:
    """The number of candidates among those measured that is closest to `depth`, the smaller of two."""
    return min(systems, key=lambda known: (abs(known - depth), known))


def means(systems: Mapping[int, Evaluation], measure: str) -> pd.Series:
    """One measure over R."""
    return pd.Series({depth: system.mean(measure).mean for depth, system in systems.items()}, name=measure)
