"""Whose turn it is: requests are computed in slices, those that are due first before the others.

One worker thread has the engine, since a connection to SQLite belongs to the thread that opened it. A request is a generator: it
yields which scorer is to read what, gets the scores, and returns its answer. It is due in a time that grows with its work: small
ones go ahead of large ones, and none waits for ever. What would make one late that was taken is refused, and what nobody waits
for any more is dropped between slices.
"""

import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from math import ceil, isfinite
from typing import Any

from helpers.errors import BadInput

SLICE, MOST = 0.25, 256  # seconds of a slice, and inputs of one at most
PATIENCE = 0.75, 2.5  # a request is due in so many seconds and so many times its own: half a second of work in two
Asking = Generator[tuple[str, list[Any]], list[float], Any]  # a scorer's name and its inputs; their scores; the answer


class Overloaded(RuntimeError):
    """What cannot be done in time; `seconds` until it may be."""

    def __init__(self, why: str, seconds: float):
        super().__init__(why)
        self.seconds = max(1, ceil(seconds))


class Job:
    """A request on its way; `ahead` are the scorers and the numbers of inputs that it is expected to need from here on."""

    def __init__(self, request: Any, ahead: Sequence[tuple[str, float]]):
        self.request, self.ahead, self.future, self.due = request, list(ahead), Future[Any](), 0.0
        self.asking: Asking | None = None
        self.scorer, self.inputs, self.scores = "", list[Any](), list[float]()


class Batcher:
    """The requests that were taken, and their worker.

    Args:
        make: makes the engine, in the worker: a function from a request to its `Asking`, with `scorers` by name, `expected`, a
            function from a request to `Job.ahead`, and `trial`, inputs for each scorer, which it is timed with. What it raises,
            this raises.
        timeout: seconds in which a request is answered.
        together: requests of a slice, at most.
    """

    def __init__(self, make: Callable[[], Any], timeout: float, together: int = MOST):
        self.timeout, self._together, self._open, ready = timeout, together, True, Future[Any]()
        self._changed, self._jobs = threading.Condition(), list[Job]()
        self._seen = {"": (0.0, 0.0)}  # by scorer, the inputs of late and their seconds; "": steps between scorers
        self._thread = threading.Thread(target=self._work, args=(make, ready), name="worker", daemon=True)
        self._thread.start()
        self.engine = ready.result()
        self._begun = dict(self._seen)

    @property
    def waiting(self) -> int:
        """How many requests are being answered."""
        return sum(not job.future.done() for job in self._jobs)

    def rate(self, scorer: str) -> float:
        """The inputs that a scorer reads in a second, as measured of late."""
        count, seconds = self._seen.get(scorer, (0.0, 0.0))
        return count / seconds if seconds else 1e6

    def left(self, job: Job) -> float:
        """The seconds of work that a request has left, about."""
        own = [(job.scorer, len(job.inputs) - len(job.scores)), *job.ahead, ("", 1 + len(job.ahead))]
        return sum(count / self.rate(scorer) for scorer, count in own if count)

    def submit(self, request: Any) -> "Future[Any]":
        """The answer, in the future; cancelled, it is dropped. Overloaded if it could not be done in time, or would make one late
        that was taken."""
        job = Job(request, self.engine.expected(request))
        with self._changed:
            if not self._open:
                raise Overloaded("the service ends", 1)
            now, own, before = time.monotonic(), self.left(job), [other for other in self._jobs if not other.future.done()]
            job.due, most = now + PATIENCE[0] + PATIENCE[1] * own, (self.timeout - PATIENCE[0]) / PATIENCE[1]
            if own > most:
                if not before:
                    self._seen = dict(self._begun)  # what was slow in a busy moment is forgotten
                raise Overloaded(f"this takes about {own:.0f} seconds of the {most:.0f} that may be spent: ask for fewer "
                                 "candidates", min(own - most, self.timeout))
            end = now
            for other in sorted([*before, job], key=lambda one: one.due) if job.ahead else ():  # without, it takes a moment
                end += self.left(other)
                if before and end > other.due:
                    raise Overloaded("too much is being computed", end - other.due)
            self._jobs.append(job)
            self._changed.notify()
        return job.future

    def close(self) -> None:
        """Take no more requests, answer those that were taken, and end the thread."""
        with self._changed:
            self._open = False
            self._changed.notify()
        self._thread.join()

    def _work(self, make: Callable[[], Any], ready: "Future[Any]") -> None:
        try:
            self._engine = make()
            for _ in range(2):  # the first time warms up
                self._seen.clear()
                for scorer, inputs in self._engine.trial.items():
                    self._timed(scorer, inputs)
        except BaseException as error:  # noqa: BLE001 - whatever it is, who made this object raises it
            ready.set_exception(error)
            return
        ready.set_result(self._engine)
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._jobs or not self._open)
                self._jobs = [job for job in self._jobs if not job.future.done()]
                jobs = sorted(self._jobs, key=lambda job: job.due)
                if not jobs and not self._open:
                    return
            if fresh := [job for job in jobs if job.asking is None]:
                self._advance(fresh[0], None)
            elif jobs:
                self._slice([job for job in jobs if job.scorer == jobs[0].scorer][:self._together])

    def _advance(self, job: Job, scores: list[float] | None) -> None:
        """Give a request its scores, and have it say what it needs next."""
        started = time.perf_counter()
        try:
            job.asking = job.asking or self._engine(job.request)
            while True:
                job.scorer, job.inputs = job.asking.send(scores)  # type: ignore[arg-type] # None begins it
                job.ahead, job.scores, scores = job.ahead[1:], [], []
                if job.inputs:
                    break
        except StopIteration as end:
            _give(job, end.value)
        except Exception as error:  # noqa: BLE001 - whatever it is, who asked is told
            _give(job, error)
        self._note("", 1, time.perf_counter() - started)

    def _slice(self, jobs: list[Job]) -> None:
        """Score what requests with one scorer need next, as much as a slice holds; if that fails, each by itself."""
        room, parts = max(1, min(MOST, int(SLICE * self.rate(jobs[0].scorer)))), list[tuple[Job, list[Any]]]()
        for job in jobs:
            if part := job.inputs[len(job.scores):][:room]:
                parts, room = [*parts, (job, part)], room - len(part)
        try:
            scores = self._timed(jobs[0].scorer, [one for _, part in parts for one in part])
        except Exception as error:  # noqa: BLE001 - whatever it is, who asked is told
            for job, _ in parts:
                if len(parts) == 1:
                    _give(job, error)
                else:
                    self._slice([job])
            return
        for job, part in parts:
            job.scores, scores = job.scores + scores[:len(part)], scores[len(part):]
            if len(job.scores) == len(job.inputs):
                self._advance(job, job.scores)

    def _timed(self, scorer: str, inputs: list[Any]) -> list[float]:
        started = time.perf_counter()
        scores = [float(score) for score in self._engine.scorers[scorer](inputs)]
        if not all(map(isfinite, scores)):
            raise BadInput(f"the model {scorer} gives scores that are no numbers", mend="train it again, or take another one")
        self._note(scorer, len(inputs), time.perf_counter() - started)
        return scores

    def _note(self, scorer: str, count: int, seconds: float) -> None:
        counts, times = self._seen.get(scorer, (0.0, 0.0))
        self._seen[scorer] = 0.8 * counts + count, 0.8 * times + seconds


def _give(job: Job, answer: Any) -> None:
    if job.future.set_running_or_notify_cancel():
        (job.future.set_exception if isinstance(answer, Exception) else job.future.set_result)(answer)
