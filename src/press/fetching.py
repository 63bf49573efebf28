"""Everything that a profile needs from the network: fetched in advance by `book fetch`, what is of the hub pinned by `book pin`.

Each can be interrupted and goes on; what is there is not fetched again. `packaged:mpnet` is needed only by those who compute its
rows anew; a dataset of the hub (`pairs`) is fetched by the step that reads it.
"""

import functools
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from helpers.data import downloads, hub, package_index
from helpers.data.irds import IrDatasets
from helpers.errors import BadInput, NetworkNeeded
from helpers.retrieval import indexes
from press import chapters
from press.terminal import columns

DATASETS = {"pairs"}  # parameters whose hub: is a dataset, not a model
COMMIT = re.compile(r"[0-9a-f]{40}")  # of a model: a branch moves, and a key would not


class Item(NamedTuple):
    """One thing to fetch."""

    what: str  # it is
    size: int | None  # its bytes; None if they are not known
    where: Path  # it goes
    here: bool  # whether it is there
    fetch: Callable[[], Any]  # gets it


def items(profile: str) -> list[Item]:
    """All that the chapters of a profile name: what its `irds:` ids need, and its models."""
    named = specs(profile)
    collections = [spec for spec in named if spec.startswith("irds:")]
    packed = Item(f"{package_index.SPEC}: {package_index.ABOUT}", package_index.SIZE, package_index.folder(),
                  package_index.is_here(), package_index.fetch)
    return [*_files(collections), *_indexes(collections), *_models(spec for spec in named if spec.startswith("hub:")),
            *[packed] * (package_index.SPEC in named)]


def specs(profile: str) -> list[str]:
    """The `irds:` and `hub:` values in the parameters of all chapters, and `packaged:mpnet`, each once."""
    texts = (text for chapter in chapters.names() for text in texts_in(chapters.resolve(chapter, profile, {})))
    return list(dict.fromkeys(text for text in texts if text.startswith(("irds:", "hub:", package_index.SPEC))))


def texts_in(value: Any, without: Collection[str] = DATASETS) -> Iterator[str]:
    """The texts in parameters, by name, or in a parameter's value; those of lists one by one, some parameters left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | dict):
        for part in [own for name, own in value.items() if name not in without] if isinstance(value, dict) else value:
            yield from texts_in(part, without)


def absent(values: dict[str, Any]) -> list[str]:
    """The collections of ir_datasets and the models of the hub that parameters name and that are not here, or not all of them."""
    named = dict.fromkeys(text for text in texts_in(values) if text.startswith(("irds:", "hub:")))
    here = {spec: hub.is_here(*parts_of(spec)) if spec.startswith("hub:") else all(item.here for item in _files([spec]))
            for spec in named}
    return [spec for spec in named if not here[spec]]


def _files(collections: Iterable[str]) -> list[Item]:
    needed: dict[tuple[str, Path], Item] = {}
    for spec in collections:
        source = IrDatasets(spec)
        parts = [("docs", ""), *((kind, split) for split in source.splits for kind in ("queries", "qrels"))]
        for file in (file for part in parts for file in source.files(*part)):
            place = file.url, file.where
            if place not in needed or needed[place].here:  # one archive may hold several parts, of which one is still missing
                name = (file.url or str(file.where)).rpartition("/")[2]
                needed[place] = Item(f"{spec}: {name}", file.size, file.where, file.is_here(), file.fetch)
    return list(needed.values())


def _indexes(collections: Iterable[str]) -> Iterator[Item]:
    names = {indexes.index_names(spec, unit) for spec in collections for unit in IrDatasets(spec).units}
    for name, md5 in sorted(filter(None, names)):
        index, unpacked = indexes.describe(name), indexes.prebuilt_index(name, md5).lookup()[0] is not None
        yield Item(f"index {name}", index.compressed_size, index.archive, unpacked or index.archive.exists(), index.fetch)


def parts_of(spec: str) -> tuple[str, str]:
    """The name and the revision that a `hub:` value names; no revision is empty."""
    source, _, revision = spec.removeprefix("hub:").partition("@")
    return source, revision


def _models(models: Iterable[str]) -> Iterator[Item]:
    reachable = True
    for spec in models:
        source, revision = parts_of(spec)
        here, size = hub.is_here(source, revision), None
        if reachable and not here:
            try:
                size = hub.size(source, revision)
            except NetworkNeeded:
                reachable = False  # without network each model would wait
        folder = hub.cache() / f"models--{source.replace('/', '--')}"
        yield Item(spec, size, folder, here, functools.partial(hub.fetch, source, revision))


def table(needed: list[Item]) -> str:
    """What would be fetched, of what size, to where, and whether it is there; the total below."""
    if not needed:
        return "this profile needs nothing from the network"
    rows = [(item.what, "unknown" if item.size is None else downloads.bytes_text(item.size), item.where,
             "yes" if item.here else "no") for item in needed]
    missing = [item for item in needed if not item.here]
    unknown = sum(item.size is None for item in missing)
    total = downloads.bytes_text(sum(item.size or 0 for item in missing)) + (f" and {unknown} of unknown size" if unknown else "")
    return "\n".join([columns([("what", "size", "where", "there"), *rows], right=(1,)), "",
                      f"to fetch: {len(missing)} of {len(needed)}, {total}",
                      "an index takes as much again where it is unpacked, in the step store"])


def fetch_profile(profile: str, only_list: bool) -> Iterator[str]:
    """Tell what a profile needs from the network, and unless only the list is requested fetch what is missing, a line for each;
    what cannot be fetched does not keep the rest from it, and is named in the end by NetworkNeeded."""
    yield table(needed := items(profile))
    failed = []
    for item in (item for item in needed if not item.here and not only_list):
        try:
            item.fetch()
            yield f"{item.what}: fetched"
        except (NetworkNeeded, BadInput, OSError, RuntimeError) as error:
            failed.append(f"{item.what}: {error}")
            yield f"{item.what}: failed"
    if failed:
        raise NetworkNeeded("\n\n".join([*failed, f"{len(failed)} of {len(needed)} could not be fetched. Call again to go on."]))


def pin(profile: str) -> list[str]:
    """Replace branches and tags of the hub's models and datasets in a profile's file by the commits that they stand for now, and
    nothing else; what was replaced, as `old -> new`. NetworkNeeded if the hub does not answer: the file is as it was."""
    commits, content, file = {}, chapters.profile(profile), chapters.profile_file(profile)
    models = set(texts_in(content))
    for old in dict.fromkeys(text for text in texts_in(content, without=()) if text.startswith("hub:")):
        source, revision = parts_of(old)
        if revision and not COMMIT.fullmatch(revision):
            commits[old] = f"hub:{source}@{hub.commit(source, revision, 'model' if old in models else 'dataset')}"
    if commits:
        named = re.compile(r"^\s*#.*|hub:[\w./@-]+", re.M)
        text = named.sub(lambda match: commits.get(match[0], match[0]), file.read_text(encoding="utf-8"))
        file.write_text(text, encoding="utf-8")
    return [f"{old} -> {new}" for old, new in commits.items()] or ["everything of the hub is pinned"]
