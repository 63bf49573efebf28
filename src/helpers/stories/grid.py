"""The chapter *Hyper-parameters* (Steensland 2021, table 4.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import pandas as pd
from scipy import stats

from helpers.evaluation import published
from helpers.evaluation.verdicts import ALPHA
from helpers.pages import page
from helpers.pages.compare import above, measured
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import p_value, plain, signed
from helpers.pages.training import STUDY, Logs, final
from helpers.systems.evaluated import Systems
from helpers.systems.listwise_reranker import ListwiseReranker


def setting(model: ListwiseReranker) -> dict[str, float]:
    """Where a model stands in the grid, by the names of the study's table 4.1; a batch is so many texts."""
    return {"Learning Rate": model.learning_rate, "Epochs": model.epochs, "Batch Size": model.batch_size * model.size}


def models(base: ListwiseReranker, rates: Sequence[float], lengths: Sequence[int],
           sizes: Sequence[int]) -> dict[str, ListwiseReranker]:
    """A model for every point of the grid, named by its setting."""
    points = [replace(base, epochs=epochs, learning_rate=rate, batch_size=size)
              for rate, epochs, size in product(rates, lengths, sizes)]
    return {f"{point.learning_rate:g}, {columns(point)}": point for point in points}


def columns(model: ListwiseReranker) -> str:
    """The two parameters that stand in the columns of the heat map."""
    return f"{model.epochs} epoch{'s' if model.epochs != 1 else ''}, batch {setting(model)['Batch Size']:g}"


def results(grid: Mapping[str, ListwiseReranker], logs: Logs, systems: Systems) -> pd.DataFrame:
    """A row a point, whose name is the index: its parameters, evaluation loss and RR@10."""
    return pd.DataFrame([{"learning rate": model.learning_rate, "epochs and batch size": columns(model),
                          "evaluation loss": final(logs[name], "eval_loss"), "RR@10": systems[name].mean("RR@10").mean}
                         for name, model in grid.items()], index=list(grid))


def choice_table(grid: Mapping[str, ListwiseReranker], table: pd.DataFrame, systems: Systems) -> Fragment:
    """What the study searched and chose, and what this grid holds and chooses by the same rule: the lowest evaluation loss."""
    chosen = str(table["evaluation loss"].idxmin())
    return page.records_table(f"{published.published_name(STUDY)}, table 4.1, and this grid", [
        {"": name, "searched by the study": listed(published.value(STUDY, "4.1", name, "Possible Values").value),
         "chosen by it": listed([published.value(STUDY, "4.1", name, "Chosen Value").value]),
         "searched here": listed(sorted({setting(model)[name] for model in grid.values()})),
         "lowest evaluation loss here": measured(f"{setting(grid[chosen])[name]:g}", systems[chosen])}
        for name in setting(grid[chosen])])


def signs(table: pd.DataFrame, systems: Systems) -> dict[str, bool]:
    """What the discussion rests on."""
    loss, ranking = table["evaluation loss"], table["RR@10"]
    chosen, best = str(loss.idxmin()), str(ranking.idxmax())
    return {"the setting of the lowest loss ranks below most others": bool((ranking > ranking[chosen]).mean() > 0.5),
            "loss and ranking are not surely related":
            len(table) > 2 and not float(stats.spearmanr(loss, ranking).pvalue) < ALPHA,
            "the best setting does not surely beat the one of the lowest loss":
            not above(systems[best], systems[chosen], "RR@10")}


def listed(values: Sequence[float]) -> str:
    """Numbers in one line."""
    return ", ".join(f"{value:g}" for value in values)


def finding(table: pd.DataFrame, systems: Systems) -> Fragment:
    """The chapter's last words: does the lowest loss also rank best?"""
    loss, ranking = table["evaluation loss"], table["RR@10"]
    if len(table) < 3 or ranking.nunique() == 1:
        return page.prose("Fewer than three points, or points that all rank alike, say nothing of how loss and ranking agree.")
    by_loss, by_rank, correlation = str(loss.idxmin()), str(ranking.idxmax()), stats.spearmanr(loss, ranking)
    test, place = systems[by_rank].against(systems[by_loss], "RR@10"), 1 + int((ranking > ranking[by_loss]).sum())
    return page.prose(
        f"By RR@10 the setting of the lowest loss ({by_loss}) comes in place {place} of {len(table)}.",
        "" if place == 1 else f"The best ({by_rank}) is {plain(test.difference.mean)} ahead (p {p_value(test.p_permutation)}).",
        f"Over the grid the correlation of loss and RR@10 is {signed(float(correlation.statistic), 2)} (Spearman, p "
        f"{p_value(float(correlation.pvalue))}), where a perfect guide would have −1.")
