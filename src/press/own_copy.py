"""A reader's own copy of a chapter: its template with the parameters of a profile filled in, to open in JupyterLab and change.

The copy is a template still: nothing is executed, and its parameter cell is the only thing that differs.
"""

from pathlib import Path
from typing import Any

import nbformat

from helpers import paths
from helpers.errors import BadInput
from press import chapters

FOLDER = "mine"


def write(chapter: str, profile: str, given: dict[str, str], folder: Path | None = None) -> Path:
    """Write a copy of a chapter's template.

    Args:
        chapter: its name.
        profile: whose values are filled in.
        given: parameters from the command line, as texts.
        folder: where to; `mine/` in the project's root if None.

    Returns:
        The file.

    Raises:
        BadInput: for an unknown chapter, profile or parameter, or if the file is there already, since it may hold own work.
    """
    values = chapters.resolve(chapter, profile, given)
    target = (folder or paths.ROOT / FOLDER) / f"{chapter}.ipynb"
    if target.exists():
        raise BadInput("there is a copy of this chapter already", file=target, mend="open it, or rename it to get a new one")
    notebook = nbformat.read(chapters.template(chapter), as_version=4)
    cell = next(cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", []))
    cell.source = declared(chapter, values)
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)
    return target


def declared(chapter: str, values: dict[str, Any]) -> str:
    """The source of a chapter's parameter cell with these values."""
    return "\n".join(f"{parameter.name}: {parameter.annotation} = {values[parameter.name]!r}  # {parameter.meaning}"
                     for parameter in chapters.schema(chapter).values())
