"""The best setting of sentence-transformers' models: all sensible ones tried on a sample."""

from collections.abc import Callable, Sequence
from typing import Any

from helpers.costs.timing import clocked
from helpers.steps import numerics

SAMPLE = 96  # inputs that settings are tried on
BATCHES = {"cpu": (8, 16, 32, 64), "cuda": (64, 128, 256, 512)}


def best_setting(make: Callable[[dict[str, Any]], Any], run: Callable[[Any, list[Any], int], Any],
                 inputs: Sequence[Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The fastest setting, and all that were tried with what each does in a second.

    Tried are the attention and the batch size, in the type of number that is fast here. Every setting runs twice, and the second
    run counts.

    Args:
        make: makes a model of `dtype` and `attention`.
        run: runs it on inputs with a batch size.
        inputs: of which a sample is taken, evenly.
    """
    kind = "bfloat16" if numerics.dtype() == "bf16" else "float32"
    sample = list(inputs[::max(1, len(inputs) // SAMPLE)][:SAMPLE])
    tried: list[dict[str, Any]] = []
    for attention in attentions():
        model = make({"dtype": kind, "attention": attention})
        for batch in BATCHES[numerics.device()]:
            spent, _ = [clocked(lambda: run(model, sample, batch)) for _ in range(2)][1]  # noqa: B023 - called at once
            tried.append({"dtype": kind, "attention": attention, "batch_size": batch, "per_second": len(sample) / spent})
    first = max(tried, key=lambda one: one["per_second"])
    return {name: first[name] for name in ("dtype", "attention", "batch_size")}, tried


def attentions() -> list[str]:
    """The implementations of attention that can be had here."""
    from transformers.utils import is_flash_attn_2_available

    return ["sdpa", "eager", *(["flash_attention_2"] if numerics.device() == "cuda" and is_flash_attn_2_available() else [])]


def model_arguments(setting: dict[str, Any]) -> dict[str, Any]:
    """How sentence-transformers is told a setting; nothing for none, which leaves it its default."""
    import torch

    if not setting:
        return {}
    return {"model_kwargs": {"dtype": getattr(torch, setting["dtype"]), "attn_implementation": setting["attention"]}}
