"""The book's plots. Each takes tidy data, gives a fragment, and writes its own text alternative from the data.

Sliders: what was computed beforehand, one setting at a time, below the figure that shows all settings. The controls stay hidden
until `book/_static/sliders.js` fills them with life: without it, and on paper, the figure stands alone.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy import special

from helpers.evaluation.significance import Interval, mean_interval
from helpers.pages import figures
from helpers.pages.fragments import Fragment, escape, interval, measure_title, plain, signed, with_ends

Lines = Mapping[str, pd.Series]
PRINTED = figures.PRINTED
APART = 0.5  # of two places on a logarithmic axis whose labels are both shown
LONG = 40  # characters of a name beside a line that has a wide figure
SHORT = 18  # characters of a name that leaves a narrow figure room
FAR = 1.5  # ranges of what was measured: a published value further off is an arrow at the edge
NOTHING: Mapping[str, Any] = MappingProxyType({})


def curves(lines: Lines, x: str, y: str, caption: str, log: bool = False, log_y: bool = False,
           printed: Lines = NOTHING, levels: Mapping[str, float] = NOTHING, first: Sequence[str] = ()) -> Fragment:
    """One line for each series, over its index, with its name at its end; hollow what a study printed, in the colour of the line
    of its name, and flat lines at `levels`. Of more than four lines those `first` have a colour and a name."""
    figure, (axis,) = figures.new(figures.WIDE if any(len(name) > LONG for name in lines) else None)
    texts, ends = draw(axis, lines, printed, figures.looks(lines, first))
    texts += flat(axis, levels, ends)
    axis.set(xlabel=x, ylabel=measure_title(y))
    if log:
        figures.logarithmic(axis)
    elif all(pd.api.types.is_integer_dtype(series.index) for series in lines.values()):
        axis.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    if log_y:
        figures.logarithmic(axis, "y")
    figures.legend(figure)
    if len(ends) > 1:
        figures.name_ends(figure, axis, ends)
    return figures.show(figure, f"{y} over {x}. {' '.join(texts)}", caption)


def flat(axis: Axes, levels: Mapping[str, float], ends: figures.Ends) -> list[str]:
    """Draw a dashed line over the whole axis at each level, and add it to those that get a name; the same in words."""
    for name, level in levels.items():
        axis.axhline(level, color=figures.GREY, ls="--", lw=1)
        ends[name] = (None, level, figures.INK)
    return [f"{name}: {plain(level)}." for name, level in levels.items()]


def draw(axis: Axes, lines: Lines, printed: Lines, looks: Mapping[str, figures.Look]
         ) -> tuple[list[str], figures.Ends]:
    """Draw lines, and hollow what is printed of them, each in the colour of the line of its name; what they say, in words, and
    where those end that get a name."""
    texts, ends = {}, figures.Ends()
    for name, series in sorted(lines.items(), key=lambda line: looks[line[0]].named):  # grey ones lie below
        look, known = looks[name], series.dropna()
        line, = axis.plot(series.index, series.to_numpy(), marker=look.marker, markersize=4, color=look.color)
        figures.hover(line, [figures.tip(name, value, f"{place:g}") for place, value in series.items()])
        texts[name] = f"{name}: {plain(series.iloc[0])} at {series.index[0]:g}, {plain(series.iloc[-1])} at {series.index[-1]:g}"
        if look.named and len(known):
            ends[name] = (known.index[-1], known.iloc[-1], look.color)
    low, high = axis.dataLim.intervaly
    room = FAR * max(high - low, abs(high) / 10)
    edges = low - room, high + room
    for name in [name for name in lines if name in printed]:
        texts[name] += beside(axis, looks[name].color, printed[name], edges=edges)
    for name in [name for name in printed if name not in lines]:
        texts[name] = name + beside(axis, figures.GREY, printed[name], edges=edges)
        ends[name] = (printed[name].index[-1], printed[name].iloc[-1], figures.INK)
    return [f"{texts[name]}." for name in sorted(texts, key=lambda name: name in lines and not looks[name].named)], ends


def beside(axis: Axes, colour: str, printed: pd.Series, places: Sequence[str] = (),
           edges: tuple[float, float] = (-math.inf, math.inf), **style: Any) -> str:
    """Draw what a study printed, hollow and dotted, in the colour of its line, and as an open arrow with its number what lies
    beyond the edges; the same in words."""
    told = pd.Series([f"{plain(value)} at {place}" for value, place in zip(
        printed, places or [f"{place:g}" for place in printed.index], strict=True)], index=printed.index)
    on, (low, high) = printed.between(*edges), axis.dataLim.intervaly
    known = axis.get_legend_handles_labels()[1]
    look = {"ls": ":", "mfc": "none", "color": colour, **style}
    drawn, = axis.plot(printed.index[on], printed[on].to_numpy(), marker="D", label=None if PRINTED in known else PRINTED, **look)
    figures.hover(drawn, [f"{PRINTED}: {text}" for text in told[on]])
    for place, value, text in zip(printed.index[~on], printed[~on], told[~on], strict=True):
        up = value > high
        edge = high + (high - low) / 8 if up else low - (high - low) / 8
        arrow, = axis.plot([place], [edge], marker="^" if up else "v", **{**look, "ms": 8})
        figures.hover(arrow, [f"{PRINTED}: {text}"])
        axis.annotate(plain(value), (place, edge), (7, 0), textcoords="offset points", va="center", color=colour, fontsize=11)
    return f"; {PRINTED}: {', '.join(told)}"


def forest(effects: Mapping[str, tuple[float | Interval, Interval]], what: str, caption: str,
           sources: tuple[str, str] = ("published", "measured")) -> Fragment:
    """Effects from two sources side by side, a row each, in the order of the first source's; `what` names the difference."""
    rows = sorted(effects.items(), key=lambda row: row[1][0].mean if isinstance(row[1][0], Interval) else row[1][0])
    figure, (axis,) = figures.new(figures.WIDE if max(map(len, effects)) > SHORT else None, 0.45 * len(rows) + 1.3)
    axis.xaxis.set_major_locator(MaxNLocator(6))
    axis.axvline(0, color="0.5", lw=1)
    places, said = np.arange(len(rows)), []
    kinds = [("D", "none") if source == PRINTED else ("so"[column], None) for column, source in enumerate(sources)]
    for column, (source, (marker, face)) in enumerate(zip(sources, kinds, strict=True)):
        own = [pair[column] for _, pair in rows]
        known = [one if isinstance(one, Interval) else Interval(one, one, one) for one in own]
        spread = [[one.mean - one.low for one in known], [one.high - one.mean for one in known]]
        whole = all(isinstance(one, Interval) for one in own)
        bars = axis.errorbar([one.mean for one in known], places + 0.14 - 0.28 * column, xerr=spread if whole else None,
                             fmt=marker, mfc=face, color=figures.COLOURS[1 - column], capsize=3,
                             label=f"{source}, with its interval" if whole else source)
        said.append([with_ends(one) if whole else signed(one.mean) for one in known])
        figures.hover(bars.lines[0], [f"{name}, {source}: {text}" for (name, _), text in zip(rows, said[-1], strict=True)])
    axis.set(xlabel=what, yticks=places, yticklabels=[name for name, _ in rows], ylim=(-0.6, len(rows) - 0.4))
    figures.legend(figure)
    alt = f"{what}. " + " ".join(f"{name}, {sources[1]}: {second}, {sources[0]} {first}."
                                 for (name, _), first, second in zip(rows, *said, strict=True))
    return figures.show(figure, alt, caption)


