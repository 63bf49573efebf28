"""Inference over trainings and queries together: how much of a difference another training would change.

Values of several seeds on the same queries are crossed: every seed sees every query. The hierarchical bootstrap of
`significance.paired` draws the upper level, trainings, and then queries. Its upper level is estimated here:

- Two systems over the same seeds, which share data, order and start: the variance of their difference, seed by seed.
- Else the variance over seeds of each system's mean, divided by its seeds; pooled over both, if they are of one kind.
- What is pooled includes the variance that the book's other trainings of the same kind of model and recipe have (`known_noise`),
  with its degrees of freedom; for a system of one seed it is all there is. This is the moderated variance of Smyth (2004,
  section 3): two seeds alone would leave one degree of freedom, with which nothing is ever significant.
- A system that nothing random was trained for, such as BM25 or a zero-shot encoder, adds no noise.
- Two systems that are one training put to different uses (mean and maximum of the same scores): what they share cancels. Their
  rows are compared seed by seed; with one training the result holds for this training, and the page shows that.
- With several pre-trainings these are the upper level: their means take the seeds' place.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np

from helpers import paths
from helpers.evaluation.significance import QUIET, TrainingNoise

FILE = paths.PUBLISHED / "seed_noise.yaml"


@dataclass(frozen=True)
class KnownNoise:
    """A variance between trainings, alike for all queries, as the book's own seeds have it."""

    variance: float  # of one system's mean, or of the difference of two over the same seeds
    freedom: int  # degrees of freedom of the estimate
    share: float  # the variance as a share of that of single queries' values, for measures it was not measured in


@dataclass(frozen=True)
class Rows:
    """A system's values."""

    values: np.ndarray  # (seeds, queries); one row for a system without seeds
    # how many trainings with a seed each row rests on that the other system does not share: 0 for BM25, 1 for a model, 2 for
    # the lead of one model over another
    trained: int
    groups: tuple[str, ...] = ()  # which pre-training each row starts from; empty if there was none or one
    kind: str = ""  # of model and recipe, as `published/seed_noise.yaml` names them
    seeds: tuple[tuple[int, ...], ...] = ()  # of the trainings of each row

    def means(self) -> np.ndarray:
        """The means over queries of the upper level's units: of pre-trainings if there are several, else of seeds."""
        own = self.values.mean(axis=1)
        names = list(dict.fromkeys(self.groups))  # in the seeds' order
        return np.array([own[[group == name for group in self.groups]].mean() for name in names]) if len(names) > 1 else own


@functools.cache
def measured_noise() -> dict[str, dict[str, dict[str, KnownNoise]]]:
    """The noise of the book's trainings: by kind, by whether one system or the difference of two was measured (`single`,
    `paired`), and by measure."""
    return {kind: {way: {name: KnownNoise(**own) for name, own in measures.items()} for way, measures in ways.items()}
            for kind, ways in paths.listed(FILE)["kinds"].items()}


def known_noise(kind: str, measure: str, way: str = "single", spread: float = 0.0) -> KnownNoise:
    """The noise of a kind of training in a measure; in one that it was not measured in the largest share of the variance over
    queries, which is `spread`. A kind that was never trained with several seeds has the noise of the noisiest kind."""
    known = measured_noise()
    kinds = [kind] if known.get(kind, {}).get(way) else [name for name in known if known[name].get(way)]
    named = [known[name][way][measure] for name in kinds if measure in known[name][way]]
    if named:
        return max(named, key=lambda own: own.variance)
    widest = max((own for name in kinds for own in known[name][way].values()), key=lambda own: own.share)
    return KnownNoise(widest.share * spread, widest.freedom, widest.share)


def training_noise(ours: Rows, theirs: Rows, measure: str, shared: bool = False,
                   known: KnownNoise | None = None) -> TrainingNoise:
    """The noise of training in the difference of two systems' means; `known` stands in for that of the book's trainings."""
    if shared:
        moved = ours.means() - theirs.means()
        if len(moved) < 2:
            return TrainingNoise(assumption="both are one training, and the interval holds for this training")
        return TrainingNoise(float(moved.var(ddof=1)) / len(moved), len(moved) - 1)
    systems = [rows for rows in (ours, theirs) if rows.trained]
    if not systems:
        return QUIET
    spread = max(float(rows.values.var(axis=1, ddof=1).mean()) / rows.trained for rows in systems)
    if are_paired(ours, theirs):
        moved = ours.means() - theirs.means()
        prior = known or known_noise(ours.kind, measure, "paired", spread)
        variance, freedom = pooled([moved], [ours.trained], prior)
        return TrainingNoise(variance * ours.trained / len(moved), freedom, words(variance, f"{len(moved)} paired seeds"))
    total, parts, assumed = 0.0, list[tuple[float, float]](), list[str]()
    for kind in dict.fromkeys(rows.kind for rows in systems):
        own = [rows for rows in systems if rows.kind == kind]
        prior = known or known_noise(kind, measure, "single", spread)
        variance, freedom = pooled([rows.means() for rows in own], [rows.trained for rows in own], prior)
        counts = [len(rows.means()) for rows in own]
        part = variance * sum(rows.trained / count for rows, count in zip(own, counts, strict=True))
        total, parts = total + part, [*parts, (part, freedom)]
        assumed.append(words(variance, " and ".join("one seed" if count == 1 else f"{count} seeds" for count in counts)))
    shared_freedom = total**2 / sum(part**2 / own for part, own in parts) if total else math.inf  # Welch (1947)
    return TrainingNoise(total, shared_freedom, "; ".join(assumed))


def are_paired(ours: Rows, theirs: Rows) -> bool:
    """Whether two systems were trained over the same several seeds."""
    return (ours.trained == theirs.trained > 0 and () != ours.seeds == theirs.seeds
            and ours.kind == theirs.kind and len(ours.means()) == len(theirs.means()) > 1)


def own_noise(ours: np.ndarray, theirs: np.ndarray) -> TrainingNoise:
    """The same from the means of the seeds alone, for a measure that other trainings do not have."""
    if len(ours) + len(theirs) < 3:
        return TrainingNoise(assumption="one seed: the noise of training is not in the interval")
    variance, freedom = pooled([ours, theirs], [1, 1], KnownNoise(0.0, 0, 0.0))
    return TrainingNoise(variance * (1 / len(ours) + 1 / len(theirs)), freedom)


def pooled(means: list[np.ndarray], trained: list[int], prior: KnownNoise) -> tuple[float, int]:
    """The variance between trainings, pooled over systems and with what is known before, and its degrees of freedom."""
    squares = sum(float(((own - own.mean()) ** 2).sum()) / count for own, count in zip(means, trained, strict=True))
    freedom = prior.freedom + sum(len(own) - 1 for own in means)
    return (squares + prior.freedom * prior.variance) / freedom, freedom


def words(variance: float, seeds: str) -> str:
    """What was assumed of the noise, in words."""
    return f"{seeds}: the interval includes a deviation over trainings of {math.sqrt(variance):.3f}"
