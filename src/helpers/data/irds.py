"""An ir_datasets id as a collection, such as `irds:msmarco-passage` or `irds:msmarco-document/trec-dl-2019/judged`.

The texts come from the dataset itself; queries and judgments of a split come from `<id>/<split>` where that exists, and
from the id itself as the split `test`. `irds:msmarco-document[test=dev]` takes the development queries for its `test`, and has
no `dev` then. ir_datasets downloads on first use: a reader asked for it by name.

ir_datasets has the files behind a dataset in a list of its own, and the handlers of a dataset hold what they read there: here a
handler is followed to its downloads, so that exactly the files of what is asked for are named.
"""

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data import downloads
from helpers.data.collection_base import Collection, Text
from helpers.errors import BadInput, NetworkNeeded
from helpers.steps import recipe

SPLITS = {"train": ("train/judged", "train"), "dev": ("dev/small", "dev/judged", "dev"),
          "test": ("trec-dl-2019/judged", "test")}
FULL = "Insufficient disk space"
FAILED = "All download sources failed"  # how ir_datasets says it where a file has several
LONGEST = 100  # characters of an error that are shown


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
        Where it cannot be, NetworkNeeded for a large one, OSError for a small one, RuntimeError for one with mirrors."""
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


class IrDatasets(Collection):
    """Any ir_datasets dataset with documents, queries and judgments."""

    form = "irds:.*"
    licence = "as ir_datasets states it"

    def __init__(self, spec: str):
        self._id, renamed = named(spec)
        self.spec, self.name = spec, spec.removeprefix("irds:")
        self._dataset = loaded(self._id)
        self._of_split = {split: own for split in SPLITS if (own := self._find(split)) is not None}
        if self._dataset is None:  # a family whose splits alone are datasets, as `dpr-w100/natural-questions`
            self._dataset = next(iter(self._of_split.values()), None)
        if self._dataset is None:
            raise BadInput(f"ir_datasets has no dataset {self._id!r}", mend="see its catalogue for the ids")
        if renamed is not None:
            if renamed not in self._of_split:
                raise BadInput(f"{self._id} has no split {renamed!r}", mend=f"choose from {', '.join(self._of_split)}")
            self._of_split["test"] = self._of_split.pop(renamed)
        self.splits = tuple(self._of_split)
        # MS MARCO's `document` collections hold documents; what has no title is a passage
        self.units = ("document",) if "title" in self._dataset.docs_cls()._fields else ("passage",)

    def texts(self, unit: str) -> Iterator[Text]:
        """Stream the documents in ir_datasets' order."""
        for doc in self._fetch(self._dataset, "docs"):
            body = getattr(doc, "body", None) or getattr(doc, "text", None) or doc.default_text()
            yield Text(doc.doc_id, getattr(doc, "title", "") or "", body)

    def queries(self, split: str) -> pd.DataFrame:
        """Columns query_id, text."""
        rows = [(query.query_id, query.default_text()) for query in self._fetch(self._of_split[split], "queries")]
        return pd.DataFrame(rows, columns=["query_id", "text"])

    def qrels(self, unit: str, split: str) -> pd.DataFrame:
        """Columns query_id, doc_id, relevance."""
        rows = [(judged.query_id, judged.doc_id, judged.relevance)
                for judged in self._fetch(self._of_split[split], "qrels")]
        return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])

    def text_digest(self, unit: str) -> str:
        """ir_datasets checks the downloads of an id against its own list of hashes: the id that the texts are of names them."""
        import ir_datasets

        return recipe.sha256(f"ir_datasets:{ir_datasets.docs_parent_id(self._dataset.dataset_id())}:{unit}")

    def frame_digest(self, kind: str, *names: str) -> str:
        """The same for queries and judgments: an id and its split, so that a recipe needs no download."""
        return recipe.sha256(f"ir_datasets:{self._of_split[names[-1]].dataset_id()}:{kind}:{':'.join(names)}")

    def rule(self, unit: str, split: str) -> int:
        """2 for the passages of TREC's Deep Learning track (Craswell et al. 2020), 1 for all others."""
        return 2 if unit == "passage" and "/trec-dl-" in self._of_split[split].dataset_id() else 1

    def _find(self, split: str) -> Any:
        for suffix in SPLITS[split]:
            if (own := loaded(f"{self._id}/{suffix}")) is not None:
                return own
        return self._dataset if split == "test" and self._dataset is not None and self._dataset.has_queries() else None

    def files(self, kind: str, split: str = "") -> list[File]:
        """The files that ir_datasets fetches for the `docs`, or for the `queries` or `qrels` of a split."""
        return needed(self._of_split[split] if split else self._dataset, kind)

    def _fetch(self, dataset: Any, kind: str) -> Iterator[Any]:
        try:
            yield from getattr(dataset, f"{kind}_iter")()
        except (OSError, RuntimeError, ValueError) as error:
            if FULL in str(error):
                raise BadInput(_short(error), mend="free some disk, or move IR_DATASETS_HOME to another one") from error
            if not isinstance(error, OSError) and FAILED not in str(error):
                raise
            files = needed(dataset, kind)
            raise NetworkNeeded(
                f"the {kind} of irds:{dataset.dataset_id()} could not be fetched ({_short(error)}).\n"
                "Mend: connect to the network, or fetch these files elsewhere and put them there:\n  "
                + "\n  ".join(file.by_hand() for file in [file for file in files if not file.is_here()] or files)) from error


def loaded(name: str) -> Any:
    """The dataset of that id, None if ir_datasets has none."""
    import ir_datasets

    with contextlib.suppress(KeyError):
        return ir_datasets.load(name)
    return None


def named(spec: str) -> tuple[str, str | None]:
    """The id in a text such as `irds:msmarco-document[test=dev]`, and the split that is taken for `test`, if one is."""
    match = re.fullmatch(r"irds:([^\[\]]*)(?:\[test=(\w+)\])?", spec)
    if match is None:
        raise BadInput(f"no ir_datasets id: {spec!r}", mend="write `irds:<id>`, or `irds:<id>[test=dev]`")
    return match[1], match[2]


def _short(error: Exception) -> str:
    """The kind of an error and the beginning of what it says; of several sources', those of the last."""
    last = error.args[1][-1][1] if len(error.args) > 1 and isinstance(error.args[1], list) and error.args[1] else error
    return f"{type(last).__name__}: {' '.join(str(last).split())[:LONGEST]}"


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
