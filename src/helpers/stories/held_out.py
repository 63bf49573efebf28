"""Did fine-tunings from several starting points train to the end? Their losses on held-out queries."""

from collections.abc import Mapping

import pandas as pd

from helpers.pages import plots
from helpers.pages.fragments import Fragment
from helpers.pages.training import curve
from helpers.stories.readiness import Starts
from helpers.systems.search_tasks import SearchTask


def losses(task: SearchTask, starts: Starts, size: int) -> dict[str, pd.Series]:
    """The loss on held-out queries over the optimiser steps by starting point, the mean over seeds."""
    return {start: pd.concat([curve(task.encoder(weights, size, seed).log.value(), "eval_loss")
                              for seed, weights in by_seed.items()], axis=1).mean(axis=1) for start, by_seed in starts.items()}


def figure(lines: Mapping[str, pd.Series]) -> Fragment:
    """The loss on held-out queries, as figure 5 has that of the training."""
    return plots.curves(lines, "optimiser steps", "loss on held-out queries",
                        "Loss on held-out queries with the largest training set, a mean over seeds where there are several.")
