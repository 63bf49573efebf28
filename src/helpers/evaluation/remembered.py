"""What was computed of some arrays is remembered: a table, a verdict and a sentence of a page may rest on one comparison."""

import functools
from collections.abc import Callable, Hashable
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
T = TypeVar("T")


def remembered(function: Callable[P, T]) -> Callable[P, T]:
    """The same function, which computes its result once for the same arrays and settings; nobody may change that result."""
    kept: dict[Hashable, T] = {}

    @functools.wraps(function)
    def once(*arguments: P.args, **settings: P.kwargs) -> T:
        key = (*map(_content, arguments), *sorted(settings.items()))
        if key not in kept:
            kept[key] = function(*arguments, **settings)
        return kept[key]

    return once


def _content(argument: Any) -> Hashable:
    array = np.asarray(argument)
    return (array.shape, array.dtype.str, array.tobytes()) if array.ndim else argument
