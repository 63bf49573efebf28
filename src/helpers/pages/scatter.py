"""Labelled points in a plane: effect against cost, one measure against another."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.pages import figures
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import plain
from helpers.pages.plots import MARKERS, PRINTED

Places = Mapping[str, tuple[float, float]]  # by name: what it costs, and what it gives

LINE = 12  # points: the height of a line of text
MARK = 4  # points from the middle of a mark to its edge


def points(table: pd.DataFrame, x: str, y: str, caption: str, log: bool = False, line: str = "",
           of: str = "") -> Fragment:
    """Labelled points: the frame's index names them, two of its columns place them.

    Those alike in the column `line` are joined; those alike in the column `of` look alike, hollow if they are `published`.
    """
    figure, (axis,) = figures.new(figures.WIDE)
    ordered = table.sort_values(x)
    for number, (kind, own) in enumerate(ordered.groupby(line or of, sort=False) if line or of else [("", ordered)]):
        marker, face = ("D", "none") if kind == PRINTED else (MARKERS[number], None)
        drawn, = axis.plot(own[x], own[y], marker=marker, mfc=face, ls="-" if line else "none", color=figures.COLOURS[number],
                           label=kind)
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


def beside(measured: Places, printed: Places, bases: tuple[str, str], x: str, y: str, caption: str) -> Fragment:
    """Cost and effect, measured and as a study prints them: each as a multiple of its own base's cost, and less its effect."""
    rows = {(name, kind): {x: cost / own[base][0], y: effect - own[base][1], "of": kind} for kind, own, base in (
        ("measured", measured, bases[0]), (PRINTED, printed, bases[1])) for name, (cost, effect) in own.items()}
    return points(pd.DataFrame(rows).T.droplevel(1).astype({x: float, y: float}), x, y, caption, log=True, of="of")


def name_points(figure: Figure, axis: Axes, places: pd.DataFrame) -> None:
    """Write each point's name (the index) beside its x and y, towards the middle; one that would lie on another moves, on a line.

    The axis's scales and margins must be set before.
    """
    figure.draw_without_rendering()  # settles where the points are
    inches = figure.dpi_scale_trans.inverted().transform
    spots = 72 * inches(axis.transData.transform(places.to_numpy(dtype=float)))
    middle = 72 * inches(axis.transAxes.transform((0.5, 0.5)))
    taken = [(x - MARK, x + MARK, height) for x, height in spots]  # of the marks, and of the names so far: from, to, height
    for number in np.argsort(-abs(spots[:, 1] - middle[1])):  # the outermost stay where they are
        (x, height), name = spots[number], str(places.index[number])
        side, step, moved = -1 if x > middle[0] else 1, 1 if height < middle[1] else -1, 0
        start, end = sorted((x + 7 * side, x + (7 + figures.LETTER * len(name)) * side))
        while any(start < high and low < end and abs(height + moved - at) < LINE for low, high, at in taken):
            moved += step
        taken.append((start, end, height + moved))
        axis.annotate(name, tuple(places.iloc[number]), xytext=(7 * side, moved), textcoords="offset points", va="center",
                      ha="left" if side > 0 else "right", fontsize=11,
                      arrowprops={"arrowstyle": "-", "lw": 0.5, "color": figures.INK, "shrinkB": 3} if abs(moved) > 4 else None)
