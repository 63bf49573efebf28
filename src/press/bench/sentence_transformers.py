"""What the comparisons with sentence-transformers share: its best setting, tried on a sample, and a section of measurements."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from helpers.costs import machine
from helpers.costs.contenders import FROM_TEXTS, OURS, PRODUCTS
from helpers.costs.timing import Prepare, always, check_drift, clocked, drift, interleave
from helpers.networks.flops import encoder_flops
from helpers.steps import numerics
from press.bench.work import Work

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
    for attention in ["sdpa", "eager", *(["flash_attention_2"] if has_flash_attention() else [])]:
        model = make({"dtype": kind, "attention": attention})
        for batch in BATCHES[numerics.device()]:
            spent, _ = [clocked(lambda: run(model, sample, batch)) for _ in range(2)][1]  # noqa: B023 - called at once
            tried.append({"dtype": kind, "attention": attention, "batch_size": batch, "per_second": len(sample) / spent})
    first = max(tried, key=lambda one: one["per_second"])
    return {name: first[name] for name in ("dtype", "attention", "batch_size")}, tried


def has_flash_attention() -> bool:
    """Whether there is a GPU with flash attention."""
    from transformers.utils import is_flash_attn_2_available

    return numerics.device() == "cuda" and is_flash_attn_2_available()


def model_arguments(setting: dict[str, Any]) -> dict[str, Any]:
    """How sentence-transformers is told a setting; nothing for none, which leaves it its default."""
    import torch

    if not setting:
        return {}
    return {"model_kwargs": {"dtype": getattr(torch, setting["dtype"]), "attn_implementation": setting["attention"]}}


def compared(work: Work, contenders: Mapping[str, Prepare], rounds: int, scores_of: Callable[[Any], np.ndarray],
             lengths: list[int], config: Any) -> dict[str, Any]:
    """Time the contenders beside matrix products, and make sure that this book's rank as the default, which is the first, does.

    Args:
        work: what they do.
        contenders: by name.
        rounds: counted.
        scores_of: makes scores of the pairs of what a contender returns.
        lengths: tokens of each input, without padding.
        config: the model's.

    Raises:
        Drifted: if this book's scores are not the default's.
    """
    products = machine.Products()
    times = interleave({PRODUCTS: always(products), **contenders}, rounds, report=True)
    values = {name: work.measured(scores_of(times.given[name])) for name in contenders}
    drifts = {name: drift(own, values[next(iter(contenders))]) for name, own in values.items()}
    check_drift(drifts, (OURS, FROM_TEXTS))
    return {"contenders": times.as_json(), "items": len(lengths), "tokens": sum(lengths), "queries": len(work.queries),
            "flops": encoder_flops(config, lengths), "product_flops": products.flops,
            "measures": {name: own.mean().to_dict() for name, own in values.items()}, "drift": drifts}
