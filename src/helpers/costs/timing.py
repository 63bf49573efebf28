"""Contenders timed in turns, round by round, and what may be said of their rounds."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

LEVEL = 0.95  # of the interval for a median
TOLERANCE = 0.001  # of a mean measure, between contenders that should give the same scores

Prepare = Callable[[], Callable[[], Any]]  # makes a round's work ready, which is not timed; the work is


class Drifted(RuntimeError):
    """A contender that should give the same scores as another one ranks differently."""


@dataclass
class Rounds:
    """The rounds of all contenders.

    Args:
        seconds: of each counted round, by contender.
        cpu: the processor's time of this process in the same rounds.
        given: what each contender's work returned in its last round.
    """

    seconds: dict[str, list[float]] = field(default_factory=dict)
    cpu: dict[str, list[float]] = field(default_factory=dict)
    given: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, dict[str, list[float]]]:
        """The times, as they stand in the results' file."""
        return {name: {"seconds": self.seconds[name], "cpu": self.cpu[name]} for name in self.seconds}


def always(work: Callable[[], Any]) -> Prepare:
    """A contender whose rounds need nothing made ready."""
    return lambda: work


def interleave(contenders: Mapping[str, Prepare], rounds: int, clock: Callable[[], float] = time.perf_counter,
               wait: Callable[[], None] = lambda: None) -> Rounds:
    """Time every contender once a round, so that a busy moment of the machine meets them all.

    The first round is not counted: it warms caches and compilers up. Each round begins with another contender, so that none is
    always the first.

    Args:
        contenders: by name.
        rounds: counted, one at least.
        clock: seconds.
        wait: called before and after each work; waits for a GPU.

    Raises:
        ValueError: for less than one round.
    """
    if rounds < 1:
        raise ValueError(f"{rounds} rounds: one at least")
    names, found = list(contenders), Rounds()
    for number in range(rounds + 1):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            work = contenders[name]()
            wait()
            started, cpu = clock(), time.process_time()
            found.given[name] = work()
            wait()
            spent = clock() - started
            if number:
                found.seconds.setdefault(name, []).append(spent)
                found.cpu.setdefault(name, []).append(time.process_time() - cpu)
            print(f"    {'round ' + str(number) if number else 'warming up'}: {name} {spent:.2f} s", file=sys.stderr, flush=True)
    return found


@dataclass(frozen=True)
class Spread:
    """A median with an interval for it, and the probability that the interval covers the true median."""

    median: float
    low: float
    high: float
    coverage: float


def spread(values: Sequence[float]) -> Spread:
    """The median of independent rounds, with the narrowest interval between two of them that covers it in 95 % of cases.

    It assumes nothing of the distribution: the true median lies below the k-th smallest of n values with the probability that
    a coin shows less than k heads in n throws. With fewer than six rounds even smallest to largest cover it in less than 95 %
    of cases; the coverage says in how many.
    """
    ordered, n = sorted(values), len(values)
    coverages = {k: 1 - 2 * float(stats.binom.cdf(k - 1, n, 0.5)) for k in range(1, n // 2 + 1)}
    k = max((k for k, coverage in coverages.items() if coverage >= LEVEL), default=1)
    return Spread(float(np.median(ordered)), ordered[k - 1], ordered[n - k], coverages.get(k, 0.0))


def ratio(slower: Sequence[float], faster: Sequence[float]) -> Spread:
    """How many times as long the first takes as the second: the spread over rounds of the ratio within a round."""
    return spread([a / b for a, b in zip(slower, faster, strict=True)])


def drift(scores: pd.DataFrame, reference: pd.DataFrame) -> dict[str, float]:
    """The difference of each mean measure from the reference's.

    Args:
        scores: per query, a column a measure.
        reference: the same of the contender that the others should agree with.
    """
    return {measure: float(scores[measure].mean() - reference[measure].mean()) for measure in reference.columns}


def check_drift(found: Mapping[str, Mapping[str, float]], checked: Sequence[str], tolerance: float = TOLERANCE) -> None:
    """Make sure that contenders which should give the reference's scores do.

    Raises:
        Drifted: naming every measure of every checked contender that differs by more than the tolerance, or is no number.
    """
    wrong = [f"{name}: {measure} {value:+.5f}" for name in checked for measure, value in found[name].items()
             if not abs(value) <= tolerance]
    if wrong:
        raise Drifted(f"not the same scores (tolerance {tolerance}): {'; '.join(wrong)}")
