"""Peak memory of encoding a batch, each model in a process of its own (David 2020, figure 4.2).

A process that has measured one model keeps some of its memory. So one that has loaded the libraries, and used them once on a tiny
model, splits into a copy for each model; what a copy takes beyond its beginning belongs to the model and its work.

There the kernel's high-water mark of resident memory is read, which misses no moment and counts what PyTorch's profiler does not
see. On Linux it is `VmHWM`: a process that starts another one hands its `ru_maxrss` on, so a large notebook would pass as a large
model. On a GPU it is the peak of what PyTorch has allocated there.
"""

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import psutil

from helpers.costs.step_cost import encode, random_ids
from helpers.costs.timing import in_new_process, torch_threads
from helpers.networks.backbone import attention, build, name_of, parse_architecture
from helpers.steps import numerics, step

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
TINY = "BERT/1/32/2"


@step(version=2, form="json", timing=True)
def inference_memory(shapes: list[str], backbones: list[Any], batch: int, tokens: int, threads: int, precision: str,
                     device: str) -> dict[str, Any]:
    """Measure the peak memory of encoding one batch of random texts by each model; arguments as of `inference_seconds`.

    Returns:
        For each model, in bytes: `weights`, those of its parameters; `model`, by how much it and its work raise the peak;
        `whole`, the peak of the whole process, libraries included, or all that is in use on the GPU.
    """
    specs = [name_of(model) for model in (*shapes, *backbones)]
    output = in_new_process("helpers.costs.peak_memory", specs, batch, tokens, threads, precision, device, label="memory")
    return dict(json.loads(line) for line in output.splitlines() if line.startswith("["))


def measure_all(specs: list[str], batch: int, tokens: int, threads: int, precision: str, device: str) -> None:
    """Print what `measure` finds of each model, a line a model; each is measured by a copy of this process."""
    measure(TINY, batch, tokens, 1, precision, "cpu")  # loads what a first use loads; one thread, since threads are not copied
    for spec in specs:
        copy = os.fork()
        if copy == 0:
            measure(TINY, batch, tokens, 1, precision, "cpu")  # a copy has its libraries in memory once it has used them
            print(json.dumps([spec, measure(spec, batch, tokens, threads, precision, device)]), flush=True)
            os._exit(0)
        if status := os.waitpid(copy, 0)[1]:
            sys.exit(f"{spec}: process ended with {os.waitstatus_to_exitcode(status)}")


def measure(spec: str, batch: int, tokens: int, threads: int, precision: str, device: str) -> dict[str, int]:
    """What `inference_memory` returns of one model, measured in this process."""
    import torch

    with numerics.using(device), torch_threads(threads), torch.inference_mode():
        before = resident()
        model = build(parse_architecture(spec), precision, attn_implementation=attention()).eval().to(device)
        weights = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
        ids = random_ids(batch, tokens, device, model)
        reset_peak()
        if device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        encode(model, ids)
        if device == "cuda":
            torch.cuda.synchronize()
            free, total = torch.cuda.mem_get_info()
            return {"weights": weights, "model": torch.cuda.max_memory_allocated(), "whole": total - free}
        return {"weights": weights, "model": peak() - before, "whole": peak()}


def resident() -> int:
    """Bytes of this process in memory now."""
    return psutil.Process().memory_info().rss


def peak() -> int:
    """The most bytes that this process has had in memory since `reset_peak`, or since its start (psutil has no peak on Linux)."""
    for line in STATUS.read_text().splitlines() if STATUS.exists() else ():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def reset_peak() -> None:
    """Start the high-water mark anew. Where the system does not allow it, the peak covers the loading of the model too."""
    with contextlib.suppress(OSError):
        CLEAR.write_text("5")


if __name__ == "__main__":
    measure_all(*json.loads(sys.argv[1]))
