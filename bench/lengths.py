"""Pairs a second by their length: what one core scores, and by how many joules where the processor tells."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench import machine
from bench.work import Scale
from helpers.costs.timing import PRODUCTS, always, interleave
from helpers.networks.backbone import encoder_flops
from helpers.networks.inference import load_scorer, probabilities

LENGTHS = (32, 64, 128, 256)  # tokens of a pair, special ones included
TOKENS = 16_384  # of all pairs of a length
ENERGY = Path("/sys/class/powercap/intel-rapl:0/energy_uj")  # what the processor has used, in microjoules, as its kernel says


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """Time pairs of each length in turns, beside matrix products. The words are drawn: time does not depend on them."""
    scorer, drawn, products = load_scorer(scale.model.model.value()), np.random.default_rng(0), machine.Products()
    pairs = {length: [(drawn.integers(1000, scorer.config.vocab_size, length).tolist(), [0] * length)
                      for _ in range(TOKENS // length)] for length in LENGTHS}
    used = {length: list[float]() for length in LENGTHS}

    def score(length: int) -> Callable[[], Any]:
        def work() -> Any:
            before = joules()
            values = probabilities(scorer, pairs[length])
            used[length] += [after - before for after in [joules()] if after is not None and before is not None]
            return values

        return work

    times = interleave({PRODUCTS: always(products), **{length: always(score(length)) for length in LENGTHS}}, rounds, report=True)
    return {"contenders": {PRODUCTS: {"seconds": times.seconds[PRODUCTS]}}, "product_flops": products.flops, "lengths": {
        length: {"seconds": times.seconds[length], "pairs": len(pairs[length]), "joules": used[length][1:] or None,
                 "flops": encoder_flops(scorer.config, [length] * len(pairs[length]))} for length in LENGTHS}}


def joules() -> float | None:
    """What the processor has used since some moment; None where nobody may read it."""
    try:
        return float(ENERGY.read_text(encoding="ascii")) / 1e6
    except (OSError, ValueError):
        return None
