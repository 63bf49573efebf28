"""An evaluation: a labelled system with its per-query values and the step that they came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from helpers.evaluation.significance import Interval, Paired, Unpaired, mean_interval, paired, unpaired
from helpers.steps import Step
from helpers.systems.testbed import Testbed


@dataclass(frozen=True)
class Evaluation:
    """Per-query values of one system.

    Args:
        label: as the tables name it, `BERT-Mean`.
        run: the ranked run.
        values: a row a query, a column a measure.
        source: the step whose value was measured: the provenance of every number.
        seed_means: for a system averaged over seeds, a row a seed with its means, a column a measure; else None.
        unit: what the rows of the values are.
        name: its name among all systems of a page, where another has the same label.
    """

    label: str
    run: pd.DataFrame
    values: pd.DataFrame
    source: Step
    seed_means: pd.DataFrame | None = None
    unit: str = "queries"
    name: str = ""

    def mean(self, measure: str) -> Interval:
        """Mean and 95 % bootstrap interval over queries."""
        return mean_interval(self.values[measure])

    def against(self, baseline: "Evaluation", measure: str) -> Paired:
        """The paired comparison with another system on the same queries."""
        return replace(paired(self.values[measure], baseline.values[measure].loc[self.values.index]), unit=self.unit)

    def on(self, queries: Sequence[str]) -> "Evaluation":
        """The same system on some of its queries."""
        return replace(self, values=self.values.loc[list(queries)], seed_means=None)

    def unpaired_against(self, other: "Evaluation", measure: str) -> Unpaired:
        """The unpaired comparison with a system on other queries."""
        return unpaired(self.values[measure], other.values[measure])


def evaluate(label: str, run: pd.DataFrame, bed: Testbed, measures: Sequence[str], source: Step) -> Evaluation:
    """Measure a run on a testbed."""
    return Evaluation(label, run, bed.per_query(run, list(measures)), source)


def over_seeds(label: str, runs: Sequence[Evaluation]) -> Evaluation:
    """One system from runs that differ in the seed alone: per-query values averaged, the means of each seed kept.

    Raises:
        ValueError: for fewer than two seeds, or runs that were measured on different queries.
    """
    if len(runs) < 2 or any(not run.values.index.equals(runs[0].values.index) for run in runs):
        raise ValueError("at least two seeds, measured on the same queries, are wanted")
    values = pd.concat([run.values for run in runs]).groupby(level=0, sort=False).mean()
    means = pd.DataFrame([run.values.mean() for run in runs])
    return Evaluation(label, runs[0].run, values, runs[0].source, means, runs[0].unit)


def values_of(systems: Mapping[str, Evaluation], names: Sequence[str], measure: str) -> pd.DataFrame:
    """One measure of several systems: a row a query, a column a system."""
    return pd.DataFrame({name: systems[name].values[measure] for name in names})
