"""Figures: one style for all, shown as inline SVG with a text for those who do not see it.

The SVG's ink is `currentColor`, so that it follows the page into dark mode; its text stays text, so that it can be
searched and read aloud. Colours are Okabe and Ito's, which colour-blind readers can tell apart.
"""

import io
import re
from html import escape
from typing import Any

import matplotlib
import seaborn as sns
from cycler import cycler
from matplotlib.figure import Figure

from helpers.fragments import Fragment

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
INK = "#010203"  # a colour nothing else has: replaced by currentColor in the SVG
STYLE: Any = {
    "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 11,
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none", "legend.frameon": False,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.spines.top": False, "axes.spines.right": False, "axes.prop_cycle": cycler(color=COLOURS),
    "axes.grid": True, "grid.color": "#808080", "grid.alpha": 0.25, "axes.axisbelow": True,
}


def new(width: float = 7.0, height: float = 3.6, columns: int = 1) -> tuple[Figure, list]:
    """A figure with one row of axes, in the book's style; inches."""
    sns.set_theme(style="ticks", rc=STYLE)
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(1, columns, squeeze=False)[0])


def show(figure: Figure, alt: str, caption: str) -> Fragment:
    """The figure as a fragment.

    Args:
        figure: a Matplotlib figure made by `new`.
        alt: what a reader who cannot see it should know: the axes and what stands out, with its values.
        caption: the line below it.
    """
    buffer = io.StringIO()
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": alt}):  # the ids of two figures on a page must differ
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()[buffer.getvalue().index("<svg"):]
    svg = re.sub(r' id="[a-z0-9]+_\d+"', "", svg).replace(INK, "currentColor")
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1), count=1)
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(alt)}" ', 1)
    return Fragment(f'<figure class="nr-figure">{svg}<figcaption>{escape(caption)}</figcaption></figure>')
