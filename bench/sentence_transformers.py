"""A comparison with sentence-transformers: its default, its best setting, tried on a sample, its other engines, and this book's
code, in turns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bench import engines, machine
from bench.work import Work
from helpers.costs.timing import FROM_TEXTS, OURS, PRODUCTS, Prepare, always, clocked, interleave
from helpers.networks.backbone import encoder_flops
from helpers.steps import numerics

TOLERANCE = 0.001  # of a mean measure, between contenders that should give the same scores
SAMPLE = 96  # inputs that settings are tried on
BATCHES = {"cpu": (8, 16, 32, 64), "cuda": (64, 128, 256, 512)}
Setting = dict[str, Any]  # `dtype`, `attention` and `batch_size`


class Drifted(RuntimeError):
    """A contender that should give the same scores as another one ranks differently."""


@dataclass(frozen=True)
class Comparison:
    """Two libraries on the same inputs with the same model."""

    work: Work  # what they do
    names: tuple[str, str]  # of sentence-transformers by default, and in its best setting
    source: str  # the model's folder, as sentence-transformers reads it
    make: Callable[..., Any]  # makes its model, given its keyword arguments
    run: Callable[..., Any]  # runs that on inputs, given its keyword arguments
    inputs: Sequence[Any]  # texts, or pairs of them
    ours: tuple[Callable[[], Any], Callable[[], Any]]  # this book's, from stored tokens, and from texts
    scores_of: Callable[[Any], np.ndarray]  # makes scores of the pairs of what either returns
    lengths: list[int]  # tokens of each input, without padding
    config: Any  # the model's

    def contenders(self, setting: Setting) -> dict[str, Prepare]:
        """They give the same values of every input, in their order; `setting` is sentence-transformers' best."""
        plain, best = self.make(), self.make(**model_arguments(setting))
        works = (lambda: self.run(plain, self.inputs), lambda: self.run(best, self.inputs, batch_size=setting["batch_size"]))
        return {name: always(work) for name, work in zip((*self.names, OURS, FROM_TEXTS), (*works, *self.ours), strict=True)}

    def measure(self, rounds: int) -> dict[str, Any]:
        """Time the contenders beside matrix products; Drifted if this book's scores are not sentence-transformers' default's."""
        setting, tried = best_setting(lambda chosen: self.make(**model_arguments(chosen)), self.run, self.inputs)
        kind, _, _ = self.names[0].partition(".")
        with engines.started(kind, self.source, self.inputs) as others:
            contenders = self.contenders(setting) | {f"{kind}, {name}": always(work) for name, work in others.items()}
            products = machine.Products()
            times = interleave({PRODUCTS: always(products), **contenders}, rounds, report=True)
        scores = {name: self.scores_of(times.given[name]) for name in contenders}
        values = {name: self.work.measured(own) for name, own in scores.items()}
        drifts = {name: drift(own, values[self.names[0]]) for name, own in values.items()}
        check_drift(drifts, (OURS, FROM_TEXTS))
        return {"contenders": machine.seconds_of(times), "items": len(self.lengths), "tokens": sum(self.lengths),
                "queries": len(self.work.queries), "flops": encoder_flops(self.config, self.lengths),
                "product_flops": products.flops, "measures": {name: own.mean().to_dict() for name, own in values.items()},
                "drift": drifts, "setting": setting, "tried": tried,
                "moved": {name: float(np.abs(own - scores[self.names[0]]).max()) for name, own in scores.items()}}


def drift(scores: pd.DataFrame, reference: pd.DataFrame) -> dict[str, float]:
    """The difference of each mean measure (a column of values per query) from that of the contender to agree with."""
    return {measure: float(scores[measure].mean() - reference[measure].mean()) for measure in reference.columns}


def check_drift(drifts: Mapping[str, Mapping[str, float]], checked: Sequence[str]) -> None:
    """Make sure that contenders which should give the reference's scores do.

    Drifted names every measure of every checked contender that differs by more than the tolerance, or is no number.
    """
    wrong = [f"{name}: {measure} {value:+.5f}" for name in checked for measure, value in drifts[name].items()
             if not abs(value) <= TOLERANCE]
    if wrong:
        raise Drifted(f"not the same scores (tolerance {TOLERANCE}): {'; '.join(wrong)}")


def best_setting(make: Callable[[Setting], Any], run: Callable[..., Any], inputs: Sequence[Any]) -> tuple[Setting, list[Setting]]:
    """The fastest setting, and all that were tried with what each does in a second.

    Tried are the attention and the batch size, in the type of number that is fast here, on a sample of the inputs, taken evenly.
    Every setting runs twice, and the second run counts.
    """
    from transformers.utils import is_flash_attn_2_available

    kind = "bfloat16" if numerics.dtype() == "bf16" else "float32"
    sample = list(inputs[::max(1, len(inputs) // SAMPLE)][:SAMPLE])
    tried: list[Setting] = []
    flash = numerics.device() == "cuda" and is_flash_attn_2_available()
    for attention in ["sdpa", "eager", *["flash_attention_2"] * flash]:
        model = make({"dtype": kind, "attention": attention})
        for batch in BATCHES[numerics.device()]:
            spent, _ = [clocked(lambda: run(model, sample, batch_size=batch)) for _ in range(2)][1]  # noqa: B023 - called at once
            tried.append({"dtype": kind, "attention": attention, "batch_size": batch, "per_second": len(sample) / spent})
    first = max(tried, key=lambda one: one["per_second"])
    return {name: first[name] for name in ("dtype", "attention", "batch_size")}, tried


def model_arguments(setting: Setting) -> dict[str, Any]:
    """How sentence-transformers is told a setting."""
    import torch

    return {"model_kwargs": {"dtype": getattr(torch, setting["dtype"]), "attn_implementation": setting["attention"]}}
