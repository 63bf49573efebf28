"""Recorded runs: the values that the book ships, in zip files of a step name each.

    results/<step>-<SHA-256 of the file, 16 digits>.zip
        <key, 20 digits>/<numerics class>/<file of the value>
        manifests    a line for each entry: its place (step, key, class), a tab, its manifest

New entries come in a pack of their own beside the earlier ones, which stay as they are: a repository keeps every version of a
file. A pack's name binds its bytes to the commit that it came with. A pack of other bytes is refused, and so is one with other
files than its manifests name. The same entries give the same bytes. Values are read where they lie; a folder is unpacked.
"""

import functools
import io
import os
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.errors import BadInput
from helpers.steps import digests, recipe
from helpers.steps.store import Entry, Store, line_of, parsed, place_of, sync

MANIFESTS = "manifests"
COMPRESSED = (".gz", ".xz")
damaged = functools.partial(BadInput, "this pack of recorded runs is damaged", mend="restore it from git")
LARGEST = 3_000_000  # bytes of the values in a pack; what is larger has one of its own


@dataclass(frozen=True)
class Recorded:
    """A folder of packs. BadInput, whatever is asked of it, for a damaged one."""

    root: Path

    def find(self, name: str, key: str, numerics: str) -> Entry | None:
        """The entry of a key: of the wanted numerics class if there is one, else of any other, else None."""
        prefix, packs = f"{name}/{key[:20]}/", [_pack(file, digests.state_of(file)) for file in self._files(name)]
        there = [(place, *pack[place]) for pack in packs for place in pack if place.startswith(prefix)]
        for _, folder, line in sorted(there, key=lambda one: (one[0] != prefix + numerics, one[0])):
            if (entry := Entry(folder, parsed(line))).manifest["key"] == key:
                if entry.manifest["form"] != "folder":
                    _check(folder, line)
                return unpacked(entry)
        return None

    def manifests(self, name: str = "") -> Iterator[dict[str, Any]]:
        """The manifests of a step, or of all."""
        return (entry.manifest for entry in self.entries(name))

    def entries(self, name: str = "") -> list[Entry]:
        """The entries of a step, or of all, by pack and place; `unpacked` gives the value of a folder."""
        return [Entry(folder, parsed(line)) for file in self._files(name)
                for folder, line in _pack(file, digests.state_of(file)).values()]

    def add(self, entries: Iterable[Entry]) -> None:
        """Pack entries of a store, those of a step together; a pack that has one at the same place is made anew."""
        by_step = defaultdict[str, dict[str, Entry]](dict)
        for entry in entries:
            by_step[entry.manifest["step"]][place_of(entry.manifest)] = entry
        for name, new in by_step.items():
            packs = {file: _pack(file, digests.state_of(file)) for file in self._files(name)}
            meant = [file for file, pack in packs.items() if pack.keys() & new.keys()]
            kept = {place: Entry(folder, parsed(line)) for file in meant for place, (folder, line) in packs[file].items()}
            self.write(name, (kept | new).values(), meant)

    def write(self, name: str, entries: Iterable[Entry], replaced: Iterable[Path] | None = None) -> None:
        """Make packs of a step's entries, if there are any, in place of some packs, or of all that the step has."""
        gone, new = {*(self._files(name) if replaced is None else replaced)}, set[Path]()
        for those in _parts(sorted(entries, key=lambda entry: place_of(entry.manifest))):
            content = _packed(those)
            self.root.mkdir(parents=True, exist_ok=True)
            draft, file = self.root / f".{name}.part", self.root / f"{name}-{recipe.sha256(content)[:16]}.zip"
            draft.write_bytes(content)
            sync(draft)
            draft.replace(file)
            new.add(file)
        for file in gone - new:
            file.unlink()

    def _files(self, name: str) -> list[Path]:
        files = os.listdir(self.root) if self.root.is_dir() else []
        return [self.root / file for file in sorted(files)
                if file.endswith(".zip") and name in ("", file.rpartition("-")[0])]


def _parts(entries: list[Entry]) -> Iterator[list[Entry]]:
    """Entries in their order, as many together as a pack may hold."""
    part, size = list[Entry](), 0
    for entry in entries:
        own = sum(file["size"] for file in entry.manifest["files"].values())
        if part and size + own > LARGEST:
            yield part
            part, size = [], 0
        part, size = [*part, entry], size + own
    if part:
        yield part


def _packed(entries: list[Entry]) -> bytes:
    lines, stream = [], io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for entry in entries:
            place = place_of(entry.manifest)
            lines.append(f"{place}\t{line_of(entry.manifest)}")
            for file in sorted(entry.manifest["files"]):
                _put(archive, f"{place.partition('/')[2]}/{file}", (entry.folder / file).read_bytes())
        _put(archive, MANIFESTS, "".join(lines).encode())
    return stream.getvalue()


def _put(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add a file, without a time of its own."""
    method = zipfile.ZIP_BZIP2 if name.endswith(".safetensors") else zipfile.ZIP_LZMA  # of weights 2 % smaller, and faster
    archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_STORED if name.endswith(COMPRESSED) else method)


@functools.cache
def _pack(file: Path, state: digests.State | None) -> dict[str, tuple[Any, str]]:
    """Folder and manifest of a pack's entries by place, read once for each state of the file. It is in memory, since a fork would
    share the place at which an open file is read."""
    content = file.read_bytes()
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        lines = [line.split("\t", 1) for line in archive.read(MANIFESTS).decode().split("\n")[:-1]]
        told = [MANIFESTS] + [f"{place.partition('/')[2]}/{name}" for place, line in lines for name in parsed(line)["files"]]
        sound = (recipe.sha256(content)[:16] == file.stem.rpartition("-")[2] and sorted(told) == sorted(archive.namelist())
                 and all(place == place_of(own) and "form" in own for place, line in lines for own in [parsed(line)]))
    except Exception:  # noqa: BLE001 - whatever a forged pack raises
        sound = False
    if not sound:
        raise damaged(file=file)
    return {place: (zipfile.Path(archive, f"{place.partition('/')[2]}/"), line) for place, line in lines}


def unpacked(entry: Entry) -> Entry:
    """An entry whose value can be loaded: that of a folder is unpacked into the reader's store, once. BadInput if its files have
    other sizes or digests than its manifest says."""
    if entry.manifest["form"] != "folder":
        return entry
    store, name, key = Store(paths.store() / "unpacked"), entry.manifest["step"], entry.manifest["key"]
    with store.lock(name, key):
        there = store.find(name, key, entry.numerics)
        return there if there is not None and there.manifest == entry.manifest else store.take(entry, _content(entry))


@functools.cache
def _check(folder: zipfile.Path, line: str) -> None:
    _content(Entry(folder, parsed(line)))


def _content(entry: Entry) -> dict[str, bytes]:
    known = entry.manifest["files"]
    try:
        content = {name: (entry.folder / name).read_bytes() for name in known}
        sound = all(known[name] == {"size": len(own), "sha256": recipe.sha256(own)} for name, own in content.items())
    except Exception:  # noqa: BLE001 - whatever a forged pack raises
        sound = False
    if not sound:
        raise BadInput(f"the recorded run {place_of(entry.manifest)} is damaged", mend="restore results/ from git")
    return content
