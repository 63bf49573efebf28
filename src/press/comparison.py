"""A variant compared with its baseline: the same systems, paired query by query."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.evaluation.significance import Paired, paired
from helpers.pages import carried
from helpers.pages.carried import System
from press import execute


@dataclass(frozen=True)
class Page:
    """What a page carries in its metadata."""

    name: str  # its name
    run: dict[str, Any]  # profile, parameters, commit, date and seconds of its execution
    systems: dict[str, System]  # what it measured, by label; empty for a page that carries no values
    ledger: list[dict[str, Any]]  # a line for each step that it used and has a row for


@dataclass(frozen=True)
class Pair:
    """One system on both pages."""

    label: str  # its name
    baseline: pd.DataFrame  # its values on the baseline page, a row for each query that both measured
    variant: pd.DataFrame  # its values on the variant, likewise, in the same order
    keys: tuple[str, str]  # of the steps that were measured, the baseline's first
    measured: tuple[int, int]  # how many queries each page has, the baseline's first

    @property
    def measures(self) -> list[str]:
        """The measures that both pages have."""
        return [str(name) for name in self.baseline if name in self.variant]

    @property
    def is_unchanged(self) -> bool:
        """Whether it is the same step with the same values: then there is nothing to test."""
        names = self.measures
        return self.keys[0] == self.keys[1] and self.baseline[names].equals(self.variant[names])

    def differences(self, measure: str) -> pd.Series:
        """Variant less baseline for each query."""
        return (self.variant[measure] - self.baseline[measure]).rename("difference")


@dataclass(frozen=True)
class Tested:
    """A pair in one measure: the test, and how many queries won, tied and lost."""

    pair: Pair
    test: Paired
    counts: tuple[int, int, int]


def read(page: Path) -> Page:
    """What an executed page carries."""
    data = execute.data_of(page)
    packed: dict[str, Any] = next((item["evaluations"] for item in data if "evaluations" in item), {"queries": [], "systems": []})
    lines = [line for item in data for line in item.get("ledger", []) if line.get("shown", True)]
    return Page(page.stem, execute.run_of(page), carried.unpacked(packed), lines)


def pairs(baseline: Page, variant: Page) -> list[Pair]:
    """The systems that both pages measured on two queries or more, in the variant's order."""
    shared = []
    for label in (name for name in variant.systems if name in baseline.systems):
        before, after = baseline.systems[label], variant.systems[label]
        common = [query for query in after.values.index if query in before.values.index]
        if len(common) >= 2:
            shared.append(Pair(label, before.values.loc[common], after.values.loc[common], (before.key, after.key),
                               (len(before.values), len(after.values))))
    return shared


def tested(both: Sequence[Pair], measure: str) -> list[Tested]:
    """The pairs that have a measure, tested."""
    having = [pair for pair in both if measure in pair.measures]
    tests = {pair.label: paired(pair.variant[measure], pair.baseline[measure]) for pair in having}
    signs = [np.sign(pair.differences(measure)).tolist() for pair in having]
    return [Tested(pair, tests[pair.label], (sign.count(1), sign.count(0), sign.count(-1)))
            for pair, sign in zip(having, signs, strict=True)]


def extremes(pair: Pair, measure: str, most: int) -> pd.DataFrame:
    """The queries that gained most, then those that lost most: columns baseline, variant, difference, largest gain first."""
    frame = pd.DataFrame({"baseline": pair.baseline[measure], "variant": pair.variant[measure],
                          "difference": pair.differences(measure)})
    gained = frame[frame["difference"] > 0].nlargest(most, "difference")
    lost = frame[frame["difference"] < 0].nsmallest(most, "difference")
    return pd.concat([gained, lost.iloc[::-1]])
