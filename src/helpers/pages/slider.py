"""Sliders: what was computed beforehand, one setting at a time, below the figure that shows all settings.

The controls stay hidden until `book/_static/sliders.js` fills them with life: without it, and on paper, the figure stands alone.
"""

import json
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd

from helpers.pages.figures import tip
from helpers.pages.fragments import Fragment, escape
from helpers.pages.numbers import plain


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
        key = setting if len(levels) > 1 else setting[0]
        values = table.loc[key].dropna() if key in table.index else pd.Series()
        told.append("; ".join(f"{name} {plain(value)}" for name, value in values.items()) or "not computed")
        marks.append([tip(name, value, place_of(names, setting)) for name, value in values.items()])
    controls = "".join(
        f'<label>{escape(str(name))} <input type="range" min="0" max="{len(own) - 1}" step="1" value="{own.index(value)}" '
        f'data-values="{as_attribute([f"{one:,g}" for one in own])}"></label> <b aria-hidden="true"></b> '
        for name, own, value in zip(names, levels, first, strict=True))
    return replace(figure, html=f'{figure.html}<div class="nr-slider" role="group" aria-label="Choose a setting" hidden '
                                f'data-told="{as_attribute(told)}" data-marks="{as_attribute(marks)}">{controls}'
                                '<output aria-live="polite"></output></div>')


def place_of(names: list[Any], setting: tuple[float, ...]) -> str:
    """Where a setting lies, as a marker says it: the value alone of one parameter, each with its name of several."""
    one, *others = setting
    return ", ".join(f"{name} = {value}" for name, value in zip(names, setting, strict=True)) if others else f"{one:g}"


def as_attribute(value: Any) -> str:
    """A value as JSON within an attribute."""
    return escape(json.dumps(value, ensure_ascii=False))
