"""Results: the evaluations of a page under their keys, and the ways in which pages show and compare them.

    alone = Results({stage: evaluate(label(stage), run, bed, measures) for stage, run in runs.items()})
    alone.table("Each stage alone", ["RR@10", "R@100"])                        # a row a system
    merged.grid("Merges", "RR@10", rows=names, columns=names, base=lambda key: (key[0], key[0]))  # a cell a system
    deeper.curve("candidates", "RR@10", "By depth")                             # keys (line, place): a line over its places

Published beside measured, on every page. Beside a pooled measure: how much of what each system shows was judged, and what is left
if only judged texts count.
"""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd

from helpers.evaluation import published, verdicts
from helpers.evaluation.pools import BPREF, ENOUGH, SHARE, condensed
from helpers.evaluation.published import Entry, load
from helpers.evaluation.significance import Interval, Paired
from helpers.pages import page, plots
from helpers.pages.fragments import Fragment, Html, badge, cell, details, interval, linked, p_value, plain, signed, with_ends
from helpers.steps import Step
from helpers.systems.evaluated import Evaluation, Systems

FEW = 6  # rows that were not run, and stand in the table; more of them are folded


def beside_published(study: str, number: str, column: str, measure: str, systems: Systems, baseline: str,
                     judged: Fragment | None = None, rows_are: str = "system", whole: bool = True, pictured: bool = True,
                     counting: str = "", names: Callable[[str], str] = str) -> Fragment:
    """A study's table beside this run's measurements, each system compared with a baseline.

    Rows of the study that were not measured follow, as *not tested*. A row has an interval; it has a word where a claim is on the
    same pair of published values, and that is the claim's. A figure below the table has the published effects and the measured
    ones on one axis; what else can be said of a row's difference is folded below it.

    Args:
        study: its key, `steensland2021`; the `number` of its table, `5.1`, and the `column`, `MRR@10`, follow.
        measure: the measure of the evaluations that stands for it, `RR@10`.
        systems: evaluations by the table's row labels; rows that the study lacks are shown without published value.
        judged: the chapter's claims (`claims.judge`).
        rows_are: what a row's label names, `epochs`: the head of the first column.
        whole: whether the table's other rows are shown, too.
        pictured: whether the figure of the effects is shown.
        counting: what the caption says of the measure besides.
        names: what the page calls a row that was measured, where not as the study does.
    """
    known = published.column(study, number, column)
    base, published_base = systems[baseline], known.get(baseline)
    # recall of re-ordered lists: where no query has another value, there is nothing to compare; a correlation has no such values
    level = {row for row, system in systems.items() if row == baseline or (
        measure in base.values and np.allclose(system.values[measure], base.values[measure]))}
    tests = {row: system.against(base, measure) for row, system in systems.items() if row not in level}
    records, more, data = [], [], []
    for row, system in systems.items():
        entry, test, mean = known.get(row), tests.get(row), system.mean(measure)
        word = word_of(judged, entry, published_base)
        effect = (difference_cell(test.difference, note=disagreement(system, base, measure)) if test else
                  "baseline" if row == baseline else "no query differs")
        records.append({
            rows_are: names(row), "published": published_cell(entry, published_base),
            "measured": with_interval(measured(plain(mean.mean), system),
                                      interval(mean.low, mean.high) + seeds_text(system, measure)),
            "difference": Html(f"{cell(effect)}<br>{verdict_badge(word).text}") if word else effect})
        if test:
            means = mean.mean, base.mean(measure).mean
            ratios = [ratio(*means, entry.amount, published_base.amount) if entry and published_base else None
                      for ratio in (verdicts.effect_ratio, verdicts.delta_relative_improvement)]
            more.append([names(row), p_value(test.p_permutation), p_value(test.p_t),
                         *("" if ratio is None else signed(ratio, 2) for ratio in ratios)])
        data.append({"study": study, "table": number, "row": row, "column": column, "measure": measure,
                     "measured": mean.mean, "key": system.source.key, "verdict": word or None})
    left = [{rows_are: row, "published": published_cell(entry, published_base), "measured": verdicts.UNTESTED}
            for row, entry in known.items() if whole and row not in systems]
    if len(left) <= FEW:
        records, left = [*records, *left], []
    compared = baseline if rows_are == "system" else f"{rows_are} = {baseline}"
    beside = f", here {measure}" if measure.startswith("R@") and all(entry.measure != measure for entry in known.values()) else ""
    caption = (f"{published.published_name(study)}, table {number}: {column}, published and measured{beside} "
               f"({counting}differences from {compared}, 95 % intervals over {base.unit} and training runs)")
    table = page.records_table(caption, records, values=data)
    folds = [(f"The study's {len(left)} other rows, whose systems are not run here",
              page.records_table(f"{caption}: not run", left))] if left else []
    if more:
        folds.append(("p-values, effect ratio and difference of relative improvements", page.show_table(
            f"{column}, each row and {compared}: p of the permutation test over {base.unit} and training runs, of the paired "
            f"t-test over {base.unit} alone, effect ratio (ER), and published less measured relative improvement (ΔRI)",
            (rows_are, "p", "p, t-test", "ER", "ΔRI"), more)))
    effects = {names(row): (known[row].amount - published_base.amount, test.difference) for row, test in tests.items()
               if row in known} if pictured and published_base else {}
    drawn = [plots.forest(effects, f"difference from {compared}", f"Effects in {column}, published and measured{beside}.").html
             ] if effects else []
    return replace(table, html="".join([table.html, *drawn, *(details(head, Html(own.html)).text for head, own in folds)]))


