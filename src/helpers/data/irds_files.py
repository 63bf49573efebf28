"""The files behind an ir_datasets dataset: address, size, digest, and where ir_datasets looks for them.

ir_datasets has them in a list of its own, and the handlers of a dataset hold what they read there: here a handler is followed to
its downloads, so that exactly the files of what is asked for are named.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.data import downloads


@dataclass(frozen=True)
class File:
    """A file that ir_datasets fetches."""

    download: Any  # ir_datasets' own object
    cache: Any = None  # its object for what it keeps of the file, unpacked; None if it keeps the file itself

    @property
    def url(self) -> str:
        """The file's address; empty where only instructions are known."""
        return next((mirror.url for mirror in self.download.mirrors if hasattr(mirror, "url")), "")

    @property
    def size(self) -> int | None:
        """Its bytes, if the list says."""
        return self.download._size_hint

    @property
    def local(self) -> Path | None:
        """Where ir_datasets takes a copy from instead of fetching a large file: it checks the digest then."""
        return next((mirror.path(force=False) for mirror in self.download.mirrors if not hasattr(mirror, "url")), None)

    @property
    def where(self) -> Path:
        """Where ir_datasets looks for the file, or for what it unpacks of it; the null device if it reads it at once."""
        kept = self.local or self.download._cache_path or (self.cache and self.cache.path(force=False))
        return Path(kept or os.devnull)

    def is_here(self) -> bool:
        """Whether ir_datasets would not fetch it."""
        made = None if self.cache is None else self.cache.path(force=False)
        return any(os.path.exists(place) for place in (self.local, self.download._cache_path, made) if place is not None)

    def by_hand(self) -> str:
        """What to fetch and where to put it."""
        whole = self.local is not None or self.download._cache_path is not None
        return downloads.by_hand(self.url or "(ir_datasets knows no address: see its catalogue)",
                                 self.where if whole else f"{self.where}, unpacked", self.size, self.download.expected_md5)

    def fetch(self) -> None:
        """Fetch it: a large file so that an interruption costs nothing, a small one as ir_datasets does, which knows mirrors.

        Raises:
            NetworkNeeded: if a large file cannot be fetched.
            OSError: if a small one cannot; a RuntimeError where there are mirrors.
        """
        if self.local is None or not self.url:
            if self.cache is not None:
                self.cache.verify()
            else:
                self.download.path()
            return
        headers = next((mirror.headers for mirror in self.download.mirrors if getattr(mirror, "headers", None)), None)
        downloads.fetch(self.url, self.local, self.size, self.download.expected_md5, headers=headers)
        if self.download._cache_path is not None:
            cached = Path(self.download._cache_path)
            cached.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(OSError):  # ir_datasets would copy it; across file systems, it does
                os.link(self.local, cached)


def needed(dataset: Any, kind: str) -> list[File]:
    """The files that a dataset's `docs`, `queries` or `qrels` are read from; empty if it has none of that kind."""
    if not dataset.has(kind):
        return []
    handler = getattr(dataset, f"{kind}_handler")()
    files = list(_files(handler, None, set()))
    if type(handler).__name__ == "FilteredQueries" and dataset.has("qrels"):  # those with judgments
        files += needed(dataset, "qrels")
    return list({file.url or str(file.where): file for file in files}.values())


def _files(thing: Any, cache: Any, seen: set[int]) -> Iterator[File]:
    """Follow ir_datasets' objects down to the downloads."""
    from ir_datasets.util import Cache, Download

    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, Download):
        yield File(thing, cache if thing._cache_path is None else None)
    elif isinstance(thing, list | tuple):
        for part in thing:
            yield from _files(part, cache, seen)
    elif type(thing).__module__.startswith("ir_datasets"):
        for part in vars(thing).values():
            yield from _files(part, thing if isinstance(thing, Cache) else cache, seen)
