"""Running a model over many inputs of different lengths: length-sorted batches, one PyTorch thread for each CPU core.

Several workers with one thread each beat one worker with several threads on a CPU (measured: 1.2 times on two quiet
cores), and stay fast when another program takes a core: no operation waits for a thread that is not running.
"""

import contextlib
import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from helpers.steps import ledger, numerics
from helpers.steps.numerics import cores

# oneDNN keeps what it compiles for each shape of a batch, by default for 1024 of them: up to a gigabyte. So many are as fast.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "256")

AT_ONCE = 200_000  # texts whose tokens are in memory: what scores more of them takes one such part after the other
TOKEN_BUDGET = 4096  # padded tokens a batch: enough to fill a core's units, small enough for its caches
GPU_TOKEN_BUDGET = 65536
TIDY = 16  # batches after which freed memory is given back: as fast as never, and a tenth less


def batches(lengths: np.ndarray, budget: int) -> Iterator[np.ndarray]:
    """Positions of a length-sorted order (longest first), cut so that rows x longest row <= budget."""
    order, start = np.argsort(-lengths, kind="stable"), 0
    while start < len(order):
        rows = max(1, budget // max(1, int(lengths[order[start]])))
        yield order[start:start + rows]
        start += rows


def run_batches(function: Callable[[np.ndarray], Any], lengths: np.ndarray, progress: str = "",
                budget: int = TOKEN_BUDGET) -> None:
    """Call `function` with the positions of every batch, in inference mode, on a CPU from several threads; it stores what it
    computes itself.

    Args:
        lengths: tokens of each input.
        progress: what the bar calls the inputs; no bar for "".
        budget: padded tokens a batch on a CPU.
    """
    import torch

    on_gpu = numerics.device() != "cpu"

    def work(batch: np.ndarray) -> int:
        with torch.inference_mode():
            function(batch)
        return len(batch)

    # one PyTorch thread a worker: the setting belongs to the thread that makes it
    pool = ThreadPoolExecutor(1) if on_gpu else ThreadPoolExecutor(cores(), initializer=lambda: torch.set_num_threads(1))
    with pool, ledger.bar(progress, len(lengths)) as bar:
        for number, done in enumerate(pool.map(work, batches(lengths, GPU_TOKEN_BUDGET if on_gpu else budget)), start=1):
            bar.update(done)
            if number % TIDY == 0:
                give_back()
    give_back()


def give_back() -> None:
    """Give free memory back to the system: glibc keeps what threads have freed, half a gigabyte in a shard of passages."""
    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def padded(rows: Sequence[Sequence[float]], value: float = 0) -> Any:
    """Rows of numbers as one tensor, (rows, longest), padded with the value, on the CPU."""
    import torch

    return torch.nn.utils.rnn.pad_sequence([torch.tensor(list(row)) for row in rows], batch_first=True, padding_value=value)


def mask_of(rows: Sequence[Sequence[float]]) -> Any:
    """1 at what is there of `padded` rows, 0 at the padding."""
    return padded([[1] * len(row) for row in rows])
