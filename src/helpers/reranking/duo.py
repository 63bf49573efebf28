"""duoBERT: from the probabilities that one document is more relevant than another to a score of each.

Nogueira et al. (2019, arXiv:1910.14424; with T5, Pradeep et al. 2021, arXiv:2101.05667); Steensland (2021, section 3.1.2).
A list of k documents asks for k (k - 1) inferences, one for each ordered pair.
"""

from collections.abc import Callable

import numpy as np

from helpers.registry import Registry

BETTER = 0.5  # a probability above it counts as a won comparison

# what each makes of the probabilities of a document against the others that it was compared with
DUOS: Registry[Callable[[np.ndarray], float]] = Registry("aggregation of pairs", {
    "sum": lambda wins: float(wins.sum()),
    "binary": lambda wins: float((wins > BETTER).sum()),
    "min": lambda wins: float(wins.min()),
    "max": lambda wins: float(wins.max()),
    "sample": lambda wins: float(wins.sum()),  # over the `compared` alone
})


def compared(documents: int, how: str, sample: int, seed: int = 1) -> list[tuple[int, int]]:
    """The ordered pairs (i, j) of so many documents that are asked for: all, or with `sample` each document against so many
    others, drawn without replacement."""
    random = np.random.default_rng(seed)
    others = [[j for j in range(documents) if j != i] for i in range(documents)]
    if how == "sample":
        others = [sorted(random.permutation(row)[:sample].tolist()) for row in others]
    return [(i, j) for i, row in enumerate(others) for j in row]


def duo_scores(probabilities: np.ndarray, how: str) -> list[float]:
    """The score of each document from `probabilities` (k, k): in row i, column j that i is more relevant than j; NaN where the
    pair was not compared. A document that was compared with none scores 0; BadInput for an unknown name."""
    wins = [row[~np.isnan(row)] for row in probabilities]
    return [DUOS[how](row) if len(row) else 0.0 for row in wins]