def with_intervals(axis: Axes, name: str, look: figures.Look, points: Mapping[float, tuple[Interval, str]], ends: figures.Ends,
                   **style: Any) -> None:
    """Draw the means of one of several systems at their places, each with its interval and what it says on hover, and add where
    they end to the `ends` that get a name."""
    means = [point for point, _ in points.values()]
    spread = [[mean.mean - mean.low for mean in means], [mean.high - mean.mean for mean in means]]
    drawn = axis.errorbar(list(points), [mean.mean for mean in means], yerr=spread, marker=look.marker, color=look.color,
                          capsize=3, **style)
    figures.hover(drawn.lines[0], [text for _, text in points.values()])
    if look.named and points:
        ends[name] = ([*points][-1], means[-1].mean, look.color)


def seed_curves(lines: Mapping[str, pd.DataFrame], x: str, y: str, caption: str,
                levels: Mapping[str, float] = NOTHING, printed: Lines = NOTHING) -> Fragment:
    """A line for each frame (a row a place on the axis, a column a seed): the mean over seeds, with its 95 % t-interval; flat
    lines at `levels`, and beside a line what a study printed of it, under the same name."""
    figure, (axis,) = figures.new(height=3.8)
    texts: list[str] = []
    looks, ends = figures.looks(lines), figures.Ends()
    for number, (name, frame) in enumerate(lines.items()):
        shift = 1.04 ** (number - (len(lines) - 1) / 2)  # side by side on the logarithmic axis
        points = {}
        for place, values in frame.iterrows():
            mean, spread = values.mean(), values.sem() * special.stdtrit(len(values) - 1, 0.975)
            text = f"{name} at {place:g}: {plain(mean)} ± {plain(spread)}"
            points[place * shift] = Interval(mean, mean - spread, mean + spread), text
        with_intervals(axis, name, looks[name], points, ends, markersize=5)
        texts += [text for _, text in points.values()]
    for name in [name for name in lines if name in printed]:
        texts.append(f"{name}{beside(axis, looks[name].color, printed[name])}")
    texts += flat(axis, levels, ends)
    places = list(next(iter(lines.values())).index)
    for place in {place: None for series in printed.values() for place in series.index}:
        if all(abs(math.log(place / other)) > APART for other in places):  # the labels of nearer ones would overlap
            places.append(place)
    axis.set(xlabel=x, ylabel=measure_title(y), xscale="log")
    axis.set_xticks(places, [f"{place:,}" for place in places], minor=False)
    axis.set_xticks([], minor=True)
    figures.legend(figure)
    figures.name_ends(figure, axis, ends)
    return figures.show(figure, f"{y} over {x}, means and 95 % intervals over seeds. {'; '.join(texts)}.", caption)


