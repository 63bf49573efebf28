"""`book build`, which is over in a moment if nothing has changed since the book was built: neither the state of a file that it
was made from nor that of a page.

A state may differ where the content does not: then every chapter's digests, which take longer, decide.
"""

import json
import os
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.steps import digests, fresh_since, recipe

WRITTEN = {"__pycache__", "_build", "chapters", "generated", "explorer"}  # folders that building writes
LIBRARIES = Path(sysconfig.get_path("purelib"))  # its own state tells what was installed or removed


def build(profile: str, only: str = "") -> Iterator[str]:
    """Run all chapters and render the book, unless that was done with just what there is now; or `only` some, with commas
    between, while the other pages stay as they are."""
    if names := [] if only else built(profile):
        yield from (f"{name}: up to date" for name in (*names, "book"))
        return
    from press import commands  # takes longer to import than all of the above

    before = look(profile)
    yield from commands.build(profile, only.split(",") if only else ())
    if not only:
        _note().write_text(json.dumps({**before, "pages": _pages()}), encoding="utf-8")


def built(profile: str) -> list[str]:
    """The chapters of the book if it is built; none if something has changed, or older values are not wanted."""
    try:
        kept = json.loads(_note().read_text(encoding="utf-8"))
        same = kept["sources"] == _sources(profile, kept["named"]) and kept["pages"] == _pages()
        return kept["chapters"] if same and fresh_since() is None else []
    except (OSError, ValueError, TypeError, KeyError):
        return []


def look(profile: str) -> dict[str, Any]:
    """What the book of a profile is made from: its chapters, what their parameters name, which may be files, and all states."""
    from press import chapters, fetching

    names = chapters.names()
    values = [chapters.resolve(name, profile, {}) for name in names]
    named = sorted({text for own in values for text in fetching.texts_in(list(own.values()))})
    return {"chapters": names, "named": named, "sources": _sources(profile, named)}


def _sources(profile: str, named: Iterable[str]) -> str:
    git = paths.ROOT / ".git"
    places = [*filter(Path.is_file, paths.ROOT.iterdir()), paths.PACKAGE.parent, paths.NOTEBOOKS, paths.PROFILES, paths.PUBLISHED,
              paths.RESULTS, paths.BENCH, paths.BOOK, git / "HEAD", git / "packed-refs", git / "refs",
              *(paths.ROOT / os.path.expanduser(text) for text in (profile, *named) if text)]
    settings = {name: value for name, value in os.environ.items() if name.startswith("BOOK_")}
    return _digest([profile, settings, digests.state_of(LIBRARIES)], places, WRITTEN)


def _pages() -> str:
    return _digest([], (paths.CHAPTERS, paths.GENERATED, paths.HTML, paths.BOOK / "_static" / "explorer"), set())


def _digest(also: list[Any], places: Iterable[Path], skipped: set[str]) -> str:
    found = sorted({file for place in places for file in _files(place, skipped)})
    return recipe.sha256(recipe.canonical([also, [[str(file), digests.state_of(file)] for file in found]]))


def _files(place: Path, skipped: set[str]) -> Iterator[Path]:
    if not place.is_dir():
        yield place
    for folder, inside, files in os.walk(place):
        inside[:] = set(inside) - skipped
        yield from (Path(folder, file) for file in files)


def _note() -> Path:
    return paths.HTML.parent / "built.json"
