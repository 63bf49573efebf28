"""How many floating-point operations a network takes, counted from its shape."""

from typing import Any


def encoder_flops(config: Any, lengths: list[int], layers: int | None = None) -> float:
    """Floating-point operations of a BERT's layers, by default the configuration's, on texts of so many tokens, without padding.

    Counted from the configuration: four projections and two feed-forward layers for every token, and for every pair of a text's
    tokens the product of query and key and the weighted sum; a multiplication and its sum are two. Norms, activations and the
    head are left out.
    """
    depth = config.num_hidden_layers if layers is None else layers
    size, inner = config.hidden_size, config.intermediate_size
    for_token, for_pair = 2 * (4 * size**2 + 2 * size * inner), 4 * size
    return float(depth * sum(for_token * n + for_pair * n * n for n in lengths))
