"""Matrices as figures: grids of settings, comparisons of pairs of systems, confusions of types. Each writes its own text."""

from itertools import combinations
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

from helpers.pages import figures
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import plain, signed

CELL = 30  # points: a square that lies within a cell of a grid
FLAT_LABELS = 60  # characters that fit side by side below an axis; longer labels are broken into lines
LISTED = 12  # pairs that the text alternative names
DIFFERENT, SAME = "●", "N"  # N as in David (2020), table 4.3


def grid_heatmap(table: pd.DataFrame, rows: str, columns: str, value: str, caption: str, lowest: bool = False) -> Fragment:
    """A value over two parameters, the best cell framed: the highest, or the lowest."""
    wide = table.pivot(index=rows, columns=columns, values=value)
    figure, axis = figures.heatmap(wide, height=0.55 * len(wide) + 1.2, fmt=".3f", annot=True,
                                   cmap="cividis_r" if lowest else "cividis")
    axis.set_xticklabels([fill(str(name), FLAT_LABELS // len(wide.columns)) for name in wide.columns])
    known = np.argwhere(wide.notna().to_numpy())
    cells, = axis.plot(known[:, 1] + 0.5, known[:, 0] + 0.5, "s", ms=CELL, alpha=0)  # unseen: they say what they lie on
    places = (f"{rows} = {wide.index[row]}, {columns} = {wide.columns[column]}" for row, column in known)
    figures.hover(cells, [figures.tip(value, wide.iloc[*at], place) for at, place in zip(known, places, strict=True)])
    row, column = divmod(int((np.nanargmin if lowest else np.nanargmax)(wide.to_numpy())), wide.shape[1])
    axis.add_patch(Rectangle((column, row), 1, 1, fill=False, edgecolor="#D55E00", lw=3))
    alt = (f"{caption} Heat map of {value} over {rows} and {columns}, from {plain(np.nanmin(wide.to_numpy()))} to "
           f"{plain(np.nanmax(wide.to_numpy()))}; the best is {rows} = {wide.index[row]}, {columns} = {wide.columns[column]}.")
    return figures.show(figure, alt, caption)


def pair_matrix(effects: pd.DataFrame, above: pd.DataFrame, below: pd.DataFrame, rules: tuple[str, str], measure: str,
                caption: str) -> Fragment:
    """Every pair of systems twice: one rule's decision above the diagonal, another's below; the colour is the difference.

    Args:
        effects: (systems, systems), the row's mean less the column's.
        above: (systems, systems), whether the first of the `rules` calls the pair different; `below`, the second.
    """
    size, names = len(effects), list(effects.index)
    upper = np.triu(np.ones((size, size), dtype=bool), 1)
    marks = np.where(np.where(upper, above, below), DIFFERENT, SAME)
    largest = max(float(np.abs(effects.to_numpy()).max()), 1e-6)
    figure, _ = figures.heatmap(
        effects, 0.34 * size + 1.0, mask=np.eye(size, dtype=bool), annot=marks, fmt="", cmap="PuOr", vmin=-largest, vmax=largest,
        linewidths=0.5, linecolor="#808080", xticklabels=[str(n) for n in range(1, size + 1)], cbar=True,
        cbar_kws={"label": f"{measure}: row less column", "pad": 0.02}, annot_kws=None,
        yticklabels=[f"{name}  {n}" for n, name in enumerate(names, start=1)])
    pairs = list(combinations(range(size), 2))
    texts = []
    for where, rule, decided in (("Above", rules[0], above.to_numpy()), ("Below", rules[1], below.to_numpy())):
        alike = [f"{names[a]} and {names[b]}" for a, b in pairs if not decided[a, b]]
        more = [f"{len(alike) - LISTED} more"] if len(alike) > LISTED else []
        texts.append(f"{where} the diagonal ({rule}) {len(pairs) - len(alike)} of {len(pairs)} pairs differ"
                    + (f", not {'; '.join([*alike[:LISTED], *more])}." if alike else "."))
    row, column = divmod(int(effects.to_numpy().argmax()), size)
    alt = (f"Matrix of {size} systems, {measure} of the row less that of the column. {' '.join(texts)} The largest difference is "
           f"{signed(float(effects.to_numpy()[row, column]))}, {names[row]} over {names[column]}.")
    return figures.show(figure, alt, caption)


def confusion_matrix(counts: pd.DataFrame, rows: str, columns: str, caption: str) -> Fragment:
    """How many of each true type (rows) got which type (columns): the colour is the share of the row."""
    shares = counts.div(counts.sum(axis=1).clip(lower=1), axis=0)
    figure, axis = figures.heatmap(shares, 0.45 * len(counts) + 1.6, annot=counts.map("{:,}".format), fmt="", cmap="cividis",
                                   vmin=0, vmax=1)
    axis.set(xlabel=columns, ylabel=rows)
    alt = f"Counts of {rows} by {columns}. " + " ".join(
        f"{kind}: {', '.join(f'{n:,} {given}' for given, n in line.items() if n) or 'none'}." for kind, line in counts.iterrows())
    return figures.show(figure, alt, caption)
