"""Inference over trainings and queries together: how much of a difference another training would change.

Values of several seeds on the same queries are crossed: every seed sees every query. The hierarchical bootstrap of
`significance.paired` draws the upper level, trainings, and then queries. Its upper level is estimated here:

- Two systems of several seeds each: the variance over seeds of a system's mean, pooled over both systems, divided by the seeds.
- What is pooled includes the variance that earlier trainings had (`known_noise`), with its degrees of freedom; for
  a system of one seed it is all there is. This is the moderated variance of Smyth (2004, section 3): two seeds alone would leave
  one degree of freedom, with which nothing is ever significant.
- A system that nothing random was trained for, such as BM25 or a zero-shot encoder, adds no noise.
- Two systems that are one training put to different uses (mean and maximum of the same scores): what they share cancels. Their
  rows are compared seed by seed; with one training the result holds for this training, and says so.
- With several pre-trainings these are the upper level: their means take the seeds' place.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np

from helpers import paths
from helpers.evaluation.significance import QUIET, Paired, TrainingNoise, paired

FILE = paths.PUBLISHED / "seed_noise.yaml"


@dataclass(frozen=True)
class KnownNoise:
    """The variance between seeds of one system's mean, as measured."""

    variance: float  # between seeds, alike for all queries
    freedom: int  # degrees of freedom of the estimate, seeds less one
    share: float  # the same variance as a share of the variance of single queries' values, for measures it was not measured in


@dataclass(frozen=True)
class Rows:
    """A system's values."""

    values: np.ndarray  # (seeds, queries); one row for a system without seeds
    # how many trainings with a seed each row rests on that the other system does not share: 0 for BM25, 1 for a model, 2 for
    # the lead of one model over another
    trained: int
    groups: tuple[str, ...] = ()  # which pre-training each row starts from; empty if there was none or one

    def means(self) -> np.ndarray:
        """The means over queries of the upper level's units: of pre-trainings if there are several, else of seeds."""
        own = self.values.mean(axis=1)
        names = sorted(set(self.groups))
        return np.array([own[[group == name for group in self.groups]].mean() for name in names]) if len(names) > 1 else own


@functools.cache
def measured_noise() -> dict[str, KnownNoise]:
    """The noise of earlier trainings, by measure."""
    return {name: KnownNoise(**own) for name, own in paths.listed(FILE)["measures"].items()}


def known_noise(measure: str = "") -> KnownNoise:
    """The noise of a measure in earlier trainings; of others the largest share of the variance over queries."""
    return measured_noise().get(measure) or max(measured_noise().values(), key=lambda own: own.share)


def compare(ours: Rows, theirs: Rows, measure: str, shared: bool = False) -> Paired:
    """Compare two systems on the same queries, in the same order, over seeds and queries together.

    What is known of the noise depends on the measure; `shared` says that both come out of the same trainings, row by row.
    """
    return paired(ours.values.mean(axis=0), theirs.values.mean(axis=0), training_noise(ours, theirs, measure, shared))


def training_noise(ours: Rows, theirs: Rows, measure: str, shared: bool = False,
                   known: KnownNoise | None = None) -> TrainingNoise:
    """The noise of training in the difference of two systems' means; `known` stands in for that of earlier trainings."""
    if shared:
        moved = ours.means() - theirs.means()
        if len(moved) < 2:
            return TrainingNoise(assumption="both are one training, and the interval holds for this training")
        return TrainingNoise(float(moved.var(ddof=1)) / len(moved), len(moved) - 1)
    systems = [rows for rows in (ours, theirs) if rows.trained]
    if not systems:
        return QUIET
    known, means = known or known_noise(measure), [rows.means() for rows in systems]
    prior = known.variance if measure in measured_noise() else known.share * max(
        float(rows.values.var(axis=1, ddof=1).mean()) / rows.trained for rows in systems)
    variance, freedom = pooled(means, [rows.trained for rows in systems], prior, known.freedom)
    return TrainingNoise(variance * sum(rows.trained / len(own) for own, rows in zip(means, systems, strict=True)), freedom,
                         words(means, variance))


def own_noise(ours: np.ndarray, theirs: np.ndarray) -> TrainingNoise:
    """The same from the means of the seeds alone, for a measure that earlier trainings say nothing of."""
    if len(ours) + len(theirs) < 3:
        return TrainingNoise(assumption="one seed: the noise of training is not in the interval")
    variance, freedom = pooled([ours, theirs], [1, 1])
    return TrainingNoise(variance * (1 / len(ours) + 1 / len(theirs)), freedom)


def pooled(means: list[np.ndarray], trained: list[int], prior: float = 0.0, prior_freedom: int = 0) -> tuple[float, int]:
    """The variance between trainings, pooled over systems and with what is known before, and its degrees of freedom."""
    squares = sum(float(((own - own.mean()) ** 2).sum()) / count for own, count in zip(means, trained, strict=True))
    freedom = prior_freedom + sum(len(own) - 1 for own in means)
    return (squares + prior_freedom * prior) / freedom, freedom


def words(means: list[np.ndarray], variance: float) -> str:
    """What was assumed of the noise, in words."""
    deviation = f"a deviation over seeds of {math.sqrt(variance):.3f}"
    if all(len(own) > 1 for own in means):
        return f"{deviation}, pooled with that of an older recipe's trainings"
    return f"one seed: the interval is widened by {deviation}, known from an older recipe's trainings"
