"""A small book for the tests of dry runs: its steps note when they are computed, and its chapters are written by the tests."""

import sys
import types

import nbformat

from helpers import paths, steps
from helpers.steps import ledger, registry

COMPUTED: list[str] = []
PARAMETERS = "count: int = 3  # how many\ntimes: int = 2  # factor"


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


def isolated(folder, monkeypatch, *places: str) -> types.ModuleType:
    """Set an empty store and some of the project's folders, empty, too; the module with the steps, which chapters can import."""
    monkeypatch.setenv("BOOK_STORE", str(folder / "store"))
    monkeypatch.setenv("BOOK_FRESH", "")
    for name in places:
        monkeypatch.setattr(paths, name, folder / name.lower())
        (folder / name.lower()).mkdir()
    monkeypatch.setattr(ledger, "USED", {})
    monkeypatch.setattr(registry, "STEPS", dict(registry.STEPS))
    monkeypatch.setattr("dry_steps.COMPUTED", [])
    made = module()
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


def write_template(name: str, *cells: str, parameters: str = PARAMETERS) -> None:
    """Write a chapter's template of these cells."""
    made = [nbformat.v4.new_markdown_cell(f"# {name}"), nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]}),
            *map(nbformat.v4.new_code_cell, cells)]
    nbformat.write(nbformat.v4.new_notebook(cells=made), paths.NOTEBOOKS / f"{name}.ipynb")
