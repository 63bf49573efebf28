"""The numerics class: on what kind of arithmetic a value was computed.

Rounding differs between bfloat16 and float32, and between a CPU and a GPU. A key names a recipe and ignores that; the
class is kept beside the value, so that a reader's own class is preferred and another one is used with its label.
"""

import contextlib
import functools
import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

EXACT = "exact"  # the class of steps without floating-point networks: they agree to the last digit everywhere


@functools.cache
def device() -> str:
    """`cuda` where PyTorch sees a GPU (or `BOOK_DEVICE`, if it is set), else `cpu`."""
    import torch

    return os.environ.get("BOOK_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu")


def devices() -> list[str]:
    """Every class of device that this machine has."""
    import torch

    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


@functools.cache
def dtype() -> str:
    """`bf16` where the hardware multiplies bfloat16 fast (AMX, AVX512-BF16, a GPU since Ampere), else `fp32`.

    On other CPUs bfloat16 is emulated and slower than float32. `BOOK_DTYPE` overrides the detection.
    """
    import torch

    if chosen := os.environ.get("BOOK_DTYPE"):
        return chosen
    if device() == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp32"
    return "bf16" if cpu_flags() & {"amx_bf16", "avx512_bf16"} else "fp32"


@contextlib.contextmanager
def using(name: str) -> Iterator[None]:
    """Compute on the named device (`cpu`, `cuda`) for a while, whatever the default is."""
    before = os.environ.get("BOOK_DEVICE")
    try:
        _choose(name)
        yield
    finally:
        _choose(before)


def _choose(name: str | None) -> None:
    os.environ.pop("BOOK_DEVICE", None)
    if name:
        os.environ["BOOK_DEVICE"] = name
    device.cache_clear()
    dtype.cache_clear()


@functools.cache
def cpu_flags() -> frozenset[str]:
    """The instruction-set flags of the CPU, as Linux lists them; empty elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return frozenset()
    return frozenset(next((line for line in lines if line.startswith("flags")), "").split())


def own_class() -> str:
    """The class of a network computed here and now, such as `cpu-bf16-torch2.13`."""
    return f"{device()}-{dtype()}-torch{'.'.join(version('torch').split('.')[:2])}"
