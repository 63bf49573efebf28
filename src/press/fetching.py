"""Everything that a profile needs from the network, fetched in advance: `book fetch --profile msmarco`.

Texts, queries and judgments of its ir_datasets ids, prebuilt indexes of these, and models of the hub. Each can be interrupted and
goes on; what is there is not fetched again. A dataset of the hub (`stsb`) is fetched by the step that reads it.
"""

import functools
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.data import downloads, hub
from helpers.errors import BadInput, NetworkNeeded
from helpers.retrieval import prebuilt
from press import chapters
from press.columns import columns

DATASETS = {"stsb"}  # parameters whose hub: is a dataset, not a model


@dataclass(frozen=True)
class Item:
    """One thing to fetch.

    Args:
        what: it is.
        size: its bytes; None if they are not known.
        where: it goes.
        here: whether it is there.
        fetch: gets it.
    """

    what: str
    size: int | None
    where: Path
    here: bool
    fetch: Callable[[], Any]


def items(profile: str) -> list[Item]:
    """All that the chapters of a profile name: what its `irds:` ids need, and its `hub:` models.

    Raises:
        BadInput: for a profile that is not sound.
    """
    named = specs(profile)
    collections = [spec for spec in named if spec.startswith("irds:")]
    models = [spec for spec in named if spec.startswith("hub:")]
    return [*_files(collections), *_indexes(collections), *_models(models)]


def specs(profile: str) -> list[str]:
    """The `irds:` and `hub:` values in the parameters of all chapters, each once."""
    found = [text for chapter in chapters.names() for name, value in chapters.resolve(chapter, profile, {}).items()
             if name not in DATASETS for text in texts_in(value)]
    return list(dict.fromkeys(text for text in found if text.startswith(("irds:", "hub:"))))


def texts_in(value: Any) -> Iterator[str]:
    """The texts in a parameter's value, those of lists one by one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from texts_in(part)


def _files(collections: Iterable[str]) -> list[Item]:
    from helpers.data.irds import IrDatasets

    found: dict[tuple[str, Path], Item] = {}
    for spec in collections:
        source = IrDatasets(spec)
        parts = [("docs", ""), *((kind, split) for split in source.splits for kind in ("queries", "qrels"))]
        for file in (file for part in parts for file in source.files(*part)):
            place = file.url, file.where
            if place not in found or found[place].here:  # one archive may hold several parts, of which one is still wanted
                name = (file.url or str(file.where)).rpartition("/")[2]
                found[place] = Item(f"{spec}: {name}", file.size, file.where, file.is_here(), file.fetch)
    return list(found.values())


def _indexes(collections: Iterable[str]) -> list[Item]:
    from helpers.data.irds import IrDatasets

    units = [(spec, unit) for spec in collections for unit in IrDatasets(spec).units]
    wanted = {names for names in (prebuilt.index_names(*pair) for pair in units) if names is not None}
    made = []
    for name, md5 in sorted(wanted):
        index, unpacked = prebuilt.describe(name), prebuilt.prebuilt_index(name, md5).lookup()[0] is not None
        made.append(Item(f"index {name}", index.compressed_size, index.archive, unpacked or index.archive.exists(), index.fetch))
    return made


def _models(models: Iterable[str]) -> list[Item]:
    made, asking = [], True
    for spec in models:
        source, _, revision = spec.removeprefix("hub:").partition("@")
        here, size = hub.is_here(source, revision), None
        if asking and not here:
            try:
                size = hub.size(source, revision)
            except NetworkNeeded:
                asking = False  # without network each model would wait
        folder = hub.cache() / f"models--{source.replace('/', '--')}"
        made.append(Item(spec, size, folder, here, functools.partial(hub.fetch, source, revision)))
    return made


def table(found: list[Item]) -> str:
    """What would be fetched, of what size, to where, and whether it is there; the total and the free disk below."""
    if not found:
        return "this profile needs nothing from the network"
    rows = [("what", "size", "where", "there"), *((item.what, _size(item.size), item.where, "yes" if item.here else "no")
                                                  for item in found)]
    missing = [item for item in found if not item.here]
    unknown = sum(item.size is None for item in missing)
    total = downloads.bytes_text(sum(item.size or 0 for item in missing)) + (f" and {unknown} of unknown size" if unknown else "")
    free = [f"free in {folder}: {downloads.bytes_text(shutil.disk_usage(folder).free)}" for folder in _disks(found)]
    return "\n".join([columns(rows, right=(1,)), "", f"to fetch: {len(missing)} of {len(found)}, {total}", *free,
                      "an index takes as much again where it is unpacked, in the step store"])


def _size(value: int | None) -> str:
    return "unknown" if value is None else downloads.bytes_text(value)


def _disks(found: Iterable[Item]) -> dict[Path, int]:
    """The file systems that things go to, by a folder on each, and the bytes that they will take there."""
    folders: dict[int, Path] = {}
    bytes_of: dict[Path, int] = {}
    for item in found:
        folder = next(place for place in (item.where, *item.where.parents) if place.is_dir())
        folder = folders.setdefault(folder.stat().st_dev, folder)
        bytes_of[folder] = bytes_of.get(folder, 0) + (0 if item.here else item.size or 0)
    return bytes_of


def fetch(found: list[Item], said: Callable[[str], Any] = print) -> None:
    """Fetch what is missing; what cannot be fetched does not keep the rest from it.

    Raises:
        BadInput: if the disk cannot hold it all.
        NetworkNeeded: naming everything that could not be fetched.
    """
    for folder, wanted in _disks(found).items():
        downloads.check_room(folder, wanted, "all of this")
    failed = []
    for item in (item for item in found if not item.here):
        try:
            item.fetch()
            said(f"{item.what}: fetched")
        except (NetworkNeeded, BadInput, OSError, RuntimeError) as error:
            failed.append(f"{item.what}: {error}")
            said(f"{item.what}: failed")
    if failed:
        raise NetworkNeeded("\n\n".join([*failed, f"{len(failed)} of {len(found)} could not be fetched. Call again to go on."]))
