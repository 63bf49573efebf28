"""Calibration of the verdicts: systems with known effects are drawn, and judged by the book's own inference and rules.

Values are like the book's: most queries do not move between two systems, the others by steps of a reciprocal rank; trainings
move a whole system, and single queries of it. Variances are those of the chapter *Seeds*; what is known of the seeds'
variance is in every repetition estimated anew, from as many seeds as that chapter has.

| column | of systems that differ by | should be |
|---|---|---|
| false | nothing: called supported or contradicted | at most .05 |
| false, queries alone | nothing: significant in a test that sees no trainings | shows why trainings must be drawn |
| equal | the margin: called equivalent | at most .05 |
| power | the minimum detectable effect: called supported | about .80 |
"""

import math
from typing import Any

import numpy as np

from bench.work import Scale
from helpers.evaluation import hierarchical
from helpers.evaluation.hierarchical import KnownNoise, Rows, training_noise
from helpers.evaluation.significance import Paired, TrainingNoise, bootstrap_draws, intervals, permutation_ps
from helpers.evaluation.verdicts import CONTRADICTED, EQUIVALENT, SUPPORTED, judge

SEED = 20210610
MEASURE = "RR@10"
QUERY, REST = 0.057, 0.016  # variance of a query's difference between two systems, and of a training's own way with a query
STILL = 0.6  # share of queries that two systems treat alike
STEPS = np.array([1 / 2, 2 / 3, 1 / 6, 1 / 3, 3 / 4, 1 / 4, 4 / 5, 9 / 10])  # differences of reciprocal ranks
MARGIN = 0.05
BLOCK = 250  # repetitions judged at once
SETTINGS = (  # seeds of the first and the second system, queries, how much wider seeds scatter than in the chapter *Seeds*
    (0, 0, 43, 1.0), (0, 0, 400, 1.0), (1, 0, 400, 1.0), (1, 1, 400, 1.0), (2, 0, 400, 1.0), (2, 2, 400, 1.0), (3, 3, 400, 1.0),
    (4, 4, 400, 1.0), (2, 2, 1800, 1.0), (1, 1, 400, 1.5), (3, 3, 400, 1.5),
)


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """The table: a row for each number of seeds and queries."""
    repetitions = scale.repetitions
    return {"repetitions": repetitions, "margin": MARGIN, "components": {"seed": seed_variance(), "query": QUERY, "rest": REST},
            "rows": [row(np.random.default_rng([SEED, n]), *setting, repetitions) for n, setting in enumerate(SETTINGS)]}


def seed_variance() -> float:
    """Between seeds of one system, as the chapter *Seeds* measured it."""
    return hierarchical.known_noise(MEASURE).variance


def row(rng: np.random.Generator, first: int, second: int, queries: int, wider: float, repetitions: int) -> dict[str, Any]:
    """The rates for systems of so many seeds, 0 for one that nothing was trained for; see `SETTINGS`."""
    moved, noises = drawn(rng, first, second, queries, wider, repetitions)
    null = comparisons(moved, noises, 0.0)
    effects = np.array([one.detectable for one in null])
    verdicts = {name: [judge("higher", one, margin=MARGIN).verdict for one in comparisons(moved, noises, shift)]
                for name, shift in (("null", 0.0), ("margin", MARGIN), ("minus", -MARGIN), ("effect", effects))}
    blind = permutation_ps(moved)
    return {"seeds": [first, second], "queries": queries, "wider": wider, "detectable": float(np.median(effects)),
            "false": share(verdicts["null"], SUPPORTED, CONTRADICTED), "false_queries_alone": float((blind < 0.05).mean()),
            "equal": (share(verdicts["margin"], EQUIVALENT) + share(verdicts["minus"], EQUIVALENT)) / 2,
            "power": share(verdicts["effect"], SUPPORTED)}


def drawn(rng: np.random.Generator, first: int, second: int, queries: int, wider: float,
          repetitions: int) -> tuple[np.ndarray, list[TrainingNoise]]:
    """Experiments without a true difference.

    Differences of the systems' means over seeds, (queries, repetitions), and what inference takes the noise of training to be.
    """
    columns, noises = [], []
    for _ in range(repetitions):
        freedom = hierarchical.known_noise(MEASURE).freedom
        known = KnownNoise(seed_variance() * rng.chisquare(freedom) / freedom, freedom, 0.0)
        ours, theirs = (system(rng, seeds, queries, wider) for seeds in (first, second))
        moved = rng.choice(STEPS, queries) * rng.choice([-1.0, 1.0], queries) * (rng.random(queries) > STILL)
        ours = Rows(ours.values + moved * math.sqrt(QUERY / ((1 - STILL) * (STEPS**2).mean())), ours.trained)
        columns.append(ours.values.mean(axis=0) - theirs.values.mean(axis=0))
        noises.append(training_noise(ours, theirs, MEASURE, known=known))
    return np.stack(columns, axis=1), noises


def system(rng: np.random.Generator, seeds: int, queries: int, wider: float) -> Rows:
    """What the trainings of one system add to the values of its queries."""
    if not seeds:
        return Rows(np.zeros((1, queries)), 0)
    own = rng.normal(0, wider * math.sqrt(seed_variance()), (seeds, 1))
    moved = rng.choice(STEPS, (seeds, queries)) * rng.choice([-1.0, 1.0], (seeds, queries))
    sparse = moved * (rng.random((seeds, queries)) > STILL) * math.sqrt(REST / ((1 - STILL) * (STEPS**2).mean()))
    return Rows(own + sparse, 1)


def comparisons(values: np.ndarray, noise: list[TrainingNoise], shift: float | np.ndarray) -> list[Paired]:
    """The comparison in every repetition, with a true difference added, the same or one for each."""
    pairs = []
    for start in range(0, values.shape[1], BLOCK):
        moved, noises = (values + shift)[:, start:start + BLOCK], noise[start:start + BLOCK]
        draws, p_values = bootstrap_draws(moved, noise=noises), permutation_ps(moved, noise=noises)
        for n, own in enumerate(noises):
            mean = float(moved[:, n].mean())
            whole, narrow = intervals(mean, draws[:, n])
            error = math.sqrt(float(moved[:, n].var(ddof=1)) / len(moved) + own.variance)
            pairs.append(Paired(whole, narrow, math.nan, float(p_values[n]), len(moved), error, noise=own))
    return pairs


def share(verdicts: list[str], *kinds: str) -> float:
    """Of the verdicts those that are one of some kinds."""
    return sum(verdict in kinds for verdict in verdicts) / len(verdicts)
