"""A small book: its steps note when they are computed, and its chapters and executed pages are written by the tests."""

import sys
import types
from pathlib import Path

import nbformat

from helpers import paths, steps
from helpers.steps import ledger, registry
from helpers.steps.recorded import Recorded
from helpers.steps.store import Store, read_entry
from press.page_header import DATA_KEY
from press.step_digests import import_all

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


def importable(monkeypatch) -> types.ModuleType:
    """The module with the steps, which chapters can import."""
    monkeypatch.setattr(ledger, "USED", {})
    import_all()  # before the registry is a copy, or the real steps would register in the copy
    monkeypatch.setattr(registry, "STEPS", dict(registry.STEPS))
    monkeypatch.setattr("dry_steps.COMPUTED", [])
    made = module()
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


def ship(name: str = "") -> None:
    """Pack what the store has, of a step or of all, as recorded runs, and take it out of the store."""
    store = Store(paths.store())
    entries = [read_entry(store.place(one["step"], one["key"]) / one["numerics"]) for one in store.manifests()
               if name in ("", one["step"])]
    Recorded(paths.RESULTS).add(entries)
    for entry in entries:
        store.remove(entry.manifest["step"], entry.manifest["key"])


def write_template(name: str, *cells: str, parameters: str = PARAMETERS) -> None:
    """Write a chapter's template of these cells."""
    made = [nbformat.v4.new_markdown_cell(f"# {name}"), nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]}),
            *map(nbformat.v4.new_code_cell, cells)]
    nbformat.write(nbformat.v4.new_notebook(cells=made), paths.NOTEBOOKS / f"{name}.ipynb")


def write_page(name: str, *data: dict, cells=()) -> Path:
    """Write an executed page with these cells, which carries such data."""
    page = paths.CHAPTERS / f"{name}.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells), metadata={DATA_KEY: list(data)}), page)
    return page
