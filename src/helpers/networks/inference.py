"""Running a model over many inputs of different lengths: sorted by length, a thread for each core, a BERT without padding.

Several workers with one thread each beat one worker with several threads on a CPU (measured: 1.2 times on two quiet
cores), and stay fast when another program takes a core: no operation waits for a thread that is not running.
"""

import contextlib
import ctypes
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from helpers.errors import BadInput
from helpers.networks.backbone import Backbone, attention
from helpers.networks.longformer import as_studied
from helpers.steps import ledger, numerics
from helpers.steps.numerics import cores

# oneDNN keeps what it compiles for each shape of a batch, by default for 1024 of them: up to a gigabyte. So many are as fast.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "256")

AT_ONCE = 200_000  # texts whose tokens are in memory: what scores more of them takes one such part after the other
TOKEN_BUDGET = 4096  # padded tokens a batch: enough to fill a core's units, small enough for its caches
GPU_TOKEN_BUDGET = 65536
TIDY = 16  # batches after which freed memory is given back: as fast as never, and a tenth less


def batches(lengths: np.ndarray, budget: int) -> Iterator[np.ndarray]:
    """Positions of a length-sorted order (longest first), cut so that rows x longest row <= budget."""
    order, start = np.argsort(-lengths, kind="stable"), 0
    while start < len(order):
        rows = max(1, budget // max(1, int(lengths[order[start]])))
        yield order[start:start + rows]
        start += rows


def run_batches(function: Callable[[np.ndarray], Any], lengths: np.ndarray, progress: str = "") -> None:
    """Call `function` with the positions of every batch of inputs of so many tokens, in inference mode, on a CPU from several
    threads; it stores what it computes itself. `progress` is what the bar calls the inputs; no bar for ""."""
    import torch

    on_gpu, few = numerics.device() != "cpu", -(-int(lengths.sum()) // cores())  # few inputs keep all cores busy, too
    budget = GPU_TOKEN_BUDGET if on_gpu else min(TOKEN_BUDGET, few)

    def work(batch: np.ndarray) -> int:
        with torch.inference_mode():
            function(batch)
        return len(batch)

    # one PyTorch thread a worker: the setting belongs to the thread that makes it
    pool = ThreadPoolExecutor(1) if on_gpu else ThreadPoolExecutor(cores(), initializer=lambda: torch.set_num_threads(1))
    with pool, ledger.bar(progress, len(lengths)) as bar:
        for number, done in enumerate(pool.map(work, batches(lengths, budget)), start=1):
            bar.update(done)
            if number % TIDY == 0:
                give_back()
    give_back()


def give_back() -> None:
    """Give free memory back to the system: glibc keeps what threads have freed, half a gigabyte in a shard of passages."""
    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def padded(rows: Sequence[Sequence[float]], value: float = 0) -> Any:
    """Rows of numbers as one tensor, (rows, longest), padded with the value, on the CPU."""
    import torch

    return torch.nn.utils.rnn.pad_sequence([torch.tensor(list(row)) for row in rows], batch_first=True, padding_value=value)


def mask_of(rows: Sequence[Sequence[float]]) -> Any:
    """1 at what is there of `padded` rows, 0 at the padding."""
    return padded([[1] * len(row) for row in rows])


def load_scorer(folder: Path) -> Any:
    """A fine-tuned cross-encoder, ready to score."""
    from helpers.networks import bert

    origin = Backbone("", str(folder))
    if (plain := bert.load(origin, head=True)) is not None:
        return ready(plain)
    from transformers import AutoModelForSequenceClassification

    return ready(origin.build(AutoModelForSequenceClassification, whole=True, attn_implementation=attention()))


def ready(model: Any) -> Any:
    """A cross-encoder in evaluation mode on the device: encoder in bf16 where that is fast, head in float32.

    The head stays in float32 because a bf16 logit has eight bits: most documents of a query would tie.
    """
    import torch

    as_studied(model).eval().to(numerics.device())
    if numerics.dtype() == "bf16":
        model.base_model.to(torch.bfloat16)
        first_of_head = getattr(model.base_model, "pooler", None) or model.classifier
        first_of_head.float().register_forward_pre_hook(lambda _, inputs: (inputs[0].float(), *inputs[1:]))
    return model


def probabilities(model: Any, inputs: Iterable[tuple[list[int], list[int]]], progress: str = "") -> np.ndarray:
    """The probability of relevance for each (input_ids, token_type_ids), in their order; float32. `AT_ONCE` of them are read
    together."""
    return _rows(model, inputs, 1, lambda rows: rows[:, :1].sigmoid(), progress)[:, 0]


def logits(model: Any, inputs: Iterable[tuple[list[int], list[int]]], progress: str = "") -> np.ndarray:
    """The logit of each, likewise."""
    return _rows(model, inputs, 1, lambda rows: rows[:, :1], progress)[:, 0]


def states(model: Any, inputs: Iterable[tuple[list[int], list[int]]], progress: str = "") -> np.ndarray:
    """What the output layer reads of each, (inputs, dimensions), likewise."""
    import torch

    head, model.classifier = model.classifier, torch.nn.Identity()
    try:
        return _rows(model, inputs, head.in_features, lambda rows: rows, progress)
    finally:
        model.classifier = head


def _rows(model: Any, inputs: Iterable[tuple[list[int], list[int]]], width: int, of: Callable[[Any], Any],
          progress: str) -> np.ndarray:
    read, stream = packed_logits(model) if reads_packed(model) else padded_logits(model), iter(inputs)
    found = [np.zeros((0, width), dtype=np.float32)]
    while part := list(islice(stream, AT_ONCE)):
        rows = np.zeros((len(part), width), dtype=np.float32)

        def work(batch: np.ndarray, part: Any = part, rows: np.ndarray = rows) -> None:
            ids, types = zip(*(part[n] for n in batch), strict=True)
            rows[batch] = of(read(ids, types).float()).cpu().numpy()

        run_batches(work, np.array([len(ids) for ids, _ in part]), progress)
        if not np.isfinite(rows).all():
            raise BadInput("the model gives scores that are no numbers", file=model.name_or_path, mend="see to its weights")
        found.append(rows)
    return np.concatenate(found)


def reads_packed(model: Any) -> bool:
    """Whether a cross-encoder is a plain BERT with its pooler and one layer on top."""
    from helpers.networks.packed import supports

    return type(model).__name__ == "BertForSequenceClassification" and supports(model.base_model)


def packed_logits(model: Any, training: bool = False) -> Callable[..., Any]:
    """A function from ids and types of a batch's texts to their logits, (texts, outputs), that adds no padding."""
    from helpers.networks.packed import Packed

    first_states = Packed(model.base_model, first_only=True, training=training)
    return lambda ids, types: model.classifier(model.base_model.pooler(first_states(ids, types)[:, None]))


def padded_logits(model: Any) -> Callable[..., Any]:
    """The same by the model as it is, on texts padded to the longest."""
    def logits(ids: list[list[int]], types: list[list[int]]) -> Any:
        tokens, kinds, mask = (rows.to(numerics.device()) for rows in (padded(ids), padded(types), mask_of(ids)))
        return model(input_ids=tokens, token_type_ids=kinds, attention_mask=mask).logits

    return logits
