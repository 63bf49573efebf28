"""An evaluation: a labelled system with its per-query values and the step that they came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from helpers.significance import Interval, Paired, mean_interval, paired
from helpers.steps import Step
from helpers.testbed import Testbed


@dataclass(frozen=True)
class Evaluation:
    """Per-query values of one system.

    Args:
        label: as the tables name it, `BERT-Mean`.
        run: the ranked run.
        values: a row a query, a column a measure.
        source: the step whose value was measured: the provenance of every number.
    """

    label: str
    run: pd.DataFrame
    values: pd.DataFrame
    source: Step

    def mean(self, measure: str) -> Interval:
        """Mean and 95 % bootstrap interval over queries."""
        return mean_interval(self.values[measure])

    def against(self, baseline: "Evaluation", measure: str) -> Paired:
        """The paired comparison with another system on the same queries."""
        return paired(self.values[measure], baseline.values[measure].loc[self.values.index])


def evaluate(label: str, run: pd.DataFrame, bed: Testbed, measures: Sequence[str], source: Step) -> Evaluation:
    """Measure a run on a testbed."""
    return Evaluation(label, run, bed.per_query(run, list(measures)), source)


def values_of(systems: Mapping[str, Evaluation], names: Sequence[str], measure: str) -> pd.DataFrame:
    """One measure of several systems: a row a query, a column a system."""
    return pd.DataFrame({name: systems[name].values[measure] for name in names})
