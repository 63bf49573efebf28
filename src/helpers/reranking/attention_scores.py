"""Attention scores before the softmax, which `transformers` does not return: taken from the query and key projections."""

import math
from typing import Any


class AttentionScores:
    """Records, on every forward pass, the projections of each encoder layer of a BERT-like model.

        scores = AttentionScores(model)
        model(**batch)
        scores.layers()     # one (batch, heads, tokens, tokens) a layer: queries times keys over the root of the head's width

    ValueError if the model's layers have no `query` and `key` projections.
    """

    def __init__(self, model: Any) -> None:
        self._heads = model.config.num_attention_heads
        self._outputs: dict[tuple[int, str], Any] = {}
        layers = getattr(getattr(model.base_model, "encoder", None), "layer", [])
        self._layers = len(layers)
        for number, layer in enumerate(layers):
            projections = dict(layer.attention.named_modules())
            for name in ("query", "key"):
                module = next((m for path, m in projections.items() if path.rsplit(".", 1)[-1] == name), None)
                if module is None:
                    raise ValueError(f"layer {number} of {model.config.model_type} has no {name} projection")
                module.register_forward_hook(self._keeper(number, name))
        if not self._layers:
            raise ValueError(f"{model.config.model_type} has no encoder layers to read")

    def _keeper(self, number: int, name: str) -> Any:
        def keep(_module: Any, _inputs: Any, output: Any) -> None:
            self._outputs[number, name] = output

        return keep

    def layers(self) -> list[Any]:
        """The scores of the last forward pass, first layer first."""
        return [self._scores(number) for number in range(self._layers)]

    def _scores(self, number: int) -> Any:
        query, key = (self._split(self._outputs[number, name].float()) for name in ("query", "key"))
        return query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])

    def _split(self, states: Any) -> Any:
        batch, tokens, width = states.shape
        return states.view(batch, tokens, self._heads, width // self._heads).transpose(1, 2)
