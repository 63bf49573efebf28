"""Seconds of one step of an encoder: encoding a batch, and one step of training (David 2020, figures 4.2 and B.1).

Models are timed in turns: the seconds that two models took in one round are a pair.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from helpers.costs.timing import always, interleave, torch_threads
from helpers.networks.backbone import Backbone, attention, build, name_of
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
