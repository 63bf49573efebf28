"""Did fine-tunings from several starting points train to the end? Their losses on held-out queries, and a rule for levelling."""

from collections.abc import Mapping

import pandas as pd

from helpers.pages import page, plots
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain, signed
from helpers.pages.training import curve
from helpers.stories.readiness import Starts
from helpers.systems.search_tasks import SearchTask

LEVEL = 0.05  # a loss that falls by less than this share from one evaluation to the last has levelled


def losses(task: SearchTask, starts: Starts, size: int) -> dict[str, pd.Series]:
    """The loss on held-out queries over the optimiser steps by starting point, the mean over seeds."""
    return {start: pd.concat([curve(task.encoder(weights, size, seed).log.value(), "eval_loss")
                              for seed, weights in by_seed.items()], axis=1).mean(axis=1) for start, by_seed in starts.items()}


def figure(lines: Mapping[str, pd.Series]) -> Fragment:
    """The loss on held-out queries, as figure 5 has that of the training."""
    return plots.curves(lines, "optimiser steps", "loss on held-out queries",
                        "Loss on held-out queries with the largest training set, a mean over seeds where there are several.")


def levelled(line: pd.Series) -> bool:
    """Whether a loss no longer falls at the end, by the rule of `LEVEL`. The share is of the value before and not of the whole
    fall, most of which is the first steps', after which any curve would look level."""
    before, last = line.iloc[-2:]
    return bool(last > (1 - LEVEL) * before)


def table(lines: Mapping[str, pd.Series]) -> Fragment:
    """The last two evaluations of each starting point, the lowest of all, and whether the loss has levelled."""
    rows = [{"starting point": start, "last but one": plain(own.iloc[-2]), "last": plain(own.iloc[-1]),
             "change": f"{signed(100 * (own.iloc[-1] / own.iloc[-2] - 1), 0)} %", "lowest": plain(own.min()),
             "at step": count(own.index.tolist()[int(own.argmin())]), "levelled": "yes" if levelled(own) else "no"}
            for start, own in lines.items()]
    return page.records_table("Held-out losses at the end; levelled is one that falls by less than "
                              f"{LEVEL:.0%} from one evaluation to the last", rows)
