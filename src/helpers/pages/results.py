"""Results: the evaluations of a page under their keys, and the ways in which pages show and compare them.

alone = Results({stage: evaluate(label(stage), run, bed, measures) for stage, run in runs.items()})
alone.table("Each stage alone", ["RR@10", "R@100"])                        # a row a system
merged.grid("Merges", "RR@10", rows=names, columns=names, base=lambda key: (key[0], key[0]))  # a cell a system
deeper.curve("candidates", "RR@10", "By depth")                             # keys (line, place): a line over its places
"""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, TypeVar, cast

import pandas as pd

from helpers.evaluation.published import Entry, load
from helpers.evaluation.significance import Interval, Paired
from helpers.pages import page, plots
from helpers.pages.compare import difference_cell, disagreement, mean_cell, mean_link, table_value, with_interval
from helpers.pages.fragments import Fragment, Html, cell, interval, p_value, with_ends
from helpers.systems.evaluated import Evaluation

K = TypeVar("K", bound=Hashable)
Study = Callable[[Any], Entry | None]  # the published value of a key, where there is one


class Results(dict[K, Evaluation]):
    """Evaluations by name, or by (row, column)."""

    def only(self, keys: Collection[K]) -> "Results[K]":
        """Those of some keys that are there, in the order of the keys."""
        return Results({key: self[key] for key in keys if key in self})

    def row(self, first: Any) -> "Results[Any]":
        """Those whose key begins with `first`, by the key's second part."""
        return Results({key[1]: system for key, system in self.items() if isinstance(key, tuple) and key[0] == first})

    def best(self, measure: str) -> K:
        """The key of the highest mean; the first of equals."""
        return max(self, key=lambda key: self[key].mean(measure).mean)

    def means(self, measure: str) -> pd.Series:
        """One measure of each."""
        return pd.Series({key: system.mean(measure).mean for key, system in self.items()}, name=measure)

    def against(self, base: K | Callable[[K], K], measure: str) -> dict[K, Paired]:
        """Each system compared with one of them, or with the one that `base` makes of its key; none with itself."""
        other: Callable[[K], K] = base if callable(base) else lambda key: base
        return {key: system.against(self[other(key)], measure) for key, system in self.items()
                if other(key) in self and other(key) != key}

    def table(self, caption: str, measures: Sequence[str], base: K | Callable[[K], K] | None = None, head: str = "system",
              names: Callable[[Any], str] = str, p: bool = False) -> Fragment:
        """A row a system: its means with their intervals, and its difference from `base` in the first measure, if there is one;
        p of that difference in a column of its own, if it is asked for."""
        tests = {} if base is None else self.against(base, measures[0])
        records: list[dict[str, Any]] = []
        for key, system in self.items():
            records.append({head: names(key), **{measure: mean_cell(system, measure) for measure in measures}})
            if base is not None:
                records[-1]["difference"] = difference_cell(tests[key].difference) if key in tests else "baseline"
                records[-1] |= {"p": p_value(tests[key].p_permutation) if key in tests else ""} if p else {}
        return page.records_table(caption, records)

    def grid(self, caption: str, measure: str, rows: Mapping[Any, str], columns: Mapping[Any, str], head: str = "",
             base: Callable[[Any], Any] | None = None, study: Study | None = None, change: str = "") -> Fragment:
        """A cell a system, at (row, column) of its key: its mean; below it the interval, or with a `base` the difference from
        the system of that key with its interval, and the study's value, which stands alone where there is no system, with its
        printed relative change, which stands in the table's column `<column> / <change>`."""
        tests = self.against(base, measure) if base else {}
        records, values = [], []
        for first, name in rows.items():
            record: dict[str, Any] = {head: name}
            for second, title in columns.items():
                key: Any = (first, second)
                entry = study(key) if study else None
                theirs = f"study {cell(printed(entry, change))}" if entry else ""
                if key not in self:
                    record[title] = Html(theirs and f"<small>{theirs}</small>")
                    continue
                system, mean = self[key], self[key].mean(measure)
                below = with_ends(tests[key].difference) if key in tests else interval(mean.low, mean.high)
                record[title] = with_interval(mean_link(system, measure), Html("<br>".join(filter(None, (cell(below), theirs)))))
                values += [table_value(entry, measure, mean.mean, system.source)] if entry else []
            records.append(record)
        return page.records_table(caption, records, values=values)

    def curve(self, x: str, measure: str, caption: str, names: Callable[[Any], str] = str, log: bool = False,
              printed: plots.Lines = plots.NOTHING) -> Fragment:
        """Keys (line, place): the mean of each line over its places; hollow beside it, by its name, what a study printed of it.
        Nothing without systems."""
        lines: dict[str, dict[Any, float]] = {}
        for key, system in self.items():
            line, place = cast(tuple[Any, Any], key)
            lines.setdefault(names(line), {})[place] = system.mean(measure).mean
        drawn = {name: pd.Series(line) for name, line in lines.items()}
        return plots.curves(drawn, x, measure, caption, log=log, printed=printed) if drawn else Fragment()

    def forest(self, base: K | Callable[[K], K], measure: str, what: str, caption: str, study: Study,
               names: Callable[[Any], str] = str) -> Fragment:
        """Each difference from `base`, measured and published, a row a pair of which the study has both values; nothing without
        any."""
        effects: dict[str, tuple[float | Interval, Interval]] = {}
        for key, test in self.against(base, measure).items():
            ours, theirs = study(key), study(base(key) if callable(base) else base)
            if ours and theirs:
                effects[names(key)] = (ours.amount - theirs.amount, test.difference)
        return plots.forest(effects, what, caption) if effects else Fragment()


def differences(caption: str, pairs: Mapping[str, tuple[Evaluation, Evaluation]], measure: str) -> Fragment:
    """Paired comparisons, a row each: both means, and the first less the second with its interval, with a note where judged texts
    alone give the difference another sign."""
    return page.records_table(caption, (
        {"comparison": name, "first": mean_link(first, measure), "second": mean_link(second, measure),
         f"difference in {measure}": difference_cell(first.against(second, measure).difference,
                                                     note=disagreement(first, second, measure))}
        for name, (first, second) in pairs.items()))


def printed(entry: Entry, change: str = "") -> str:
    """A value in the measure's unit, with the printed relative change that has a column of its own: `.376 (+4%)`."""
    own = load(entry.study).get((entry.table, entry.row, f"{entry.column} / {change}")) if change else None
    return entry.shown + (f" ({own.printed}%)".replace("-", "−") if own else "")
