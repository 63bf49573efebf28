"""Variants: pages of a chapter with other parameters, such as `candidates--1c472a`, beside its baseline page and never over it.

To each belongs a comparison with the baseline page, `candidates--1c472a--compared`, which is written before every rendering.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.steps import recipe
from press import chapters

COMPARED = "--compared"  # how the name of a variant's comparison page ends

@dataclass(frozen=True)
class PageRequest:
    """A page to be made."""

    chapter: str  # its chapter
    profile: str  # the profile's name
    values: dict[str, Any]  # of all parameters
    baseline: dict[str, Any]  # their values without those from the command line

    @property
    def changed(self) -> dict[str, Any]:
        """The values that are not the baseline's."""
        return {name: value for name, value in self.values.items() if value != self.baseline[name]}

    @property
    def name(self) -> str:
        """The page's name: the chapter's, with a short digest of what differs if anything does."""
        return f"{self.chapter}--{recipe.sha256(recipe.canonical(self.changed))[:6]}" if self.changed else self.chapter

    @property
    def page(self) -> Path:
        """Its notebook."""
        return paths.CHAPTERS / f"{self.name}.ipynb"

    @property
    def stamp(self) -> Path:
        """Where the digest of all that it was made from is kept."""
        return self.page.with_suffix(".stamp")


def chapter_of(name: str) -> str:
    """The chapter, and baseline page, of a variant."""
    return name.partition("--")[0]


def pages() -> list[Path]:
    """The executed variants; one whose chapter is gone is no part of the book."""
    known = chapters.templates()
    return sorted(page for page in paths.CHAPTERS.glob("*--*.ipynb")
                  if not page.stem.endswith(".failed") and chapter_of(page.stem) in known)