def means_by_group(values: pd.DataFrame, groups: pd.Series, y: str, caption: str,
                   printed: Mapping[str, Mapping[str, float]] = NOTHING) -> Fragment:
    """Means with 95 % bootstrap intervals of systems (a column each) within groups of queries (on the same index); beside a
    system what a study printed of it, by group."""
    names, looks = list(dict.fromkeys(groups)), figures.looks(map(str, values))
    figure, (axis,) = figures.new(figures.WIDE if values.shape[1] > 4 or len(names) > 4 else None)
    texts, ends = [], figures.Ends()
    for number, (system, own) in enumerate(values.items()):
        points, look = {}, looks[str(system)]
        for place, group in enumerate(names):
            mean = mean_interval(own[groups == group])
            at = place + (number - (values.shape[1] - 1) / 2) * min(0.18, 0.8 / values.shape[1])
            points[at] = mean, f"{system}, {group}: {plain(mean.mean)} {interval(mean.low, mean.high)}"
        with_intervals(axis, str(system), look, points, ends, ls="none")
        means = [plain(mean.mean) for mean, _ in points.values()]
        texts.append(f"{system}: {', '.join(f'{mean} {group}' for mean, group in zip(means, names, strict=True))}")
        if told := printed.get(str(system)):
            theirs = {at + 0.07: told[group] for at, group in zip(points, names, strict=True) if group in told}
            texts[-1] += beside(axis, look.color, pd.Series(theirs), [g for g in names if g in told], ls="none")
    axis.set(ylabel=y, xticks=range(len(names)), ylim=(-0.03, 1.03), yticks=np.linspace(0, 1, 6),
             xticklabels=[f"{g}\nn = {int((groups == g).sum())}" for g in names])
    figures.legend(figure)
    if values.shape[1] > 1:
        figures.name_ends(figure, axis, ends)
    return figures.show(figure, f"Means of {y} by group with 95 % intervals. {'; '.join(texts)}.", caption)


def slider(figure: Fragment, table: pd.DataFrame, start: Any) -> Fragment:
    """A figure, and a slider for each parameter of it; the figure's markers of the chosen setting are framed.

    Args:
        figure: drawn by `helpers.pages.plots` of the values in the table, so that a marker says what a value of it does.
        table: a row a setting, the levels of its index named after the parameters; a column a line of the figure, or its value.
        start: the setting shown first: a value of the index.
    """
    names, levels = list(table.index.names), [sorted(set(table.index.get_level_values(n))) for n in range(table.index.nlevels)]
    first, told, marks = start if len(levels) > 1 else (start,), [], []
    for setting in product(*levels):
        several = [f"{name} = {value}" for name, value in zip(names, setting, strict=True)]
        key, place = (setting, ", ".join(several)) if len(levels) > 1 else (setting[0], f"{setting[0]:g}")
        values = table.loc[key].dropna() if key in table.index else pd.Series()
        told.append("; ".join(f"{name} {plain(value)}" for name, value in values.items()) or "not computed")
        marks.append([figures.tip(name, value, place) for name, value in values.items()])
    controls = "".join(
        f'<label>{escape(str(name))} <input type="range" min="0" max="{len(own) - 1}" step="1" value="{own.index(value)}" '
        f'data-values="{as_attribute([f"{one:,g}" for one in own])}"></label> <b aria-hidden="true"></b> '
        for name, own, value in zip(names, levels, first, strict=True))
    return replace(figure, html=f'{figure.html}<div class="nr-slider" role="group" aria-label="Choose a setting" hidden '
                                f'data-told="{as_attribute(told)}" data-marks="{as_attribute(marks)}">{controls}'
                                '<output aria-live="polite"></output></div>')


