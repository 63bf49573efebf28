"""A system that is judged by its rank correlation with the truth over pairs, wherever an evaluation may stand."""

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from helpers.evaluation.significance import Interval, Paired
from helpers.steps import Step
from helpers.systems.evaluated import Evaluation

MEASURE = "spearman"


@dataclass(frozen=True)
class Correlation(Evaluation):
    """One of the systems of `rank_correlations`, wherever an `Evaluation` may stand; its one measure is `spearman`.

    Args:
        facts: the step's value.
    """

    facts: dict[str, Any] = field(default_factory=dict, repr=False)

    def mean(self, measure: str = MEASURE) -> Interval:
        """The mean rho over seeds, and its 95 % interval over pairs."""
        own = self.facts["systems"][self.label]
        return Interval(own["mean"], own["low"], own["high"])

    def against(self, baseline: Evaluation, measure: str = MEASURE) -> Paired:
        """The paired comparison with another system of the same step.

        Raises:
            ValueError: for any other evaluation.
        """
        if not isinstance(baseline, Correlation) or baseline.facts is not self.facts:
            raise ValueError("two systems of one step are wanted")
        if baseline.label == self.label:
            return Paired(Interval(0.0, 0.0, 0.0), 1.0, 1.0, self.facts["pairs"], "pairs")
        own = self.facts["against"][self.label][baseline.label]
        return Paired(Interval(own["difference"], own["low"], own["high"]), own["p_t"], own["p_permutation"], self.facts["pairs"],
                      "pairs")


def correlations(source: Step) -> dict[str, Correlation]:
    """The systems of a step of `rank_correlations`, by name."""
    facts = source.value()
    return {name: Correlation(name, pd.DataFrame(), pd.DataFrame(), source, pd.DataFrame({MEASURE: own["seeds"]}), "pairs",
                              facts=facts) for name, own in facts["systems"].items()}
