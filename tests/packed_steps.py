"""Toy steps that travel in a pack: a process elsewhere imports them by this module's name."""

import time
from typing import Any

from helpers.steps import step


@step(version=1, form="json")
def packed_input(number: int) -> int:
    return number


@step(version=1, form="json", network=True)
def packed_sum(first: Any, second: Any) -> int:
    return first + second


@step(version=1, form="json")
def packed_double(number: Any) -> int:
    return 2 * number


@step(version=1, form="json", network=True)
def packed_sleep(seconds: int) -> int:
    time.sleep(seconds)
    return seconds


@step(version=1, form="json", network=True)
def packed_slow(number: int) -> list[int]:  # of `campaigns/elsewhere.py`
    time.sleep(0.3)
    return list(range(number, number + 200_000))


@step(version=1, form="json", timing=True)
def packed_timing(number: int) -> int:
    return number
