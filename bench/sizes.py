"""Queries a minute by model size: the shapes of Steensland's table 5.5 (2021), with random weights."""

from dataclasses import replace
from typing import Any

from bench import machine
from bench.work import Scale, Work
from helpers.costs.speed import random_cross_encoder, ranking_speed
from helpers.costs.timing import PRODUCTS, always, interleave
from helpers.networks.backbone import encoder_flops
from helpers.pages.rates import studied_shapes
from helpers.retrieval.bm25 import K1, B
from helpers.steps import numerics


def shapes(scale: Scale) -> list[str]:
    """The shapes that are timed: the scale's own, or the study's six."""
    return list(scale.sizes or studied_shapes().values())


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """Time retrieval and re-ranking by models of all shapes in turns, as chapter `model_size` does; matrix products before."""
    work, products, bed = Work(replace(scale, queries=scale.ranked)), machine.Products(), scale.bed
    rate = interleave({PRODUCTS: always(products)}, rounds, report=True)
    timed = ranking_speed.definition.function(  # type: ignore[attr-defined]
        shapes(scale), work.encoder.whole(), bed.index.value(), work.queries, bed.store.value(),
        bed.tokens(work.encoder).value(), K1, B, scale.candidates, scale.model.max_length, scale.model.query_length, scale.ranked,
        rounds, numerics.device())
    lengths = [len(ids) for ids, _ in work.inputs(work.encoder.tokenizer())]
    configs = {size: random_cross_encoder(size, work.encoder.whole()).config for size in shapes(scale)}
    flops = {size: encoder_flops(config, lengths) for size, config in configs.items()}
    return {"contenders": machine.seconds_of(rate), "speed": timed, "flops": flops, "product_flops": products.flops,
            "candidates": scale.candidates, "tokens": sum(lengths)}
