"""Variants: pages of a chapter with other parameters, such as `candidates--1c472a`, beside its baseline page and never over it.

To each belongs a comparison with the baseline page, `candidates--1c472a--compared`, which is written before every rendering.
"""

import shutil
from pathlib import Path

import nbformat

from helpers import paths
from press import chapters


def comparison(name: str) -> str:
    """The name of a variant's comparison page."""
    return f"{name}--compared"


def chapter_of(name: str) -> str:
    """The chapter, and baseline page, of a variant."""
    return name.partition("--")[0]


def pages() -> list[Path]:
    """The executed variants; one whose chapter is gone is no part of the book."""
    known = chapters.templates()
    return sorted(page for page in paths.CHAPTERS.glob("*--*.ipynb")
                  if not page.stem.endswith(".failed") and chapter_of(page.stem) in known)


def title(chapter: str) -> str:
    """A chapter's title, from its template."""
    first = nbformat.read(chapters.template(chapter), as_version=4).cells[0].source
    return first.splitlines()[0].removeprefix("# ")


def clean() -> list[str]:
    """Remove the variants, their comparisons and what was rendered of them; the baseline pages stay."""
    folders = (paths.CHAPTERS, paths.HTML / "chapters", paths.HTML / "_sources" / "chapters",
               paths.HTML.parent / "jupyter_execute" / "chapters")
    removed = sorted(file for folder in folders for file in folder.glob("*--*"))
    for file in removed:
        file.unlink()
    if removed:
        shutil.rmtree(paths.HTML.parent / ".doctrees", ignore_errors=True)
    return [file.name for file in removed]