def verdict_badge(word: str, control: str | None = None) -> Html:
    """A verdict in its colour; below it what the first system's lead over a claim's control is."""
    shown = badge(word, verdicts.WORDS[word])
    return with_interval(shown, control) if control else shown


def word_of(judged: Fragment | None, *pair: published.Entry | None) -> str:
    """The word of the claim on two published values, in either order, among a chapter's claims; empty where there is none."""
    if judged is None or None in pair:
        return ""
    printed = [entry.cell for entry in pair if entry]
    return next((line["verdict"] for line in judged.data["claims"] if line["printed"] in (printed, printed[::-1])), "")


def measured(text: str, system: Evaluation) -> Html:
    """A measured number, linked to its provenance at the end of the page."""
    return linked(text, system.source)


def mean_link(system: Evaluation, measure: str) -> Html:
    """The mean of a measure, linked to its provenance."""
    return measured(plain(system.mean(measure).mean), system)


def with_interval(value: Html | str, text: Html | str) -> Html:
    """A value with its 95 % interval below it, small."""
    return Html(f'{cell(value)}<br><small>{cell(text)}</small>')


def mean_cell(system: Evaluation, measure: str) -> Html:
    """The mean of a measure, linked to its provenance, with its interval below."""
    m = system.mean(measure)
    return with_interval(mean_link(system, measure), interval(m.low, m.high))


def difference_cell(difference: Interval, system: Evaluation | None = None, note: str = "") -> Html:
    """A difference with its interval below, then a note; linked, if a system is given that its provenance is shown of."""
    value = signed(difference.mean)
    shown = with_interval(measured(value, system) if system else value, interval(difference.low, difference.high, sign=True))
    return with_interval(shown, note) if note else shown


def table_value(entry: published.Entry, measure: str, value: float, source: Step) -> dict[str, Any]:
    """A measured value of a published cell, as a fragment's data carries it for other pages."""
    return {"study": entry.study, "table": entry.table, "row": entry.row, "column": entry.column, "measure": measure,
            "measured": value, "key": source.key, "verdict": None}


def seeds_text(system: Evaluation, measure: str) -> str:
    """The variation over seeds, for a system that was run with several: `, sd 0.004 over 4 seeds`."""
    if system.seed_means is None:
        return ""
    return f", sd {plain(float(system.seed_means[measure].std(ddof=1)))} over {len(system.seed_means)} seeds"


def published_cell(entry: published.Entry | None, baseline: published.Entry | None) -> Html | str:
    """The published value with its mark and, below it, its difference from the baseline; empty if there is none."""
    if entry is None:
        return ""
    text = f"{entry.shown}{entry.mark}"
    return text if baseline is None or entry.row == baseline.row else with_interval(text, signed(entry.amount - baseline.amount))


def lead(system: Evaluation, base: Evaluation, measure: str) -> float:
    """The difference of two means."""
    return system.mean(measure).mean - base.mean(measure).mean


def beside(system: Evaluation, base: Evaluation, measure: str) -> str:
    """The mean of another system in words, alike on every page: `0.624 (p 0.004)`, p of the difference."""
    return f"{plain(base.mean(measure).mean)} (p {p_value(system.against(base, measure).p_permutation)})"


def above(first: Evaluation, second: Evaluation, measure: str) -> bool:
    """Whether the first ranks above the second by more than its interval leaves to chance."""
    return first.against(second, measure).difference.low > 0


def disagreement(first: Evaluation, second: Evaluation, measure: str) -> str:
    """What judged texts alone show of a difference, if its sign is another there; empty if it is not, or cannot be known."""
    other = condensed(measure)
    if other not in first.values or other not in second.values or lead(first, second, measure) * lead(first, second, other) >= 0:
        return ""
    alone = lead(first, second, other)
    return f"of the other sign on judged texts alone: {signed(alone)}" if abs(alone) >= 0.0005 else "gone on judged texts alone"


MEASURE = "nDCG@10"


def judged_table(systems: Systems, baseline: str) -> Fragment:
    """Judged@10 of each system, and its difference in nDCG@10 from the baseline; where a system has less than .95, both on the
    condensed list and in bpref, too."""
    base = systems[baseline]
    if SHARE not in base.values:
        return page.prose("The judgments of these queries were not pooled, so they hold no irrelevant texts and Judged@10 shows "
                          "nothing.")
    whole = any(system.mean(SHARE).mean < ENOUGH for system in systems.values())
    heads = {MEASURE: MEASURE} | ({condensed(MEASURE): f"{MEASURE}, judged texts alone", BPREF: BPREF} if whole else {})
    return page.records_table(f"How far {MEASURE} rests on judgments (in brackets the difference from {baseline})", (
        {"system": name, SHARE: mean_link(system, SHARE),
         **{head: plain(system.mean(column).mean) + (f" ({signed(leads[column])})" if system is not base else "")
            for column, head in heads.items()},
         "": "the signs differ" if min(leads.values()) < 0 < max(leads.values()) else ""}  # a tie agrees with all
        for name, system in systems.items() for leads in [{column: lead(system, base, column) for column in heads}]))


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
