"""A reader's own copy of a chapter: its template with the parameters of a profile filled in, to open in JupyterLab and change.

The copy is a template still: nothing is executed, and its parameter cell is the only thing that differs.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat

from helpers import paths
from helpers.errors import BadInput
from press import chapters
from press.edited import notebook_of

FOLDER = "mine"


def write(chapter: str, profile: str, given: dict[str, str], folder: Path | None = None) -> Path:
    """Write a copy of a chapter's template into a folder, by default `mine/` in the project's root; the file.

    BadInput for an unknown chapter, profile or parameter, or if the file is there already, since it may hold own work.
    """
    values = chapters.resolve(chapter, profile, given)
    target = (folder or paths.ROOT / FOLDER) / f"{chapter}.ipynb"
    if target.exists():
        raise BadInput("there is a copy of this chapter already", file=target, mend="open it, or rename it to get a new one")
    notebook = notebook_of(chapters.template(chapter))
    cell = next(cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", []))
    cell.source = "\n".join(f"{one.name}: {one.annotation} = {values[one.name]!r}  # {one.meaning}"
                            for one in chapters.schema(chapter).values())
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)
    return target


def write_all(chapters: Sequence[str], profile: str, given: dict[str, str], to: Path | None) -> Iterator[str]:
    """Write copies of several chapters, and tell where they are; see `write`."""
    for chapter in chapters:
        yield f"{chapter} -> {write(chapter, profile, given, to)}"
