"""What was computed of some arrays is computed once; other values, and other settings, are other questions."""

import numpy as np
import pandas as pd

from helpers.evaluation.significance import TrainingNoise, paired, remembered


def test_the_same_values_are_computed_once():
    calls = []

    @remembered
    def total(values, times=1):
        """A sum."""
        calls.append(times)
        return times * float(np.sum(values))

    assert total([1.0, 2.0]) == total(pd.Series([1.0, 2.0])) == total([2.0, 1.0]) == 3
    assert total(np.array([1.0, 2.0]), times=2) == 6
    assert calls == [1, 1, 2]


def test_a_comparison_is_remembered_with_its_noise():
    ours, theirs = np.array([0.5, 1.0, 0.25]), np.array([0.25, 0.5, 0.5])
    first = paired(ours, theirs)
    assert paired(ours.copy(), theirs) is first
    assert paired(ours, theirs, noise=TrainingNoise(0.1, 3)) is not first
    ours[0] = 0.75  # changed in place: another question
    assert paired(ours, theirs).difference.mean != first.difference.mean
