"""Two tasks over sentences on which starting points are compared (Gao & Callan 2021, section 5.2).

| task | trained on | measured |
|---|---|---|
| similarity | scored pairs: the cosine towards the score, by squared error | Spearman's correlation over pairs |
| sections | triplets: two sentences of a section, one of another section of the same document | the share told apart |

Both use the state of [CLS]. Beside them stand encoders that were not trained on the task: the backbone by its mean states, the
start by its [CLS].
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from helpers.data import stsb
from helpers.evaluation.hierarchical import own_noise
from helpers.evaluation.rank_correlation import rank_correlations
from helpers.evaluation.significance import PERMUTATIONS, SEED, Interval, Paired, intervals, student, training_draws
from helpers.evaluation.verdicts import model_name
from helpers.networks import backbone
from helpers.networks.fine_tuning import Schedule
from helpers.pretraining.sentences import almanac_pairs, fold, predicted_similarity, sample, section_triplets, triplet_accuracy
from helpers.steps import Step
from helpers.systems.evaluated import Evaluation, together
from helpers.systems.starting_points import START, Starts
from helpers.systems.testbed import SplitTestbed
from helpers.systems.zero_shot import ZERO_SHOT

AS_IT_IS = f"{START}, as it is"
ALMANAC, FOLDS = "almanac", 3  # its pairs have no files of their own for training and test: they are cross-validated
POOLING, MARGIN = "cls", 1.0
STSB_PAIRS = 5749  # of the benchmark's training file
MEASURE = "spearman"


@dataclass(frozen=True)
class Correlation(Evaluation):
    """One of the systems of `rank_correlations`, wherever an `Evaluation` may stand; its one measure is `spearman`."""

    facts: dict[str, Any] = field(default_factory=dict, repr=False)  # the step's value

    @property
    def seed_means(self) -> pd.DataFrame:
        """A row a seed with its rho."""
        return pd.DataFrame({MEASURE: self.facts["systems"][self.label]["seeds"]})

    def mean(self, measure: str = MEASURE) -> Interval:
        """The mean rho over seeds, and its 95 % interval over pairs."""
        own = self.facts["systems"][self.label]
        return Interval(own["mean"], own["low"], own["high"])

    def against(self, baseline: Evaluation, measure: str = MEASURE, drawn: bool = True) -> Paired:
        """The paired comparison with another system of the same step, which made it over pairs, with the noise of the seeds;
        ValueError for any other evaluation."""
        if not isinstance(baseline, Correlation) or baseline.facts is not self.facts:
            raise ValueError("two systems of one step are wanted")
        if baseline.label == self.label:
            none = Interval(0.0, 0.0, 0.0)
            return Paired(none, none, 1.0, 1.0, (self.facts["pairs"],), 0.0, "pairs")
        ours, theirs = (np.array(self.facts["systems"][system.label]["seeds"]) for system in (self, baseline))  # rho of each
        own = self.facts["against"][self.label][baseline.label]  # over pairs: it holds for these trained models
        error, mean = (own["high"] - own["low"]) / (2 * special.ndtri(0.975)), own["difference"]
        noise = own_noise(ours, theirs)
        draws = error * student(math.inf, PERMUTATIONS, SEED) + training_draws(noise, 1, PERMUTATIONS, SEED + 1)[:, 0]
        p = float((np.abs(draws) >= abs(mean)).mean()) if noise.variance else 0.0
        return Paired(*intervals(mean, draws), own["p_t"], max(p, own["p_permutation"]), (self.facts["pairs"],),
                      float(np.hypot(error, np.sqrt(noise.variance))), "pairs", noise)


def correlations(source: Step) -> dict[str, Correlation]:
    """The systems of a step of `rank_correlations`, by name."""
    facts = source.value()
    return {name: Correlation(name, pd.DataFrame(), pd.DataFrame(), source, unit="pairs", facts=facts)
            for name in facts["systems"]}


def training_pairs(pairs: str) -> int:
    """How many pairs there are to train on."""
    return len(almanac_pairs().value()) * (FOLDS - 1) // FOLDS if pairs == ALMANAC else STSB_PAIRS


def similarity(pairs: str, starts: Starts, spec: str, sizes: Sequence[int],
               trained: Schedule) -> tuple[dict[tuple[str, int], Correlation], dict[str, Correlation]]:
    """Spearman's correlation by start and size; and of encoders as they are.

    The Almanac's pairs are cross-validated: each third is judged by an encoder that was trained on the other two. Of the STS
    benchmark, `pairs` names the folder or hub dataset; it has a training file and a test file.
    """
    truth = almanac_pairs() if pairs == ALMANAC else stsb.pairs(pairs, "test")
    seeds = list(next(iter(starts.values())))

    def sides(seed: int) -> list[tuple[Step, Step]]:
        if pairs != ALMANAC:
            return [(stsb.pairs(pairs, "train"), truth)]
        return [(fold(truth, number, FOLDS, seed, True), fold(truth, number, FOLDS, seed, False)) for number in range(FOLDS)]

    def predicted(size: int, seed: int, pooling: str, weights: Step | None, own: Schedule) -> list[Step]:
        return [predicted_similarity(sample(train, size, seed), test, backbone.resolve(spec), pooling, weights,
                                     **vars(replace(own, seed=seed))) for train, test in sides(seed)]

    places = {f"{start}, {size or 'all'}": (start, size) for start in starts for size in sizes}
    predictions = {name: [predicted(size, seed, POOLING, starts[start][seed], trained) for seed in seeds]
                   for name, (start, size) in places.items()}
    known = {name: [predicted(sizes[0], seeds[0], *encoder, replace(trained, epochs=0, steps=None))] * len(seeds)
             for name, encoder in untrained(starts, spec).items()}
    by_name = correlations(rank_correlations(predictions | known, truth))
    return {place: by_name[name] for name, place in places.items()}, {name: by_name[name] for name in known}


def sections(starts: Starts, spec: str, collection: str, sizes: Sequence[int], triplets: int, tested: int,
             trained: Schedule) -> tuple[dict[tuple[str, int], Evaluation], dict[str, Evaluation]]:
    """Accuracy on triplets of sentences by start and size; and of encoders as they are. Train and test triplets come from
    articles of their own where the collection is split by article: those that are relevant to a split's queries."""
    beds = [SplitTestbed(collection, "document", (split,)) for split in ("train", "test")]
    train, test = (section_triplets(bed.store, bed.qrels_step, count, 1, bed.min_relevance)
                   for bed, count in zip(beds, (triplets, tested), strict=True))

    def accuracy(label: str, size: int, pooling: str, weights: Step | None, own: Schedule) -> Evaluation:
        step = triplet_accuracy(sample(train, size, own.seed), test, backbone.resolve(spec), pooling, MARGIN, weights,
                                **vars(own))
        return Evaluation(label, pd.DataFrame(), step.value().set_index("triplet_id"), step, unit="triplets")

    known = {name: accuracy(name, sizes[0], *encoder, replace(trained, epochs=0, steps=None))
             for name, encoder in untrained(starts, spec).items()}
    return {(start, size): together(f"{start}, {size or 'all'}", [
        accuracy(f"{start}, {size or 'all'}, seed {seed}", size, POOLING, weights, replace(trained, seed=seed))
        for seed, weights in by_seed.items()]) for start, by_seed in starts.items() for size in sizes}, known


def untrained(starts: Starts, spec: str) -> Mapping[str, tuple[str, Step | None]]:
    """Pooling and weights of what is measured as it is: the backbone by its mean states, the start by its [CLS]."""
    own = {AS_IT_IS: (POOLING, next(iter(starts[START].values())))} if START in starts else {}
    return {f"{ZERO_SHOT} {model_name(spec)}": ("mean", None), **own}
