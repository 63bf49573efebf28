"""What an encoder costs: seconds of encoding a batch and of a step of training, peak memory (David 2020, figures 4.2 and B.1).

Models are timed in turns: the seconds that two models took in one round are a pair.

Memory is measured in a process for each model, since a process that has measured one keeps some of it: one that has loaded the
libraries, and used them once on a tiny model, splits into a copy for each; what a copy takes beyond its beginning belongs to the
model and its work.

There the kernel's high-water mark of resident memory is read, which misses no moment and counts what PyTorch's profiler does not
see. On Linux it is `VmHWM`: a process that starts another one hands its `ru_maxrss` on, so a large notebook would pass as a large
model. On a GPU it is the peak of what PyTorch has allocated there.
"""

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from helpers.costs.timing import always, in_new_process, interleave, torch_threads
from helpers.networks.backbone import Backbone, attention, build, name_of, parse_architecture
from helpers.networks.encoder import normalised, pool
from helpers.steps import numerics, step

LOWEST_ID, HIGHEST_ID = 1_000, 30_000  # of random token ids, where all vocabularies have as many
MARGIN = 1.0  # of the triplet loss (David 2020, section 4.3)


@step(version=1, form="json", timing=True)
def inference_seconds(shapes: list[str], backbones: list[Any], batch: int, tokens: int, rounds: int, threads: int, precision: str,
                      device: str) -> dict[str, Any]:
    """Time the encoding of one batch of random texts, pooled by their mean, by several models.

    All models are in memory at once: in single precision the five of table B.1 take 1.7 GB.

    Args:
        shapes: models with random weights, see `backbone.parse_architecture`.
        backbones: models with their own.
        tokens: of each text, without padding.
        threads: of PyTorch, on a CPU.
        precision: `fp32`, as in the study, or `bf16`.

    Returns:
        For each model its `parameters` and the `seconds` of each round.
    """
    import torch

    with numerics.using(device), torch_threads(threads):
        built = {name_of(model): build(model, precision, attn_implementation=attention()).eval().to(device)
                 for model in (*shapes, *backbones)}
        ids = random_ids(batch, tokens, device, *built.values())
        with torch.inference_mode():
            seconds = interleave({name: always(partial(encode, model, ids)) for name, model in built.items()}, rounds).seconds
    return {name: {"parameters": model.num_parameters(), "seconds": seconds[name]} for name, model in built.items()}


@step(version=1, form="json", timing=True)
def training_seconds(shapes: list[str], backbones: list[Any], triplets: int, tokens: int, rounds: int, threads: int,
                     device: str) -> dict[str, Any]:
    """Time one step of training in single precision: the three texts of a triplet encoded, the loss, its gradients, AdamW.

    The optimiser of a model lives for its turn only, since those of all would take three times the memory of the models.
    Arguments as of `inference_seconds`, with a batch of so many triplets; returns the seconds of each round of each model.
    """
    with numerics.using(device), torch_threads(threads):
        built = {name_of(model): build(model, attn_implementation=attention()).train().to(device)
                 for model in (*shapes, *backbones)}
        ids = random_ids(3 * triplets, tokens, device, *built.values())
        return interleave({name: partial(training_step, model, ids.chunk(3)) for name, model in built.items()}, rounds).seconds


@step(version=1, form="json", timing=True)
def query_seconds(backbone: Backbone, tokens: int, rounds: int) -> list[float]:
    """The processor's time for encoding one query alone, in single precision on one thread of a CPU, round by round."""
    import torch

    with numerics.using("cpu"), torch_threads(1), torch.inference_mode():
        model = build(backbone, attn_implementation=attention()).eval()
        ids = random_ids(1, tokens, "cpu", model)
        return interleave({"": always(partial(encode, model, ids))}, rounds, time.thread_time).seconds[""]


def training_step(model: Any, texts: tuple[Any, ...]) -> Callable[[], Any]:
    """One step of training on the ids of queries, relevant and other passages, each (triplets, tokens), ready to run.

    The optimiser's memory is there already, as it is in all steps but the first.
    """
    import torch
    from torch.nn.functional import cosine_similarity

    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5, weight_decay=0.0, fused=True)
    loss = torch.nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: 1 - cosine_similarity(a, b), margin=MARGIN)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()  # moves nothing: all gradients are zero
    optimizer.zero_grad()

    def run() -> None:
        loss(*(encode(model, ids) for ids in texts)).backward()
        optimizer.step()
        optimizer.zero_grad()

    return run


def encode(model: Any, ids: Any) -> Any:
    """Vectors of texts without padding: mean-pooled, of length 1, (batch, dimensions)."""
    import torch

    mask = torch.ones_like(ids)
    return normalised(pool(model(input_ids=ids, attention_mask=mask).last_hidden_state, mask, "mean"))


def random_ids(batch: int, tokens: int, device: str, *models: Any) -> Any:
    """Random token ids that all models have, the same at every call, (batch, tokens); a small vocabulary is used whole."""
    import torch

    highest = min(HIGHEST_ID, *(model.config.vocab_size for model in models))
    lowest = LOWEST_ID if highest > LOWEST_ID else 0
    return torch.randint(lowest, highest, (batch, tokens), generator=torch.Generator().manual_seed(1)).to(device)


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
    output = in_new_process("helpers.costs.encoder_cost", specs, batch, tokens, threads, precision, device, label="memory")
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
