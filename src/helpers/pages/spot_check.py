"""Beside recorded times: a few seconds' measurement by the same code on the machine that executes the page."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from helpers.pages import page
from helpers.pages.fragments import Fragment, linked
from helpers.pages.numbers import plain
from helpers.steps import Step

SPOT_CHECK = "spot_check"  # in a page's data: the key of a measurement that is never recorded


def spot_check(recorded: Step, rounds_of: Callable[[Any], Mapping[str, Any]], unit: str, **smaller: Any) -> Fragment:
    """A recorded measurement and a short one that is made now, with the ratio of their medians; nothing is measured again if
    the page's own times are of this machine. `rounds_of` takes the rounds out of a value, numbers by the name of what was
    measured; `smaller` are the arguments with which the step is a matter of seconds.
    """
    there = rounds_of(recorded.value())
    if page.source_of(recorded) != "recorded":
        return page.prose("The times on this page were measured on the machine that executed it.")
    again = recorded.again(**smaller)
    here = rounds_of(again.value())
    pairs = {name: (np.median(there[name]), np.median(here[name])) for name in there if name in here}
    machines = [page.where(step.entry().manifest["machine"]) for step in (recorded, again)]
    shown = page.records_table(
        f"Spot check: the same code, recorded on {machines[0]}, and for a moment here, on {machines[1]}",
        [{"measured": name, f"recorded ({unit})": linked(plain(before), recorded),
          f"here ({unit})": linked(plain(now), again), "here / recorded": f"{now / before:.2f}×"}
         for name, (before, now) in pairs.items()])
    return Fragment(shown.html, data={SPOT_CHECK: again.key})
