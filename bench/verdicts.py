"""Calibration of the verdicts: systems with known effects are drawn, and judged by the book's own inference and rules.

Values are like the book's: most queries do not move between two systems, the others by steps of a reciprocal rank; trainings
move a whole system, and single queries of it. Seeds that are paired share half of what they move. What is known of trainings is
in every repetition estimated anew, with as many degrees of freedom as `published/seed_noise.yaml` has for re-rankers of passages.

| column | of systems that differ by | should be |
|---|---|---|
| false | nothing: the 95 % interval excludes zero | at most .05 |
| false, queries alone | nothing: significant in a test that sees no trainings | shows why trainings must be drawn |
| equal | the margin: called *too small to matter* | at most .05 |
| power | the smallest difference that would be seen: the 95 % interval lies above zero | about .80 |
"""

import math
from typing import Any, NamedTuple

import numpy as np

from bench.work import Scale
from helpers.evaluation.hierarchical import KnownNoise, Rows, known_noise, training_noise
from helpers.evaluation.significance import Paired, TrainingNoise, bootstrap_draws, intervals, permutation_ps
from helpers.evaluation.verdicts import SMALL, judge

SEED = 20210610
MEASURE = "RR@10"
KIND = "re-rankers of passages"
QUERY, REST = 0.057, 0.016  # variance of a query's difference between two systems, and of a training's own way with a query
STILL = 0.6  # share of queries that two systems treat alike
STEPS = np.array([1 / 2, 2 / 3, 1 / 6, 1 / 3, 3 / 4, 1 / 4, 4 / 5, 9 / 10])  # differences of reciprocal ranks
MARGIN = 0.05
BLOCK = 250  # repetitions judged at once
SHARED = 0.5  # of the variance of a seed, what two systems have in common that are trained over it
LITTLE, MUCH = 0.006, 0.018  # the deviation over seeds of a system's mean


class Setting(NamedTuple):
    """An experiment."""

    seeds: tuple[int, int]  # of the first and the second system, 0 for one that nothing was trained for
    queries: int
    scatter: float = LITTLE
    paired: bool = False  # whether both were trained over the same seeds
    wider: float = 1.0  # how much more seeds scatter than what is known of them


SETTINGS = (Setting((0, 0), 43), Setting((0, 0), 400), Setting((1, 0), 400), Setting((1, 1), 400), Setting((1, 1), 400, MUCH),
            *(Setting((seeds, seeds), 400, scatter, paired) for seeds in (2, 3, 5) for scatter in (LITTLE, MUCH)
              for paired in (False, True)),
            Setting((2, 2), 1800, LITTLE, True),
            Setting((1, 1), 400, LITTLE, False, 1.5), Setting((3, 3), 400, LITTLE, True, 1.5))


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """The table: a row for each experiment."""
    repetitions = scale.repetitions
    return {"repetitions": repetitions, "margin": MARGIN,
            "components": {"little": LITTLE, "much": MUCH, "query": QUERY, "rest": REST},
            "rows": [row(np.random.default_rng([SEED, n]), setting, repetitions) for n, setting in enumerate(SETTINGS)]}


def row(rng: np.random.Generator, setting: Setting, repetitions: int) -> dict[str, Any]:
    """The rates of an experiment."""
    moved, noises = drawn(rng, setting, repetitions)
    null = comparisons(moved, noises, 0.0)
    effects = np.array([one.detectable for one in null])
    words = [judge("higher", one, margin=MARGIN) for shift in (MARGIN, -MARGIN) for one in comparisons(moved, noises, shift)]
    seen = [one.difference.low > 0 for one in comparisons(moved, noises, effects)]
    blind = permutation_ps(moved)
    excluded = [one.difference.low > 0 or one.difference.high < 0 for one in null]
    return {**setting._asdict(), "seeds": list(setting.seeds), "detectable": float(np.median(effects)),
            "false": float(np.mean(excluded)), "false_queries_alone": float((blind < 0.05).mean()),
            "equal": words.count(SMALL) / len(words), "power": float(np.mean(seen))}


def drawn(rng: np.random.Generator, setting: Setting, repetitions: int) -> tuple[np.ndarray, list[TrainingNoise]]:
    """Experiments without a true difference.

    Differences of the systems' means over seeds, (queries, repetitions), and what inference takes the noise of training to be.
    """
    known = known_noise(KIND, MEASURE, "paired" if setting.paired else "single")
    true = setting.scatter**2 * (2 * (1 - SHARED) if setting.paired else 1)
    columns, noises = [], []
    for _ in range(repetitions):
        prior = KnownNoise(true * rng.chisquare(known.freedom) / known.freedom, known.freedom, 0.0)
        common = rng.normal(0, 1, (max(setting.seeds), 1)) if setting.paired else None
        ours, theirs = (system(rng, seeds, setting, common) for seeds in setting.seeds)
        moved = rng.choice(STEPS, setting.queries) * rng.choice([-1.0, 1.0], setting.queries) * (
            rng.random(setting.queries) > STILL)
        shifted = ours.values + moved * math.sqrt(QUERY / ((1 - STILL) * (STEPS**2).mean()))
        ours = Rows(shifted, ours.trained, (), ours.kind, ours.seeds)
        columns.append(ours.values.mean(axis=0) - theirs.values.mean(axis=0))
        noises.append(training_noise(ours, theirs, MEASURE, known=prior))
    return np.stack(columns, axis=1), noises


def system(rng: np.random.Generator, seeds: int, setting: Setting, common: np.ndarray | None) -> Rows:
    """What the trainings of one system add to the values of its queries; `common` is what another one's have, too."""
    if not seeds:
        return Rows(np.zeros((1, setting.queries)), 0)
    own = rng.normal(0, 1, (seeds, 1))
    if common is not None:
        own = math.sqrt(SHARED) * common + math.sqrt(1 - SHARED) * own
    moved = rng.choice(STEPS, (seeds, setting.queries)) * rng.choice([-1.0, 1.0], (seeds, setting.queries))
    sparse = moved * (rng.random(moved.shape) > STILL) * math.sqrt(REST / ((1 - STILL) * (STEPS**2).mean()))
    numbers = tuple((n,) for n in range(seeds)) if common is not None else ()
    return Rows(setting.wider * setting.scatter * own + sparse, 1, (), KIND, numbers)


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
            pairs.append(Paired(whole, narrow, math.nan, float(p_values[n]), (len(moved),), error, noise=own))
    return pairs
