"""The numerics class: on what kind of arithmetic a value was computed.

Rounding differs between bfloat16 and float32, and between a CPU and a GPU. A key names a recipe and ignores that; the
class is kept beside the value, so that a reader's own class is preferred and another one is used with its label.

A value's class follows from what it was made of (`class_of`):

- a step whose function computes with a network (`@step(..., network=True)`) adds the class of the process that computed it;
- every step has the classes of its inputs, those that were really used: a table of measures made here of a run that was recorded
  as `cpu-bf16-torch2.13` is of that class, whatever this machine has;
- several classes are named together, `cpu-bf16-torch2.13+cuda-bf16-torch2.13`, and none is `exact`;
- a measurement of time or memory is `measured`: it belongs to its machine.

How many threads computed a value is in neither its key nor its class, but in its manifest (`machine.threads`): two add up in
another order than one, which moves the last digits of weights, and of scores so little that `book verify` tolerates it.
"""

import contextlib
import functools
import os
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

from helpers.errors import BadInput

EXACT = "exact"  # of values with no network in or below them: they agree to the last digit everywhere
CORES = "BOOK_CORES"
FLAGS = ("amx_bf16", "avx512_bf16", "avx512f", "avx2", "avx512_vnni")  # for matrices, the best first; the last in eight bits
MEASURED = "measured"  # of times and sizes of memory


@functools.cache
def device() -> str:
    """`cuda` where PyTorch sees a GPU (or `BOOK_DEVICE`, if it is set), else `cpu`."""
    return _setting("BOOK_DEVICE", "cpu", "cuda") or devices()[-1]


def _setting(name: str, *known: str) -> str:
    """A variable of the environment, empty if it is not set; BadInput for an unknown value."""
    if (text := os.environ.get(name, "")) not in ("", *known):
        raise BadInput(f"{name}={text!r}", mend=f"set it to {' or '.join(known)}, or not at all")
    return text


def devices() -> list[str]:
    """Every class of device that this machine has."""
    if "+cpu" in version("torch"):  # an answer without the seconds that the import takes
        return ["cpu"]
    import torch

    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


@functools.cache
def dtype() -> str:
    """`bf16` where the hardware multiplies bfloat16 fast (AMX, AMD's AVX512-BF16, a GPU since Ampere), else `fp32`.

    On other CPUs bfloat16 is slower: emulated, or multiplied no faster than float32 and converted all the time. On an Intel Xeon
    with AVX512-BF16 whose AMX the host hides, float32 scores 1.3 and trains 1.5 times as many pairs. `BOOK_DTYPE` overrides this.
    """
    if chosen := _setting("BOOK_DTYPE", "bf16", "fp32"):
        return chosen
    if device() == "cuda":
        import torch

        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp32"
    fast = "amx_bf16" if cpu("vendor_id") == "GenuineIntel" else "avx512_bf16"
    return "bf16" if fast in cpu_flags() else "fp32"


@contextlib.contextmanager
def using(name: str) -> Iterator[None]:
    """Compute on the named device (`cpu`, `cuda`) for a while, whatever the default is."""
    before = os.environ.get("BOOK_DEVICE")
    try:
        settle({"BOOK_DEVICE": name})
        yield
    finally:
        settle({"BOOK_DEVICE": before})


def settle(settings: Mapping[str, str | None]) -> None:
    """Set variables of the environment, or remove them (None), and ask anew what device and type they choose."""
    for name, value in settings.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    device.cache_clear()
    dtype.cache_clear()


@functools.cache
def cpu(field: str) -> str:
    """What Linux lists of the CPU under a name such as `model name`; empty elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(field)), "")


def cpu_flags() -> frozenset[str]:
    """The instruction-set flags of the CPU."""
    return frozenset(cpu("flags").split())


def cores() -> int:
    """CPU cores that this process may use; fewer where chapters run side by side, which `BOOK_CORES` says."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(own, int(os.environ.get(CORES, own)))


def own_class() -> str:
    """The class of a network computed here and now, such as `cpu-bf16-torch2.13`."""
    return f"{device()}-{dtype()}-torch{_torch()}"


@functools.cache
def _torch() -> str:
    return ".".join(version("torch").split(".")[:2])


def class_of(own: str, inputs: Iterable[str]) -> str:
    """The class of a value, by the rule above: that of its own computation (`EXACT`, `MEASURED`, or a network's) together with
    those of the step's direct inputs."""
    if own == MEASURED:
        return MEASURED
    named = {name for one in (own, *inputs) for name in one.split("+")} - {EXACT}
    return "+".join(sorted(named)) or EXACT
