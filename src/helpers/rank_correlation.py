"""Systems that are judged by a rank correlation over pairs: an evaluation without a value for each query."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import stats

from helpers.evaluation import Evaluation
from helpers.significance import PERMUTATIONS, SEED, Interval, Paired

MEASURE = "spearman"
RESAMPLES = 1_000  # every one ranks all pairs anew
BATCH = 2_000


@dataclass(frozen=True)
class Correlation(Evaluation):
    """The predictions of one system, from one seed or several, against the true scores of the same pairs.

    It stands wherever an `Evaluation` does; its one measure is `spearman`, the mean over seeds of Spearman's rho.

    Args:
        predicted: a row a pair, a column a seed.
        truth: the true score of each pair, on the same index.
    """

    predicted: pd.DataFrame = field(default_factory=pd.DataFrame)
    truth: pd.Series = field(default_factory=pd.Series)

    def mean(self, measure: str = MEASURE) -> Interval:
        """Rho, and its 95 % interval by bootstrap over pairs (percentile)."""
        found = self._resampled(_draws(len(self.truth)))
        low, high = np.quantile(found, [0.025, 0.975])
        return Interval(self.rho(), float(low), float(high))

    def rho(self) -> float:
        """The mean over seeds of Spearman's rho over all pairs."""
        return float(np.mean(list(by_seed(self.predicted, self.truth))))

    def against(self, baseline: Evaluation, measure: str = MEASURE) -> Paired:
        """The paired comparison with another system on the same pairs.

        The interval is a bootstrap's over pairs, `p_t` that of the difference over the bootstrap's standard error, two-sided; the
        permutation test exchanges, pair by pair, the two systems' ranks.

        Raises:
            ValueError: for another kind of evaluation, or other pairs.
        """
        if not isinstance(baseline, Correlation) or not baseline.truth.index.equals(self.truth.index):
            raise ValueError("two rank correlations over the same pairs are wanted")
        draws = _draws(len(self.truth))
        differences = self._resampled(draws) - baseline._resampled(draws)
        difference, spread = self.rho() - baseline.rho(), float(np.std(differences, ddof=1))
        low, high = np.quantile(differences, [0.025, 0.975])
        p = float(2 * stats.norm.sf(abs(difference) / spread)) if spread else float(difference == 0)
        return Paired(Interval(difference, float(low), float(high)), p, exchanged_p(self, baseline), len(self.truth), "pairs")

    def _resampled(self, draws: np.ndarray) -> np.ndarray:
        """Rho of each bootstrap sample; ranks are taken anew in each."""
        truth = stats.rankdata(self.truth.to_numpy()[draws], axis=1)
        columns = [stats.rankdata(self.predicted[seed].to_numpy()[draws], axis=1) for seed in self.predicted]
        return np.mean([correlation(column, truth) for column in columns], axis=0)


def by_seed(predicted: pd.DataFrame, truth: pd.Series) -> dict[str, float]:
    """Spearman's rho of each column."""
    ranks = stats.rankdata(truth.to_numpy())[None]
    return {str(seed): float(correlation(stats.rankdata(predicted[seed].to_numpy())[None], ranks)[0]) for seed in predicted}


def correlation(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Pearson's correlation of each row of one array with the same row of the other; 0 where one is constant."""
    first, second = (each - each.mean(axis=1, keepdims=True) for each in (first, second))
    product = (first * second).sum(axis=1)
    size = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    return np.divide(product, size, out=np.zeros_like(product), where=size > 0)


def exchanged_p(first: Correlation, second: Correlation, permutations: int = PERMUTATIONS // 10, seed: int = SEED) -> float:
    """Two-sided p of the permutation test that exchanges the systems' ranks of each pair, in all seeds together.

    If both systems are equally good it makes no difference whose rank a pair gets.

    Raises:
        ValueError: if the systems have different numbers of seeds.
    """
    if first.predicted.shape != second.predicted.shape:
        raise ValueError(f"{first.predicted.shape[1]} and {second.predicted.shape[1]} seeds: the same number is wanted")
    ranks = [[stats.rankdata(each.predicted[column].to_numpy()) for column in each.predicted] for each in (first, second)]
    truth = stats.rankdata(first.truth.to_numpy())
    generator = np.random.default_rng(seed)
    observed, beyond = abs(first.rho() - second.rho()), 0
    for start in range(0, permutations, BATCH):
        flipped = generator.random((min(BATCH, permutations - start), len(truth))) < 0.5
        target = np.broadcast_to(truth, flipped.shape)
        found = np.mean([correlation(np.where(flipped, b, a), target) - correlation(np.where(flipped, a, b), target)
                         for a, b in zip(*ranks, strict=True)], axis=0)
        beyond += int((np.abs(found) >= observed - 1e-12).sum())
    return (beyond + 1) / (permutations + 1)


def _draws(pairs: int) -> np.ndarray:
    """Positions of the bootstrap samples, (samples, pairs): the same for all systems."""
    return np.random.default_rng(SEED).integers(pairs, size=(RESAMPLES, pairs))