def as_attribute(value: Any) -> str:
    """A value as JSON within an attribute."""
    return escape(json.dumps(value, ensure_ascii=False))


Places = Mapping[str, tuple[float, float]]  # by name: what it costs, and what it gives

MARK = 5  # points from the middle of a mark to its edge
CROWD = 8  # points of a picture that is made higher for their names


def points(table: pd.DataFrame, x: str, y: str, caption: str, log: bool = False, line: str = "", of: str = "") -> Fragment:
    """Labelled points: the frame's index names them, two of its columns place them.

    Those alike in the column `line` are joined; those alike in the column `of` look alike, hollow if they are `published`.
    """
    figure, (axis,) = figures.new(figures.WIDE, 3.4 if len(table) < CROWD else 4.4)
    ordered = table.sort_values(x)
    kinds = dict([*ordered.groupby(line or of, sort=False)]) if line or of else {"": ordered}
    for (kind, own), look in zip(kinds.items(), figures.looks(map(str, kinds)).values(), strict=True):
        marker, face, size = ("D", "none", 9) if kind == figures.PRINTED else (look.marker, None, 6)
        drawn, = axis.plot(own[x], own[y], marker=marker, mfc=face, ms=size, ls="-" if line else "none", color=look.color,
                           label=kind if look.named else None)
        figures.hover(drawn, [f"{name}: {plain(place[y])} at {place[x]:.4g}" for name, place in own.iterrows()])
    axis.set(xlabel=x, ylabel=y)
    if log:
        figures.logarithmic(axis)
    axis.margins(x=0.15, y=0.15)
    if of:
        figures.legend(figure)
    name_points(figure, axis, ordered[[x, y]])
    alt = f"{y} over {x}. " + "; ".join(
        f"{name}: {y} {plain(place[y])} at {place[x]:.4g}" for name, place in ordered.iterrows()) + "."
    return figures.show(figure, alt, caption)


def beside_printed(measured: Places, printed: Places, bases: tuple[str, str], x: str, y: str, caption: str) -> Fragment:
    """Cost and effect, measured and as a study prints them: each as a multiple of its own base's cost, and less its effect."""
    rows = {(name, kind): {x: cost / own[base][0], y: effect - own[base][1], "of": kind} for kind, own, base in (
        ("measured", measured, bases[0]), (figures.PRINTED, printed, bases[1])) for name, (cost, effect) in own.items()}
    return points(pd.DataFrame(rows).T.droplevel(1).astype({x: float, y: float}), x, y, caption, log=True, of="of")


def name_points(figure: Figure, axis: Axes, places: pd.DataFrame) -> None:
    """Write each point's name (the index) beside its x and y, where no mark and no other name is; one that stands off has a line.

    The axis's scales and margins must be set before.
    """
    figure.draw_without_rendering()  # settles where the points are
    inches = figure.dpi_scale_trans.inverted().transform
    spots = 72 * inches(axis.transData.transform(places.to_numpy(dtype=float)))
    (left, bottom), (right, top) = 72 * inches(axis.transAxes.transform([(0, 0), (1, 1)]))
    taken = [(x - MARK, x + MARK, y - MARK, y + MARK) for x, y in spots]  # of the marks, and of the names so far
    for number in np.argsort(-abs(spots[:, 1] - (bottom + top) / 2)):  # the outermost stay where they are
        (x, y), name = spots[number], str(places.index[number])
        wide, inwards = figures.LETTER * len(name), 1 if x < (left + right) / 2 else -1
        off = product(range(14, 400, 4), (9 * inwards, -9 * inwards), (1, -1))
        tried = [(7 * inwards, 0), (-7 * inwards, 0), (0, figures.LINE + 1), (0, -figures.LINE - 1),
                 *((side, height * way) for height, side, way in off)]

        def box(across: float, up: float, x: float = x, y: float = y, wide: float = wide) -> tuple[float, float, float, float]:
            """From, to, lower and upper edge of a name that stands so far from its point."""
            start = x + across - wide * (0.5 if not across else across < 0)
            return start, start + wide, y + up - figures.LINE / 2, y + up + figures.LINE / 2

        free = (spot for spot in tried for start, end, low, high in [box(*spot)] if start >= left and end <= right + 20
                and not any(start < b and a < end and low < d and c < high for a, b, c, d in taken))
        across, up = next(free, tried[0])
        taken.append(box(across, up))
        axis.annotate(name, tuple(places.iloc[number]), xytext=(across, up), textcoords="offset points", va="center",
                      ha="center" if not across else "left" if across > 0 else "right", fontsize=11,
                      arrowprops={"arrowstyle": "-", "lw": 0.5, "color": figures.INK, "shrinkB": 3} if across and up else None)
