"""Figures: one style for all, shown as inline SVG with a text for those who do not see it.

What several pictures show has one colour and one glyph in all of them; a hollow diamond is what a study published, nothing else.
The SVG's ink is `currentColor`, so that it follows the page into dark mode; its text stays text, so that it can be searched and
read aloud. Colours are Okabe and Ito's, which colour-blind readers can tell apart; each stands in the SVG as a CSS variable
(`--nr-ink-1` to `--nr-ink-6`), so that the page's style can give text and dark mode more contrast.

Matrices as figures: grids of settings, comparisons of pairs of systems.
"""

import io
import re
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from textwrap import fill, shorten
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import pandas as pd
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, NullLocator

from helpers.pages.fragments import Fragment, escape, plain, signed

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
MARKERS = "os^vPX"
GREY = "#808080"
MOST = 4  # lines of a picture that have a colour and a name
LOOKS = {"BM25": 0, "BM25(Anserini)": 0, "start": 0, "training loss": 0, "measured": 0,  # what several pictures show
         "DeepCT": 1, "+ MLM": 1, "evaluation loss": 1, "RepBERT on MiniLM": 2, "+ Condenser": 2, "Longformer": 2,
         "zero-shot MiniLM": 3, "zero-shot encoder": 3, "+ Condenser, head masks more": 3,
         "learned expansion": 4, "+ head without late [CLS]": 4, "+ Condenser over embeddings": 5}
PHONE, WIDE = 4.85, 7.0  # inches: at 72 pixels each a phone shows the one whole; the other scrolls there
LETTER, HANDLE = 6.2, 46  # points: a letter of a name, and what stands before it in a legend
LINE = 13  # points: the height of a line of text
SAID = 300  # characters of a text alternative: more is not listened to, and the tables have it
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


Ends = dict[str, tuple[float | None, float, str]]  # by name: where a line ends (no x if it spans the axis), its colour


class Look(NamedTuple):
    """How a line is drawn, and whether it has a name in the picture."""

    color: str
    marker: str
    named: bool = True


def looks(names: Iterable[str], first: Sequence[str] = ()) -> dict[str, Look]:
    """The look of each: its own where several pictures show it, or a free one; grey beyond four, those `first` kept. Grey ones
    have no name in the picture, and say it where one points."""
    names = list(names)
    shown = sorted(names, key=lambda name: name not in first)[:MOST]
    taken: dict[str, int] = {}
    for name in shown:
        if name in LOOKS and LOOKS[name] not in taken.values():
            taken[name] = LOOKS[name]
    free = iter([number for number in range(len(COLOURS)) if number not in taken.values()])
    taken |= {name: next(free) for name in shown if name not in taken}
    return {name: Look(COLOURS[taken[name]], MARKERS[taken[name]]) if name in taken else Look(GREY, ".", False) for name in names}


def name_ends(figure: Figure, axis: Axes, ends: Ends) -> None:
    """Write names at the right of the axes, each at the height where its line ends, in its colour; those too close move apart.

    The axis's scales and limits must be set before.
    """
    shown = {name: fill(name, 17 if figure.get_figwidth() <= PHONE else 26) for name in ends}
    figure.draw_without_rendering()  # settles how high the axes are
    height = axis.get_window_extent().height * 72 / figure.dpi
    where = {name: axis.transAxes.inverted().transform(axis.transData.transform((axis.get_xlim()[1] if x is None else x, y)))
             for name, (x, y, _) in ends.items()}
    want, room = ({name: height * where[name][1] for name in ends}, {name: LINE * (shown[name].count("\n") + 1) for name in ends})
    order, up, down = sorted(ends, key=want.__getitem__), dict(want), dict(want)
    for low, high in pairwise(order):
        up[high] = max(up[high], up[low] + (room[low] + room[high]) / 2)
    for high, low in pairwise(reversed(order)):
        down[low] = min(down[low], down[high] - (room[low] + room[high]) / 2)
    for name, (x, y, colour) in ends.items():
        at = (up[name] + down[name]) / 2
        leader = {"arrowstyle": "-", "lw": 0.6, "color": colour, "alpha": 0.6, "shrinkA": 1, "shrinkB": 3}
        axis.annotate(shown[name], (axis.get_xlim()[1] if x is None else x, y), (1.03, at / height), textcoords="axes fraction",
                      va="center", color=colour, fontsize=11, linespacing=1,
                      arrowprops=leader if abs(at - want[name]) > LINE / 3 or where[name][0] < 0.9 else None)


def hover(line: Line2D, texts: Sequence[str]) -> None:
    """Have every marker of a line say its text when it is pointed at; on paper the figure stays what it is."""
    line.nr_tips = list(texts)  # type: ignore[attr-defined]


def legend(figure: Figure) -> None:
    """A legend above the axes, which grows by it, in as many columns as its names leave; none is cut off, and no line hidden."""
    entries = [*zip(*figure.axes[0].get_legend_handles_labels(), strict=True)]
    if not entries:
        return
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
    ticks.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,), numticks=9))  # as many as stand side by side
    ticks.set_major_formatter(lambda value, _: f"{value:,g}")
    ticks.set_minor_locator(NullLocator())


def tip(name: Any, value: float, place: Any) -> str:
    """What a marker says: the line that it is of, its value and where that is. A slider finds it by this text."""
    return f"{name}: {plain(value)} at {place}"


