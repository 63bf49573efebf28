"""A system that is judged by its rank correlation with the truth over pairs, wherever an evaluation may stand."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from helpers.evaluation.draws import SEED, student
from helpers.evaluation.hierarchical import own_noise
from helpers.evaluation.significance import PERMUTATIONS, Interval, Paired, intervals, training_draws
from helpers.steps import Step
from helpers.systems.evaluated import Evaluation

MEASURE = "spearman"


@dataclass(frozen=True)
class Correlation(Evaluation):
    """One of the systems of `rank_correlations`, wherever an `Evaluation` may stand; its one measure is `spearman`."""

    facts: dict[str, Any] = field(default_factory=dict, repr=False)  # the step's value

    @property
    def seed_means(self) -> pd.DataFrame:
        """A row a seed with its rho."""
        return pd.DataFrame({MEASURE: self.facts["systems"][self.label]["seeds"]})

    def mean(self, measure: str = MEASURE) -> Interval:
        """The mean rho over seeds, and its 95 % interval over pairs."""
        own = self.facts["systems"][self.label]
        return Interval(own["mean"], own["low"], own["high"])

    def against(self, baseline: Evaluation, measure: str = MEASURE, drawn: bool = True) -> Paired:
        """The paired comparison with another system of the same step; ValueError for any other evaluation."""
        if not isinstance(baseline, Correlation) or baseline.facts is not self.facts:
            raise ValueError("two systems of one step are wanted")
        if baseline.label == self.label:
            none = Interval(0.0, 0.0, 0.0)
            return Paired(none, none, 1.0, 1.0, self.facts["pairs"], 0.0, "pairs")
        ours, theirs = (self.facts["systems"][system.label]["seeds"] for system in (self, baseline))
        return widened(self.facts["against"][self.label][baseline.label], np.array(ours), np.array(theirs), self.facts["pairs"])


def widened(own: dict[str, float], ours: np.ndarray, theirs: np.ndarray, pairs: int) -> Paired:
    """The comparison that the step made over pairs, with the noise of its seeds: what it made (`own`) holds for these trained
    models; rho of each seed is that of ours and of theirs."""
    error, mean = (own["high"] - own["low"]) / (2 * special.ndtri(0.975)), own["difference"]
    noise = own_noise(ours, theirs)
    draws = error * student(math.inf, PERMUTATIONS, SEED) + training_draws(noise, 1, PERMUTATIONS, SEED + 1)[:, 0]
    p = float((np.abs(draws) >= abs(mean)).mean()) if noise.variance else 0.0
    return Paired(*intervals(mean, draws), own["p_t"], max(p, own["p_permutation"]), pairs,
                  float(np.hypot(error, np.sqrt(noise.variance))), "pairs", noise)


def correlations(source: Step) -> dict[str, Correlation]:
    """The systems of a step of `rank_correlations`, by name."""
    facts = source.value()
    return {name: Correlation(name, pd.DataFrame(), pd.DataFrame(), source, unit="pairs", facts=facts)
            for name in facts["systems"]}
