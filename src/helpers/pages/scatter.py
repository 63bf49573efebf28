"""Labelled points in a plane: effect against cost, one measure against another."""

from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.pages import figures
from helpers.pages.fragments import Fragment, plain

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


def beside(measured: Places, printed: Places, bases: tuple[str, str], x: str, y: str, caption: str) -> Fragment:
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