def heatmap(values: pd.DataFrame, height: float, **style: Any) -> tuple[Figure, Axes]:
    """A heat map of values, with the text on its cells set in black or white, whichever stands out more from the cell; `style`
    goes to seaborn's `heatmap`."""
    import seaborn  # with scipy.stats, and most pages have no heat map

    figure, (axis,) = new(WIDE, height)
    seaborn.heatmap(values, ax=axis, **{"cbar": False, "annot_kws": {"size": 11}, **style})
    cells: Any = axis.collections[0]
    shown = cells.get_facecolors()[~np.ma.getmaskarray(cells.get_array()).ravel()]  # a hidden cell has no text
    for text, face in zip(axis.texts, shown, strict=True):
        dark = seaborn.utils.relative_luminance(face) <= 0.179  # WCAG 2: where black and white have the same contrast
        text.set_color("white" if dark else "black")
    axis.grid(False)
    axis.tick_params(axis="both", rotation=0)
    return figure, axis


def show(figure: Figure, alt: str, caption: str) -> Fragment:
    """The figure, made by `new`, as a fragment with its caption.

    What a reader who cannot see it should know is `alt`: the axes and what stands out, with its values; statements beyond the
    first `SAID` characters are left to the tables.
    """
    alt = said(alt)
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
    wide = f"--nr-wide: {72 * figure.get_figwidth() + 1:.0f}px"  # a pixel more: its text is no smaller than it was set
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(alt)}" ', 1)
    return Fragment(f'<figure class="nr-figure" tabindex="0" style="{wide}">{svg}<figcaption>{escape(caption)}</figcaption>'
                    '</figure>')


def said(alt: str) -> str:
    """A text alternative of at most `SAID` characters, which ends after a whole statement."""
    statements, rest = re.split(r"(?<=[;.]) ", alt), " The rest is in the tables."
    while len(" ".join(statements)) > SAID - (len(alt) > SAID) * len(rest) and len(statements) > 1:
        statements.pop()
    kept = shorten(" ".join(statements).rstrip(";."), SAID - len(rest) - 1, placeholder=" …")
    return alt if len(alt) <= SAID else f"{kept}.{rest}"


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


CELL = 30  # points: a square that lies within a cell of a grid
FLAT_LABELS = 60  # characters that fit side by side below an axis; longer labels are broken into lines
DIFFERENT, SAME = "●", "N"  # N as in David (2020), table 4.3


def grid_heatmap(table: pd.DataFrame, rows: str, columns: str, value: str, caption: str, lowest: bool = False) -> Fragment:
    """A value over two parameters, the best cell framed: the highest, or the lowest."""
    wide = table.pivot(index=rows, columns=columns, values=value)
    figure, axis = heatmap(wide, height=0.55 * len(wide) + 1.2, fmt=".3f", annot=True,
                                   cmap="cividis_r" if lowest else "cividis")
    axis.set_xticklabels([fill(str(name), FLAT_LABELS // len(wide.columns)) for name in wide.columns])
    known = np.argwhere(wide.notna().to_numpy())
    cells, = axis.plot(known[:, 1] + 0.5, known[:, 0] + 0.5, "s", ms=CELL, alpha=0)  # unseen: they say what they lie on
    places = (f"{rows} = {wide.index[row]}, {columns} = {wide.columns[column]}" for row, column in known)
    hover(cells, [tip(value, wide.iloc[*at], place) for at, place in zip(known, places, strict=True)])
    row, column = divmod(int((np.nanargmin if lowest else np.nanargmax)(wide.to_numpy())), wide.shape[1])
    axis.add_patch(Rectangle((column, row), 1, 1, fill=False, edgecolor="#D55E00", lw=3))
    alt = (f"{caption} Heat map of {value} over {rows} and {columns}, from {plain(np.nanmin(wide.to_numpy()))} to "
           f"{plain(np.nanmax(wide.to_numpy()))}; the best is {rows} = {wide.index[row]}, {columns} = {wide.columns[column]}.")
    return show(figure, alt, caption)


def pair_matrix(effects: pd.DataFrame, above: pd.DataFrame, below: pd.DataFrame, rules: tuple[str, str], measure: str,
                caption: str) -> Fragment:
    """Every pair of systems twice: one rule's decision above the diagonal, another's below; the colour is the difference, of the
    `effects`, (systems, systems), the row's mean less the column's. Whether the first of the `rules` calls a pair different is in
    `above`, of the same shape, and whether the second does in `below`."""
    size, names = len(effects), list(effects.index)
    upper = np.triu(np.ones((size, size), dtype=bool), 1)
    marks = np.where(np.where(upper, above, below), DIFFERENT, SAME)
    largest = max(float(np.abs(effects.to_numpy()).max()), 1e-6)
    figure, _ = heatmap(
        effects, 0.34 * size + 1.0, mask=np.eye(size, dtype=bool), annot=marks, fmt="", cmap="PuOr", vmin=-largest, vmax=largest,
        linewidths=0.5, linecolor="#808080", xticklabels=[str(n) for n in range(1, size + 1)], cbar=True,
        cbar_kws={"label": f"{measure}: row less column", "pad": 0.02}, annot_kws=None,
        yticklabels=[f"{name}  {n}" for n, name in enumerate(names, start=1)])
    pairs = list(combinations(range(size), 2))
    texts = []
    for where, rule, decided in (("Above", rules[0], above.to_numpy()), ("Below", rules[1], below.to_numpy())):
        alike = [f"{names[a]} and {names[b]}" for a, b in pairs if not decided[a, b]]
        texts.append(f"{where} the diagonal ({rule}) {len(pairs) - len(alike)} of {len(pairs)} pairs differ"
                    + (f", not {'; '.join(alike)}." if alike else "."))
    row, column = divmod(int(effects.to_numpy().argmax()), size)
    alt = (f"Matrix of {size} systems, {measure} of the row less that of the column. {' '.join(texts)} The largest difference is "
           f"{signed(float(effects.to_numpy()[row, column]))}, {names[row]} over {names[column]}.")
    return show(figure, alt, caption)
