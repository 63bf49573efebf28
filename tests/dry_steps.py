"""Steps for the tests of dry runs: each counts how often it was computed."""

import types

from helpers import steps

COMPUTED: list[str] = []


def module(name: str = "dry_steps_module") -> types.ModuleType:
    """A module with the steps, as a chapter would import it: numbers -> doubled -> total, and a folder."""
    made = types.ModuleType(name)

    def numbers(count: int) -> dict:
        COMPUTED.append("numbers")
        return {"values": list(range(count))}

    def doubled(numbers: dict, times: int = 2) -> dict:
        COMPUTED.append("doubled")
        return {"values": [times * value for value in numbers["values"]]}

    def total(parts: list, epochs: int = 1) -> dict:
        COMPUTED.append("total")
        return {"total": sum(sum(part["values"]) for part in parts) * epochs}

    for function in (numbers, doubled, total):
        setattr(made, function.__name__, steps.step(version=1, form="json")(function))
    return made
