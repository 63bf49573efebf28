"""Figures: one style for all, shown as inline SVG with a text for those who do not see it.

The SVG's ink is `currentColor`, so that it follows the page into dark mode; its text stays text, so that it can be
searched and read aloud. Colours are Okabe and Ito's, which colour-blind readers can tell apart; each stands in the SVG as
a CSS variable (`--nr-ink-1` to `--nr-ink-6`), so that the page's style can give text and dark mode more contrast.
"""

import io
import re
from collections.abc import Sequence
from textwrap import fill
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from helpers.pages.fragments import Fragment, escape
from helpers.pages.numbers import plain

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
PHONE, WIDE = 4.85, 7.0  # inches: at 72 pixels each a phone shows the one whole; the other scrolls there
LETTER, HANDLE = 6.2, 46  # points: a letter of a legend, and what stands before a name
PRINTED = "published"  # in legends, where it stands last
INK = "#010203"  # a colour nothing else has: replaced by currentColor in the SVG
LINES = {f"{way}tick.{kind}.{name}": value for way in "xy" for kind, name, value in (
    ("major", "width", 1.25), ("minor", "width", 1), ("major", "size", 6), ("minor", "size", 4))}
STYLE: Any = {  # seaborn's `ticks`, but for the ink and the sizes; that it is loaded would take a page a third of a second
    **LINES, "axes.linewidth": 1.25, "grid.linewidth": 1, "lines.solid_capstyle": "round", "patch.edgecolor": "w",
    "patch.force_edgecolor": True, "font.sans-serif": ["Arial", "DejaVu Sans", "Liberation Sans", "sans-serif"],
    "axes.labelsize": 12, "axes.titlesize": 12, "xtick.labelsize": 11, "ytick.labelsize": 11, "legend.fontsize": 11,
    "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 11,
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none", "legend.frameon": False,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.spines.top": False, "axes.spines.right": False, "axes.prop_cycle": cycler(color=COLOURS),
    "axes.grid": True, "grid.color": "#808080", "grid.alpha": 0.25, "axes.axisbelow": True,
}


def new(width: float | None = None, height: float = 3.4, columns: int = 1) -> tuple[Figure, list]:
    """A figure with one row of axes, in the book's style; inches. One of a single axis fits a phone unless told otherwise."""
    width = width or (PHONE if columns == 1 else WIDE)
    matplotlib.rcParams.update(STYLE)
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(1, columns, squeeze=False)[0])


def hover(line: Line2D, texts: Sequence[str]) -> None:
    """Have every marker of a line say its text when it is pointed at; on paper the figure stays what it is."""
    line.nr_tips = list(texts)  # type: ignore[attr-defined]


def legend(figure: Figure) -> None:
    """A legend above the axes, which grows by it, in as many columns as its names leave; none is cut off, and no line hidden."""
    entries = zip(*figure.axes[0].get_legend_handles_labels(), strict=True)
    handles, names = zip(*sorted(entries, key=lambda entry: entry[1] == PRINTED), strict=True)
    room = 72 * figure.get_figwidth()
    shown = [fill(name, int((room - HANDLE) / LETTER)) for name in names]
    lines = [line for name in shown for line in name.split("\n")]
    columns = max(1, min(len(names), int(room / (LETTER * max(map(len, lines)) + HANDLE))))
    figure.set_figheight(figure.get_figheight() + 0.2 * (len(lines) / columns - 1))
    figure.legend(handles, shown, loc="outside upper center", ncols=columns)


def logarithmic(axis: Axes, which: str = "x") -> None:
    """Make an axis logarithmic, its ticks written out: 20, not 2 x 10^1."""
    axis.set(**{f"{which}scale": "log"})
    ticks = getattr(axis, f"{which}axis")
    low, high = ticks.get_data_interval()
    ticks.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 80 * low else (1,), numticks=9))  # as many as stand side by side
    ticks.set_major_formatter(lambda value, _: f"{value:,g}")
    ticks.set_minor_locator(NullLocator())


def tip(name: Any, value: float, place: Any) -> str:
    """What a marker says: the line that it is of, its value and where that is. A slider finds it by this text."""
    return f"{name}: {plain(value)} at {place}"


def heatmap(values: pd.DataFrame, height: float, **style: Any) -> tuple[Figure, Axes]:
    """A heat map of values, with the text on its cells set in black or white; `style` goes to seaborn's `heatmap`."""
    import seaborn  # with scipy.stats, and most pages have no heat map

    figure, (axis,) = new(WIDE, height)
    seaborn.heatmap(values, ax=axis, **{"cbar": False, "annot_kws": {"size": 11}, **style})
    set_on_cells(axis)
    axis.grid(False)
    axis.tick_params(axis="both", rotation=0)
    return figure, axis


def set_on_cells(axis: Axes) -> None:
    """Set the texts of a heat map in black or white, whichever stands out more from the cell."""
    from seaborn.utils import relative_luminance

    cells: Any = axis.collections[0]
    shown = cells.get_facecolors()[~np.ma.getmaskarray(cells.get_array()).ravel()]  # a hidden cell has no text
    for text, face in zip(axis.texts, shown, strict=True):
        text.set_color("black" if relative_luminance(face) > 0.179 else "white")  # WCAG 2: where both have the same contrast


def show(figure: Figure, alt: str, caption: str) -> Fragment:
    """The figure, made by `new`, as a fragment with its caption.

    What a reader who cannot see it should know is `alt`: the axes and what stands out, with its values.
    """
    tips = {f"tips-{number}": line for number, line in enumerate(figure.findobj(lambda artist: hasattr(artist, "nr_tips")))}
    for name, line in tips.items():
        line.set_gid(name)
    buffer = io.StringIO()
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": alt}):  # the ids of two figures on a page must differ
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()[buffer.getvalue().index("<svg"):]
    for name, line in tips.items():
        svg = _with_tips(svg, name, line.nr_tips)  # type: ignore[attr-defined]
    svg = re.sub(r' id="[a-z0-9]+_\d+"', "", svg).replace(INK, "currentColor")
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1), count=1)
    for number, colour in enumerate(COLOURS, start=1):
        svg = svg.replace(colour.lower(), f"var(--nr-ink-{number}, {colour.lower()})")
    style = f"--nr-wide: {72 * figure.get_figwidth() + 1:.0f}px"  # a pixel more: its text is no smaller than it was set
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(alt)}" style="{style}" ', 1)
    return Fragment(f'<figure class="nr-figure" tabindex="0">{svg}<figcaption>{escape(caption)}</figcaption></figure>')


def _with_tips(svg: str, name: str, texts: Sequence[str]) -> str:
    """The SVG with a title in every marker of the group of that name, which loses its name.

    A marker that cannot be drawn, of a missing value for instance, is left out of an SVG: unless there is one for each text
    there are no titles.
    """
    group = re.search(rf'<g id="{name}">.*?</g>\s*</g>', svg, re.DOTALL)
    if group is None:
        return svg
    marked, left = group[0].replace(f' id="{name}"', "", 1), iter(texts)
    if marked.count("<use ") == len(texts):
        marked = re.sub(r"(<use [^>]*?)/>", lambda use: f"{use[1]}><title>{escape(next(left))}</title></use>", marked)
    return svg.replace(group[0], marked, 1)
