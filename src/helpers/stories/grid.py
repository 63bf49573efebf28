"""The chapter *Hyper-parameters* (Steensland 2021, table 4.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pandas as pd
from scipy import stats

from helpers.evaluation import published
from helpers.pages import page
from helpers.pages.compare import measured
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import p_value, plain, signed
from helpers.stories.training import STUDY, final
from helpers.stories.wording import effect
from helpers.systems.evaluated import Evaluation
from helpers.systems.reranker import Reranker

SETTINGS = {"Learning Rate": "learning_rate", "Epochs": "epochs", "Batch Size": "batch_size"}


@dataclass(frozen=True, order=True)
class Setting:
    """One point of the grid."""

    learning_rate: float
    epochs: int
    batch_size: int

    def __str__(self) -> str:
        return f"{self.learning_rate:g}, {self.columns}"

    @property
    def columns(self) -> str:
        """The two parameters that stand in the columns of the heat map."""
        return f"{self.epochs} epoch{'s' if self.epochs != 1 else ''}, batch {self.batch_size}"


def models(base: Reranker, rates: Sequence[float], lengths: Sequence[int], sizes: Sequence[int]) -> dict[Setting, Reranker]:
    """A model for every point of the grid."""
    points = [Setting(*point) for point in product(rates, lengths, sizes)]
    return {point: replace(base.for_epochs(point.epochs), learning_rate=point.learning_rate, batch_size=point.batch_size)
            for point in points}


def results(logs: Mapping[Setting, dict[str, Any]], systems: Mapping[Setting, Evaluation]) -> pd.DataFrame:
    """A row a point, which is the index: its parameters, evaluation loss and RR@10."""
    rows = [{"learning rate": point.learning_rate, "epochs and batch size": point.columns,
             "evaluation loss": final(log, "eval_loss"), "RR@10": systems[point].mean("RR@10").mean}
            for point, log in logs.items()]
    return pd.DataFrame(rows, index=pd.Index(list(logs), dtype=object))


def choice_table(table: pd.DataFrame, systems: Mapping[Setting, Evaluation]) -> Fragment:
    """What the study searched and chose, and what this grid holds and chooses by the same rule."""
    chosen = lowest(table)
    rows = []
    for name, field in SETTINGS.items():
        said = {column: published.value(STUDY, "4.1", name, column) for column in ("Possible Values", "Chosen Value")}
        ours = sorted({getattr(point, field) for point in table.index})
        rows.append([name, listed(said["Possible Values"].value), listed([said["Chosen Value"].value]), listed(ours),
                     measured(f"{getattr(chosen, field):g}", systems[chosen])])
    header = ("", "searched by the study", "chosen by it", "searched here", "lowest evaluation loss here")
    return page.show_table(f"{published.published_name(STUDY)}, table 4.1, and this grid", header, rows)


def listed(values: Sequence[float]) -> str:
    """Numbers in one line."""
    return ", ".join(f"{value:g}" for value in values)


def lowest(table: pd.DataFrame) -> Setting:
    """The point with the lowest evaluation loss: the study's rule."""
    return list(table.index)[int(table["evaluation loss"].argmin())]


def best(table: pd.DataFrame) -> Setting:
    """The point that ranks best."""
    return list(table.index)[int(table["RR@10"].argmax())]


def finding(table: pd.DataFrame, systems: Mapping[Setting, Evaluation]) -> Fragment:
    """The chapter's last words: does the lowest loss also rank best?"""
    by_loss, by_rank = lowest(table), best(table)
    if len(table) < 3 or table["RR@10"].nunique() == 1:
        return page.prose("Fewer than three points, or points that all rank alike, say nothing of how loss and ranking agree.")
    found = stats.spearmanr(table["evaluation loss"], table["RR@10"])
    place = 1 + int((table["RR@10"] > systems[by_loss].mean("RR@10").mean).sum())
    return page.prose(
        f"The lowest evaluation loss is that of the setting ({by_loss}); it ranks {ordinal(place)} of {len(table)} by RR@10.",
        f"The setting that ranks best is the same one ({plain(table['RR@10'].max())})." if place == 1 else
        f"The setting that ranks best is ({by_rank}); choosing by the loss instead changes it by "
        f"{effect(systems[by_loss].against(systems[by_rank], 'RR@10'))}, p not corrected for the choice of the best.",
        f"Over the grid, Spearman's correlation of loss and RR@10 is {signed(float(found.statistic), 2)} "
        f"(p {p_value(float(found.pvalue))}); a perfect guide would have a correlation of −1.")


def ordinal(place: int) -> str:
    """`1st`, `2nd`, `3rd`, `11th`."""
    suffix = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{suffix}"
