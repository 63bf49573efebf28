from types import SimpleNamespace

import numpy as np
import pytest

from helpers.networks import inference
from helpers.networks.inference import batches, run_batches


def test_batches_are_length_sorted_and_within_the_budget():
    lengths = np.array([3, 9, 1, 7, 5, 5])
    batched = [list(batch) for batch in batches(lengths, budget=14)]
    assert batched == [[1], [3, 4], [5, 0], [2]]  # 9; 7+5 at width 7; 5+3 at width 5; 1 — 2 rows of 7 are 14, 3 rows of 5 are 15


def test_every_input_is_in_one_batch_and_one_longer_than_the_budget_goes_alone():
    lengths = np.random.default_rng(1).integers(1, 60, size=200)
    batched = [list(batch) for batch in batches(lengths, budget=50)]
    assert sorted(n for batch in batched for n in batch) == list(range(200))
    assert all(len(batch) == 1 or len(batch) * lengths[batch].max() <= 50 for batch in batched)


@pytest.mark.slow
def test_every_batch_is_run_once_and_an_error_is_raised():
    seen = []
    run_batches(lambda batch: seen.extend(batch.tolist()), np.full(100, 2000))
    assert sorted(seen) == list(range(100))
    with pytest.raises(ZeroDivisionError):
        run_batches(lambda batch: 1 / 0, np.array([1]))


@pytest.mark.slow
def test_memory_is_given_back_where_the_c_library_can(monkeypatch):
    calls = []
    monkeypatch.setattr(inference, "ctypes", SimpleNamespace(CDLL=lambda name: SimpleNamespace(malloc_trim=calls.append)))
    inference.run_batches(lambda batch: None, np.array([3, 2]))
    assert calls == [0]
    inference.run_batches(lambda batch: None, np.ones(2 * inference.TIDY + 1, dtype=int), budget=1)
    assert calls == 4 * [0]  # twice on the way, and at the end

    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(inference, "ctypes", SimpleNamespace(CDLL=missing))
    inference.give_back()
