"""Settings of trainings: declared and documented here once, held by what chapters compose, bound to steps by name.

A system such as `ListwiseReranker` inherits its settings, and gives them to its training step by name:

    @step(version=1, form="folder")
    @by_name
    def listwise_cross_encoder(groups: pd.DataFrame, ..., training: ListwiseTraining, *, folder: Path) -> None: ...

    listwise_cross_encoder(groups, ..., **self.settings(ListwiseTraining))

In the step's recipe the settings stand one by one, `epochs` and the others, so that keys do not depend on how they are grouped.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, get_type_hints

SPECIAL = 3  # tokens of a pair: [CLS] and two [SEP]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings that steps take by name."""

    def settings(self, kind: "type[Settings]") -> dict[str, Any]:
        """Those that `kind` declares, by name."""
        return {field.name: getattr(self, field.name) for field in fields(kind)}


@dataclass(frozen=True, kw_only=True)
class Schedule(Settings):
    """How long and how fast a network is trained: linear warm-up and decay."""

    epochs: int = 1  # passes over the examples
    steps: int | None = None  # optimiser steps, in place of passes; None to count passes
    learning_rate: float = 1e-4  # the peak
    batch_size: int = 16  # examples an optimiser step
    warmup: float = 0.1  # share of the steps in which the rate rises
    max_length: int = 256  # tokens of an input, special tokens included
    seed: int = 1  # of new layers, of the order and of dropout


@dataclass(frozen=True, kw_only=True)
class Training(Schedule):
    """And how it is regularised."""

    weight_decay: float = 0.01  # AdamW's
    dropout: float = 0.0  # of hidden states and attention; 0 trains faster on a CPU (no masks to draw)


@dataclass(frozen=True, kw_only=True)
class FineTuning(Training):
    """And how often it is looked at."""

    evaluations: int = 10  # how often the losses are logged over the training


@dataclass(frozen=True, kw_only=True)
class RankerTraining(FineTuning):
    """The training of a cross-encoder or bi-encoder, with queries held out: not pairs, so that no query is on both sides."""

    query_length: int = 47  # tokens of a query
    evaluation_queries: int = 80  # training queries held out for the evaluation loss, at most a tenth of them

    @property
    def room(self) -> int:
        """Word pieces of a text that an input holds beside the longest query."""
        return self.max_length - self.query_length - SPECIAL


def by_name(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a step's function take settings one by one where it declares them as one argument of a class of `Settings`.

    All are required, but those whose default is None: an absent input. A missing or unknown name is a TypeError, as for any
    function.
    """
    hints = get_type_hints(function)
    kinds = {name: hint for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, Settings)}
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = [parameter for parameter in inspect.signature(function).parameters.values() if parameter.name not in kinds]
    flat = [inspect.Parameter(field.name, keyword, default=None if field.default is None else inspect.Parameter.empty)
            for kind in kinds.values() for field in fields(kind)]
    signature = inspect.Signature([parameter for parameter in own if parameter.kind != keyword] + flat
                                  + [parameter for parameter in own if parameter.kind == keyword])

    @functools.wraps(function)
    def flattened(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        grouped = {name: kind(**{field.name: given.pop(field.name) for field in fields(kind) if field.name in given})
                   for name, kind in kinds.items()}
        return function(**given, **grouped)

    flattened.__signature__ = signature  # type: ignore[attr-defined]
    flattened.__annotations__ = {name: hint for name, hint in hints.items() if name not in kinds} | {
        name: hint for kind in kinds.values() for name, hint in get_type_hints(kind).items()}
    return flattened
