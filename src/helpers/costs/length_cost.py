"""What reading a long document costs: seconds and memory by length, with Longformer's attention and with full attention.

Full attention compares every token with every other, so its cost grows with the square of the length; Longformer's window
keeps it in proportion (Beltagy et al. 2020, figure 1). Speed does not depend on the weights, so they are random.
"""

import json
import sys
from functools import partial
from typing import Any

from helpers.costs.encoder_cost import peak, random_ids, reset_peak, resident
from helpers.costs.timing import always, in_new_process, interleave
from helpers.networks.backbone import Backbone, configuration, resolve
from helpers.networks.inference import ready
from helpers.steps import numerics, step

KINDS = ("Longformer", "full attention")
QUERY_TOKENS = 12  # those that attend globally


@step(version=2, form="json", timing=True)
def length_cost(backbone: Backbone, lengths: list[int], window: int, rounds: int, device: str) -> dict[str, Any]:
    """Time a cross-encoder of a backbone's shape on one document of each length, and watch its memory.

    Each kind of attention has a fresh process of one thread, which reads the lengths (tokens of query and document) in rising
    order, so that the peak of memory after a length is that length's. The window is the Longformer's.

    Returns:
        For each kind a list with, by rising length, `length`, `seconds` (of each round) and `megabytes` (the peak above the
        process without inputs, the model's weights included).
    """
    settings = (backbone.spec, sorted(lengths), window, rounds, device)
    return {kind: json.loads(in_new_process("helpers.costs.length_cost", kind, *settings, label=kind).splitlines()[-1])
            for kind in KINDS}


def measure(kind: str, spec: str, lengths: list[int], window: int, rounds: int, device: str) -> list[dict[str, Any]]:
    """What `length_cost` returns of one kind, measured in this process."""
    import torch
    from transformers import BertForSequenceClassification, LongformerForSequenceClassification  # noqa: F401 - before `before`

    torch.set_num_threads(1)
    with numerics.using(device), torch.inference_mode():
        before = resident()  # the libraries are not the model's
        model = ready(reader(kind, resolve(spec), max(lengths), window))
        reset_peak()  # making the model took more memory than keeping it
        rows = []
        for length in lengths:
            ids = random_ids(1, length, device, model)
            types = (torch.arange(length, device=device) >= QUERY_TOKENS).long()[None]
            read = partial(model, input_ids=ids, token_type_ids=types, attention_mask=torch.ones_like(ids))
            seconds = interleave({length: always(read)}, rounds).seconds[length]
            used = torch.cuda.max_memory_allocated() if device == "cuda" else peak() - before
            rows.append({"length": length, "seconds": seconds, "megabytes": used / 1e6})
    return rows


def reader(kind: str, backbone: Backbone, length: int, window: int) -> Any:
    """A cross-encoder of the backbone's shape for so many tokens, with random weights."""
    from transformers import BertForSequenceClassification

    from helpers.networks.longformer import converted

    config = configuration(backbone)
    config.update({"max_position_embeddings": length, "num_labels": 1,
                   **({} if backbone.layers is None else {"num_hidden_layers": len(backbone.layers)})})
    config._attn_implementation = "sdpa"  # the implementation that makes full attention fastest in inference
    bert = BertForSequenceClassification(config)
    return bert if kind == "full attention" else converted(bert, window, length)


if __name__ == "__main__":
    print(json.dumps(measure(*json.loads(sys.argv[1]))))
