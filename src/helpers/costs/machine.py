"""The machine of a benchmark: what it is, one core of it, and how fast it multiplies matrices."""

import os
import re
from typing import Any

from helpers.steps import ledger, numerics

FLAGS = ("amx_bf16", "avx512_bf16", "avx512f", "avx2")  # a processor's instructions for matrices, the best first
SIDE, PRODUCTS = 1024, 40  # of the matrices whose product is timed, and how many in a round: 86 GFLOP


def describe() -> dict[str, Any]:
    """CPU, cores, memory, system, and what decides the arithmetic: device, type, its instructions for matrices, GPU in use."""
    import torch

    return {**ledger.machine(), "device": numerics.device(), "dtype": numerics.dtype(),
            "flags": sorted(numerics.cpu_flags() & {*FLAGS}),
            "gpu": torch.cuda.get_device_name() if numerics.device() == "cuda" else None}


def kind(machine: dict[str, Any]) -> str:
    """What the goals tell apart: `GPU`, `CPU with AMX`, or `CPU without AMX`."""
    if machine["device"] == "cuda":
        return "GPU"
    return "CPU with AMX" if "amx_bf16" in machine["flags"] else "CPU without AMX"


def name_of(machine: dict[str, Any]) -> str:
    """A short name for a file: `amd-epyc-avx512-bf16`."""
    best = next((flag for flag in FLAGS if flag in machine["flags"]), "")
    text = machine["gpu"] or f"{machine['cpu']} {best}"
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"\((r|tm)\)|cpu|processor|@.*?ghz", " ", text.lower())).strip("-")


def one_core() -> None:
    """Keep this process, and all that it starts from now on, on one core with one thread."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"  # read by libraries that are loaded after this


class Products:
    """A round of matrix products, of the type and on the device that networks use here: so many `flops`, operations."""

    def __init__(self) -> None:
        import torch

        of = torch.bfloat16 if numerics.dtype() == "bf16" else torch.float32
        side = SIDE if numerics.device() == "cpu" else 8 * SIDE
        self._a, self._b = (torch.randn(side, side, device=numerics.device()).to(of) for _ in range(2))
        self.flops = 2.0 * side**3 * PRODUCTS

    def __call__(self) -> None:
        """Multiply."""
        import torch

        with torch.inference_mode():
            for _ in range(PRODUCTS):
                self._a @ self._b
