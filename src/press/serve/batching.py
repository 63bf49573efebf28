"""Concurrent requests become batches: one worker thread takes whatever waits, computes it together, and hands the answers out.

The thread makes what computes, too, since a connection to SQLite belongs to the thread that opened it.
"""

import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any


class Overloaded(RuntimeError):
    """As many requests wait as may wait."""


class Batcher:
    """A bounded queue and its worker.

    Args:
        make: makes the function from requests to their answers, in their order; what it raises, this raises.
        cost: of a request, in whatever `most` counts: a batch takes further requests while their sum stays within it.
        waiting: requests that may wait; one more is `Overloaded`.
    """

    def __init__(self, make: Callable[[], Callable[[Sequence[Any]], Sequence[Any]]], cost: Callable[[Any], float], most: float,
                 waiting: int):
        self._queue: queue.Queue[tuple[Any, Future[Any]] | None] = queue.Queue(waiting)
        self._cost, self._most, self._open, ready = cost, most, True, Future[Any]()
        self._thread = threading.Thread(target=self._work, args=(make, ready), name="worker", daemon=True)
        self._thread.start()
        self.function = ready.result()

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return self._queue.qsize()

    def submit(self, request: Any) -> "Future[Any]":
        """The answer, in the future; cancelled in time, it is not computed. Overloaded if the queue is full, or closed."""
        future: Future[Any] = Future()
        try:
            if not self._open:
                raise queue.Full
            self._queue.put_nowait((request, future))
        except queue.Full:
            raise Overloaded from None
        return future

    def close(self) -> None:
        """Take no more requests, answer those that wait, and end the thread."""
        if self._open:
            self._open = False
            self._queue.put(None)
        self._thread.join()

    def _work(self, make: Callable[[], Any], ready: "Future[Any]") -> None:
        try:
            function = make()
        except BaseException as error:  # noqa: BLE001 - whatever it is, who made this object raises it
            ready.set_exception(error)
            return
        ready.set_result(function)
        held: tuple[Any, Future[Any]] | None = None
        while (first := held or self._queue.get()) is not None:
            batch, held = self._batch(first)
            if running := [(request, future) for request, future in batch if future.set_running_or_notify_cancel()]:
                self._answer(function, running)
            if held is None and not self._open and self._queue.empty():
                return

    def _batch(self, first: tuple[Any, "Future[Any]"]) -> tuple[list[Any], Any]:
        """What is computed together, and a request that is too much for it, which comes next."""
        batch, cost = [first], self._cost(first[0])
        with contextlib.suppress(queue.Empty):
            while (following := self._queue.get_nowait()) is not None:
                cost += self._cost(following[0])
                if cost > self._most:
                    return batch, following
                batch.append(following)
        return batch, None

    @staticmethod
    def _answer(function: Callable[[Sequence[Any]], Sequence[Any]], batch: list[tuple[Any, "Future[Any]"]]) -> None:
        """Give each request its answer; of several that cannot be computed together, each by itself."""
        try:
            for (_, future), answer in zip(batch, function([request for request, _ in batch]), strict=True):
                future.set_result(answer)
        except Exception as error:  # noqa: BLE001 - whatever it is, who asked is told
            if len(batch) == 1:
                batch[0][1].set_exception(error)
                return
            for one in batch:
                Batcher._answer(function, [one])
