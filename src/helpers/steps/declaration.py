"""`@step`: how a function is declared to be a step."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from helpers.steps import registry, values
from helpers.steps.computation import Step
from helpers.steps.registry import Definition, Shards


def step(version: int, form: str, network: bool = False, timing: bool = False,
         resumable: bool = False, parallel: bool = False,
         shards: Shards | None = None) -> Callable[[Callable[..., Any]], Callable[..., Step]]:
    """Make a function a step; BadInput for a form that nobody has registered.

    A function of form `folder` takes one more keyword argument, `folder`: the empty folder that it fills. A resumable one takes
    `checkpoints` too: a folder that stays until the value is finished.

    Args:
        version: raise it when the meaning of the result changes; `tests/steps.json` keeps the decision honest.
        form: how the value is kept, see `helpers.steps.values`.
        network: whether the function itself computes with a neural network: its rounding is then that of this machine, and on a
            cluster it is given to a worker with a GPU. What is only made of such values says nothing; their numerics class
            follows from their inputs (`helpers.steps.numerics`).
        timing: whether it is a measurement of time or memory, which belongs to the machine that it was made on; it is made when
            nothing else computes, see `turns`, and `Step.here` leaves the recorded one aside.
        resumable: whether the function keeps checkpoints, and goes on from those that an interrupted run left.
        parallel: whether it is a training that several processes may run together, see `helpers.steps.multi_gpu`.
        shards: how a cluster computes it in parts; without a cluster it is computed as a whole.
    """
    values.FORMS[form]  # noqa: B018 - unknown ones are refused here, not when the value is kept

    def wrap(function: Callable[..., Any]) -> Callable[..., Step]:
        definition = Definition(function.__name__, version, form, network, function, get_type_hints(function),
                                timing, resumable, parallel, shards)
        registry.STEPS[definition.name] = definition
        signature = inspect.signature(function)

        @functools.wraps(function)
        def build(*args: Any, **kwargs: Any) -> Step:
            hidden = dict.fromkeys(["folder"] * (form == "folder") + ["checkpoints"] * resumable)
            bound = signature.bind(*args, **kwargs, **hidden)
            bound.apply_defaults()
            arguments = {name: _typed(definition, name, value) for name, value in bound.arguments.items()
                         if name not in hidden}
            return Step(definition, arguments)

        build.definition = definition  # type: ignore[attr-defined]
        return build

    return wrap


def _typed(definition: Definition, name: str, value: Any) -> Any:
    """A float parameter given as an int is the same recipe; any other mismatch of a plain type is a mistake."""
    hint = definition.hints.get(name)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint in (int, float, str, bool) and type(value) is not hint:
        raise TypeError(f"{definition.name}({name}={value!r}): a parameter of type {hint.__name__}, not {type(value).__name__}")
    return value
